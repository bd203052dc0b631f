// Lists that arrow keys move through, with rows that can be selected.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** What the row's main link or button takes, so that keys reach it: `<a href=… {...primary}>`. */
export interface Primary {
  'data-primary': true;
  tabIndex: 0 | -1;
}

export interface ListProps<T> {
  label: string;
  rows: readonly T[];
  id: (row: T) => string;
  children: (row: T, primary: Primary) => ComponentChildren;
  /** Ids of the selected rows; without it rows cannot be selected. */
  selected?: ReadonlySet<string>;
  onSelect?: (id: string, selected: boolean) => void;
  /** Words for a row's check box, such as its text. */
  name?: (row: T) => string;
  /** Called with the row that has the focus when a further key is pressed; true stops the key there. */
  onKey?: (key: string, row: T) => boolean;
  ordered?: boolean;
}

/** One tab stop: the arrow keys, j, k, Home and End move through it, Enter opens, and x selects. */
export function List<T>({ label, rows, id, children, selected, onSelect, name, onKey, ordered }: ListProps<T>) {
  const place = useRef<HTMLElement>(null);
  const [at, setAt] = useState(0);
  const focused = Math.min(at, rows.length - 1);

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    place.current?.querySelector<HTMLElement>(`[data-row="${next}"] [data-primary]`)?.focus();
  };
  const handle = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    if (!target.matches('[data-primary], [data-select]')) return;
    const row = rows[focused];
    if (!row) return;
    const step = STEPS[event.key];
    if (step !== undefined) move(focused + step);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(rows.length - 1);
    else if (event.key === 'x' && selected && onSelect) onSelect(id(row), !selected.has(id(row)));
    else if (event.repeat || !onKey?.(event.key, row)) return; // a key that is held acts on one row
    event.preventDefault();
    event.stopPropagation();
  };
  const follow = (event: FocusEvent): void => {
    const row = (event.target as Element).closest('[data-row]');
    if (row) setAt(Number(row.getAttribute('data-row')));
  };
  const Tag = ordered ? 'ol' : 'ul';
  return (
    <Tag class="list" aria-label={label} ref={place as never} onKeyDown={handle} onFocusIn={follow}>
      {rows.map((row, index) => (
        <li key={id(row)} data-row={index} class={selected?.has(id(row)) ? 'selected' : undefined}>
          {selected && onSelect && (
            <input
              type="checkbox"
              data-select
              tabIndex={index === focused ? 0 : -1}
              checked={selected.has(id(row))}
              aria-label={`Select ${name?.(row) ?? id(row)}`}
              onChange={(event) => onSelect(id(row), event.currentTarget.checked)}
            />
          )}
          <div class="row">{children(row, { 'data-primary': true, tabIndex: index === focused ? 0 : -1 })}</div>
        </li>
      ))}
    </Tag>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
