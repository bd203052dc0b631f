// What is here, what changed lately, and what waits for a person.
import type { ComponentChildren } from 'preact';
import { isReadOnly, offers, page, project } from '../api';
import { useChange } from '../changes';
import { useCall, type Loaded } from '../load';
import { Button, ConfirmButton } from '../parts/button';
import { MemoryCard } from '../parts/memory';
import { List } from '../parts/list';
import { Nothing, WhenLoaded } from '../parts/status';
import { count, PlainText, Time } from '../parts/text';
import { link } from '../place';
import { routes } from '../routes';
import type { Chunk, Conflicts, Job, Reviewed, RunOfChanges, Stats } from '../types';

const MOST_RUNS = 10;
const MOST_NEW = 5;
/** Rows that are read to count what waits; more are shown as "100 or more". */
const MOST_WAITING = 100;

export default function Overview() {
  const stats = useCall<Stats>('stats', {});
  const runs = useCall<RunOfChanges[]>('changes', { limit: MOST_RUNS });
  const newest = useCall<Chunk[]>('memories', { limit: MOST_NEW });
  return (
    <>
      <h1>Overview</h1>
      <section aria-labelledby="here">
        <h2 id="here">What is here</h2>
        <WhenLoaded of={stats}>{(value) => <Counts of={value} />}</WhenLoaded>
      </section>
      <section aria-labelledby="waits">
        <h2 id="waits">What waits</h2>
        <Waiting stats={stats} first={stats.value !== null && runs.value !== null && newest.value !== null} />
      </section>
      <section aria-labelledby="newest">
        <h2 id="newest">Newest memories</h2>
        <WhenLoaded of={newest}>{(rows) => <Newest rows={rows} />}</WhenLoaded>
      </section>
      <section aria-labelledby="changed">
        <h2 id="changed">What changed lately</h2>
        <WhenLoaded of={runs}>{(rows) => (rows.length ? <Runs rows={rows} /> : <Nothing>Nothing has changed yet.</Nothing>)}</WhenLoaded>
      </section>
    </>
  );
}

function Counts({ of }: { of: Stats }) {
  const mine = of.projects.find((one) => one.name === project.value);
  const bytes = Object.values(of.disk_bytes).reduce((sum, one) => sum + one, 0);
  return (
    <>
      <ul class="tiles">
        <Tile number={mine?.memories ?? 0} words="memories" to={link('/memories')} />
        <Tile number={mine?.documents ?? 0} words="documents" />
        <Tile number={mine?.entities ?? 0} words="entities" to={hasView('/graph') ? link('/graph') : undefined} />
        <Tile number={mine?.relations ?? 0} words="relations" />
      </ul>
      <dl class="facts">
        <dt>Project</dt>
        <dd>
          <PlainText>{project.value ?? ''}</PlainText>
          {of.projects.length > 1 && <span class="quiet"> ({count(of.projects.length, 'project')} in all)</span>}
        </dd>
        <dt>Folder</dt>
        <dd>
          <PlainText>{page.value?.folder ?? of.path}</PlainText> <span class="quiet">({(bytes / 1e6).toFixed(1)} MB)</span>
        </dd>
        <dt>Models</dt>
        <dd>
          <PlainText>{of.embedder}</PlainText>
          {of.generator ? <PlainText>{`, ${of.generator}`}</PlainText> : <span class="quiet">, no generator</span>}
        </dd>
      </dl>
    </>
  );
}

/** Whether the page has a view at this path: the overview leads to those that it has. */
const hasView = (path: string): boolean => routes.some((route) => route.path === path);

function Tile({ number, words, to }: { number: number; words: string; to?: string | undefined }) {
  const text = (
    <>
      <strong>{number.toLocaleString('en-GB')}</strong> {words}
    </>
  );
  return <li>{to ? <a href={to}>{text}</a> : text}</li>;
}

/**
 * What waits for a person or for a job.
 *
 * Each part is read by itself, and those that compare many memories once the rest of the view is there (`first`).
 */
function Waiting({ stats, first }: { stats: Loaded<Stats>; first: boolean }) {
  const conflicts = useCall<Conflicts>('conflicts', first && offers('conflicts') ? { limit: MOST_WAITING } : null);
  const review = useCall<Reviewed>('review', first && offers('review') && !isReadOnly() ? { limit: 1 } : null);
  const held = useCall<Chunk[]>('memories', { states: ['quarantined'], limit: MOST_WAITING });
  const failed = useCall<Job[]>('jobs', offers('jobs') ? { state: 'failed', limit: MOST_WAITING } : null);
  const change = useChange();
  const pending = stats.value ? (stats.value.jobs.waiting ?? 0) + (stats.value.jobs.running ?? 0) : 0;
  return (
    <ul class="waits">
      {!first && <li class="quiet">Being counted…</li>}
      <Waits of={conflicts} number={(value) => value.conflicts.length} one="conflict" to="/conflicts" />
      <Waits of={review} number={(value) => value.waiting} one="question for you" many="questions for you" to="/review" />
      <Waits of={held} number={(rows) => rows.length} one="quarantined memory" many="quarantined memories" to="/memories" query={{ state: 'quarantined' }} />
      <Waits of={stats} number={() => pending} one="pending job" />
      <Waits of={failed} number={(rows) => rows.length} one="job given up" many="jobs given up">
        {!isReadOnly() && (failed.value?.length ?? 0) > 0 && (
          <Button onClick={() => void change('drain', { timeout: 30, retry: true }, 'The jobs were run again.')}>Run them again</Button>
        )}
      </Waits>
      <Waits of={stats} number={(value) => value.expired} one="expired memory" many="expired memories" to="/memories" query={{ state: 'expired' }} />
    </ul>
  );
}

interface WaitsProps<T> {
  of: Loaded<T>;
  number: (value: T) => number;
  one: string;
  many?: string;
  to?: string;
  query?: Record<string, string>;
  children?: ComponentChildren;
}

function Waits<T>({ of, number, one, many, to, query, children }: WaitsProps<T>) {
  if (of.value === null) {
    if (of.loading) return <li class="quiet">{many ?? `${one}s`}: being counted…</li>;
    return of.error ? <li class="quiet">{many ?? `${one}s`}: {of.error.message}</li> : null;
  }
  const found = number(of.value);
  const words = found >= MOST_WAITING ? `${found} or more ${many ?? `${one}s`}` : count(found, one, many);
  return (
    <li class={found ? 'some' : 'quiet'}>
      {found && to && hasView(to) ? <a href={link(to, query)}>{words}</a> : words} {children}
    </li>
  );
}

function Newest({ rows }: { rows: Chunk[] }) {
  if (!rows.length) {
    return (
      <Nothing>
        Nothing is remembered yet. Agents remember through MCP and hooks; by hand: <code>hydramem remember "…"</code>.
      </Nothing>
    );
  }
  return (
    <List label="Newest memories" rows={rows} id={(row) => row.id}>
      {(row, primary) => <MemoryCard of={row} primary={primary} />}
    </List>
  );
}

function Runs({ rows }: { rows: RunOfChanges[] }) {
  const change = useChange();
  return (
    <ul class="list" aria-label="Changes">
      {rows.map((row) => {
        const name = `${row.operations.join(', ')} ${row.about}`;
        return (
          <li key={row.run}>
            <div class="row">
              <strong>{row.operations.join(', ')}</strong> <PlainText>{row.about}</PlainText>
              <p class="marks">
                <Time at={row.at} />
                <span>by {row.actors.join(', ')}</span>
                <span>{count(row.changes, 'row')}</span>
                {row.reason && <PlainText>{row.reason}</PlainText>}
                {row.undone && <span class="mark">undone</span>}
              </p>
            </div>
            {!row.undone && !isReadOnly() && (
              <ConfirmButton
                label={`Undo ${name}`}
                ask={`Undo ${count(row.changes, 'change')}?`}
                yes="Undo it"
                onConfirm={() => void change('undo', { id: row.run }, `Undone: ${name}`)}
              >
                Undo
              </ConfirmButton>
            )}
          </li>
        );
      })}
    </ul>
  );
}
