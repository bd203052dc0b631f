// What happened, in the order of time: events, and other memories that have a time.
import { exported } from '../exported';
import { useCall } from '../load';
import { Choice, TextField } from '../parts/field';
import { List } from '../parts/list';
import { MemoryCard } from '../parts/memory';
import { Nothing, WhenLoaded } from '../parts/status';
import { go, link } from '../place';
import type { Params } from '../routes';
import type { Chunk } from '../types';

const PAGE = 100;

const KINDS = [
  ['', 'Events, facts and notes'],
  ['event', 'Events'],
  ['fact', 'Facts'],
  ['note', 'Notes'],
  ['turn', 'Turns'],
] as const;

export default function Timeline({ params }: { params: Params }) {
  const { start = '', end = '', kind = '', entity = '', as_of = '' } = params;
  const offset = Number(params.offset ?? 0) || 0;
  const rows = useCall<Chunk[]>(
    'timeline',
    {
      start: start || undefined,
      end: end || undefined,
      kinds: kind ? [kind] : undefined,
      entity: entity || undefined,
      as_of: as_of || undefined,
      limit: PAGE + 1,
      offset,
    },
    { keep: true },
  );
  const set = (more: Record<string, string>): void => go(link('/timeline', { start, end, kind, entity, as_of, ...more }), { replace: true });
  return (
    <>
      <h1>Timeline</h1>
      <form class="filters" role="search" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
        <TextField late label="From" value={start} placeholder="2026-05, or last week" onInput={(value) => set({ start: value })} />
        <TextField late label="To" value={end} placeholder="2026-12" onInput={(value) => set({ end: value })} />
        <Choice label="Kind" value={kind} options={KINDS} onChange={(value) => set({ kind: value })} />
        {!exported && <TextField late label="About" value={entity} placeholder="name of an entity" onInput={(value) => set({ entity: value })} />}
        {!exported && <TextField label="As of" type="date" value={as_of} onInput={(value) => set({ as_of: value })} />}
      </form>
      <WhenLoaded of={rows}>
        {(found) => {
          const shown = found.slice(0, PAGE);
          if (!shown.length) return <Nothing>Nothing with a time is here. Memories have one where their text or their author gives it.</Nothing>;
          return (
            <>
              {byYear(shown).map(([year, some]) => (
                <section key={year} aria-labelledby={`year-${year}`} class="year">
                  <h2 id={`year-${year}`}>{year}</h2>
                  <List label={`Memories of ${year}`} rows={some} id={(row) => row.id} ordered>
                    {(row, primary) => <MemoryCard of={row} primary={primary} />}
                  </List>
                </section>
              ))}
              <nav class="actions" aria-label="Pages">
                {offset > 0 && <a href={link('/timeline', { ...params, offset: Math.max(0, offset - PAGE) || undefined })}>Earlier</a>}
                {found.length > PAGE && <a href={link('/timeline', { ...params, offset: offset + PAGE })}>Later</a>}
              </nav>
            </>
          );
        }}
      </WhenLoaded>
    </>
  );
}

function byYear(rows: readonly Chunk[]): [string, Chunk[]][] {
  const years = new Map<string, Chunk[]>();
  for (const row of rows) {
    const year = (row.happened_at ?? row.times.recorded_at).slice(0, 4);
    years.set(year, [...(years.get(year) ?? []), row]);
  }
  return [...years];
}
