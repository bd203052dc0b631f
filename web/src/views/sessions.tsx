// Sessions: what was said in each, what was recalled in it, and for which question.
import { offers } from '../api';
import { useCall } from '../load';
import { List } from '../parts/list';
import { MemoryCard, MemoryLink } from '../parts/memory';
import { Nothing, WhenLoaded } from '../parts/status';
import { PlainText, Time, timeText } from '../parts/text';
import { link } from '../place';
import type { Params } from '../routes';
import type { Chunk, RecalledMemory, Session } from '../types';

const PAGE = 50;
const MOST_ROWS = 200;

export default function Sessions({ params }: { params: Params }) {
  return params.session ? <OneSession session={params.session} /> : <AllSessions offset={Number(params.offset ?? 0) || 0} />;
}

function AllSessions({ offset }: { offset: number }) {
  const rows = useCall<Session[]>('sessions', { limit: PAGE + 1, offset });
  return (
    <>
      <h1>Sessions</h1>
      <WhenLoaded of={rows}>
        {(found) =>
          found.length ? (
            <>
              <List label="Sessions" rows={found.slice(0, PAGE)} id={(row) => row.id}>
                {(row, primary) => (
                  <>
                    <a href={link('/sessions', { session: row.id })} {...primary}>
                      <PlainText>{row.name}</PlainText>
                    </a>
                    <p class="marks">
                      <Time at={row.started_at} /> <span>last active</span> <Time at={row.last_at} />
                    </p>
                  </>
                )}
              </List>
              <nav class="actions" aria-label="Pages">
                {offset > 0 && <a href={link('/sessions', { offset: Math.max(0, offset - PAGE) || undefined })}>Newer</a>}
                {found.length > PAGE && <a href={link('/sessions', { offset: offset + PAGE })}>Older</a>}
              </nav>
            </>
          ) : (
            <Nothing>No session is recorded yet. Hooks and agents that name a session make one.</Nothing>
          )
        }
      </WhenLoaded>
    </>
  );
}

function OneSession({ session }: { session: string }) {
  const named = useCall<Session[]>('sessions', { session });
  const turns = useCall<Chunk[]>('memories', { session, kinds: ['turn', 'note', 'fact', 'event'], limit: MOST_ROWS });
  const recalled = useCall<RecalledMemory[]>('recalled', offers('recalled') ? { session, limit: MOST_ROWS } : null);
  const row = named.value?.[0];
  return (
    <>
      <p>
        <a href={link('/sessions')}>All sessions</a>
      </p>
      <h1>{row ? <PlainText>{row.name}</PlainText> : 'Session'}</h1>
      {row && (
        <p class="quiet">
          <Time at={row.started_at} />, last active <Time at={row.last_at} />
        </p>
      )}
      {named.value?.length === 0 && <Nothing>This project has no such session.</Nothing>}
      <h2>What was recalled</h2>
      <WhenLoaded of={recalled}>
        {(rows) => (rows.length ? byRecall(rows).map(([at, some]) => <OneRecall key={at} at={at} rows={some} />) : <Nothing>Nothing was recalled in it.</Nothing>)}
      </WhenLoaded>
      {recalled.value?.length === MOST_ROWS && <p class="quiet">Only the last {MOST_ROWS} are shown.</p>}
      <h2>What was said and remembered</h2>
      <WhenLoaded of={turns}>
        {(rows) =>
          rows.length ? (
            <List label="What was said and remembered" rows={rows} id={(one) => one.id}>
              {(one, primary) => <MemoryCard of={one} primary={primary} />}
            </List>
          ) : (
            <Nothing>No turn or memory of it is kept.</Nothing>
          )
        }
      </WhenLoaded>
      {turns.value?.length === MOST_ROWS && <p class="quiet">Only the newest {MOST_ROWS} are shown.</p>}
    </>
  );
}

/** One recall of a session: the question, where it is kept, and its hits in their order. */
function OneRecall({ at, rows }: { at: string; rows: RecalledMemory[] }) {
  const question = rows[0]?.query;
  return (
    <section class="recall" aria-label={`Recall of ${timeText(at)}`}>
      <h3>
        {question ? <PlainText>{question}</PlainText> : <span class="quiet">The question is not kept</span>}
      </h3>
      <p class="marks">
        <Time at={at} />
        {question && <a href={link('/search', { q: question })}>Ask again</a>}
      </p>
      <List label="Hits" rows={rows} id={(row) => row.id} ordered>
        {(row, primary) => (
          <>
            <MemoryLink id={row.id} text={row.text} primary={primary} />
            <p class="marks">
              <span>hit {row.rank}</span>
              <span class="mark">{row.kind}</span>
              {row.state !== 'active' && <span class={`mark state-${row.state}`}>{row.state}</span>}
              {row.source && row.source !== row.kind && <PlainText>{row.source}</PlainText>}
            </p>
          </>
        )}
      </List>
    </section>
  );
}

function byRecall(rows: readonly RecalledMemory[]): [string, RecalledMemory[]][] {
  const recalls = new Map<string, RecalledMemory[]>();
  for (const row of rows) recalls.set(row.at, [...(recalls.get(row.at) ?? []), row]);
  return [...recalls];
}
