// Relevance and other shares as a bar with its number.

/** A share from 0 to 1; `label` says of what. */
export function Share({ value, label }: { value: number; label: string }) {
  return (
    <span class="share">
      <meter min={0} max={1} value={value} aria-label={label} />
      <span>
        {Math.round(value * 100)} %<span class="hidden"> {label}</span>
      </span>
    </span>
  );
}

/** How likely a hit bears on the query; null where nothing was measured. */
export function Relevance({ value }: { value: number | null }) {
  return value === null ? <span class="quiet">no relevance</span> : <Share value={value} label="relevance" />;
}
