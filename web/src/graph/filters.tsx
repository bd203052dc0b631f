// What a graph leaves out: by type, by layer, by the state of a relation and by time.
import { Choice } from '../parts/field';
import { beginning, shownText, timeText } from '../parts/text';
import { lookOf } from './paint';
import { moments, tally, type Drawing, type Filters } from './shown';

/** Most types that are listed; a graph with more of them says so. */
const MOST_TYPES = 30;

export interface GraphFiltersProps {
  of: Drawing;
  filters: Filters;
  onChange: (filters: Filters) => void;
}

export function GraphFilters({ of, filters, onChange }: GraphFiltersProps) {
  const set = (some: Partial<Filters>): void => onChange({ ...filters, ...some });
  const layers = of.edges.flatMap((edge) => (edge.layer === null ? [] : [edge.layer]));
  return (
    <>
      <When of={of} filters={filters} set={set} />
      <details>
        <summary>Types and layers</summary>
        <Checks
          legend="Types of nodes"
          values={tally([...of.nodes.values()].map((node) => node.type))}
          without={filters.withoutTypes}
          onChange={(withoutTypes) => set({ withoutTypes })}
          looks
        />
        <Checks
          legend="Types of edges"
          values={tally(of.edges.map((edge) => edge.type))}
          without={filters.withoutRelations}
          onChange={(withoutRelations) => set({ withoutRelations })}
        />
        <Checks legend="Layers" values={tally(layers)} without={filters.withoutLayers} onChange={(withoutLayers) => set({ withoutLayers })} />
      </details>
    </>
  );
}

interface WhenProps {
  of: Drawing;
  filters: Filters;
  set: (some: Partial<Filters>) => void;
}

/** The moment that is shown: now, any time, or one that the slider chooses among those at which something changed. */
function When({ of, filters, set }: WhenProps) {
  const steps = moments(of.edges);
  const at = filters.at || steps.at(-1) || 0;
  const step = Math.max(0, steps.findLastIndex((moment) => moment <= at));
  const words = timeText(new Date(at).toISOString());
  return (
    <>
      <div class="filters">
        <Choice
          label="Relations that hold"
          value={filters.state}
          options={[
            ['now', 'Now'],
            ['then', 'At a time in the past'],
            ['any', 'At any time'],
          ]}
          onChange={(state) => set({ state, at })}
        />
      </div>
      {filters.state === 'then' &&
        (steps.length ? (
          <label class="slider">
            <span>
              As of <output>{words}</output>
            </span>
            <input
              type="range"
              min={0}
              max={steps.length - 1}
              step={1}
              value={step}
              aria-valuetext={words}
              onInput={(event) => set({ at: steps[Number(event.currentTarget.value)]! })}
            />
          </label>
        ) : (
          <p class="nothing">No relation that is drawn has a time.</p>
        ))}
    </>
  );
}

interface ChecksProps {
  legend: string;
  values: [string, number][];
  without: ReadonlySet<string>;
  onChange: (without: ReadonlySet<string>) => void;
  looks?: boolean;
}

function Checks({ legend, values, without, onChange, looks }: ChecksProps) {
  const toggle = (value: string, shown: boolean): void => {
    const next = new Set(without);
    if (shown) next.delete(value);
    else next.add(value);
    onChange(next);
  };
  if (!values.length) return null;
  return (
    <fieldset class="checks">
      <legend>{legend}</legend>
      {values.slice(0, MOST_TYPES).map(([value, number]) => (
        <label key={value}>
          <input type="checkbox" checked={!without.has(value)} onChange={(event) => toggle(value, event.currentTarget.checked)} />
          {looks && <span class={`swatch swatch-${lookOf(value)}`} />}
          <span dir="auto">{beginning(shownText(value), 40)}</span>
          <span class="quiet">{number}</span>
        </label>
      ))}
      {values.length > MOST_TYPES && <span class="quiet">{`${MOST_TYPES} of ${values.length} shown`}</span>}
    </fieldset>
  );
}
