// One memory: its text, what is known of it, its history, and what can be done with it.
import { isReadOnly, offers } from '../api';
import { useCall } from '../load';
import { EntityLink, MemoryLink } from '../parts/memory';
import { HistoryList, VersionList } from '../parts/history';
import { Share } from '../parts/relevance';
import { Nothing, WhenLoaded } from '../parts/status';
import { count, PlainText, Time } from '../parts/text';
import { go, link } from '../place';
import type { Params } from '../routes';
import type { History, LinkedChunk, LinkView, RecalledMemory, Surroundings } from '../types';
import { Actions } from './memory_actions';

const MOST_RECALLS = 20;
const MOST_ENTITIES = 20;

export default function Memory({ params }: { params: Params }) {
  const id = params.id ?? '';
  const memory = useCall<LinkedChunk>('get', { id });
  if (memory.error?.code === 'NotFoundError') return <Gone id={id} />;
  return <WhenLoaded of={memory}>{(row) => <Shown of={row} />}</WhenLoaded>;
}

/** A memory that was taken back, or that never was. */
function Gone({ id }: { id: string }) {
  return (
    <>
      <h1>Memory</h1>
      <Nothing>
        No memory has the id <PlainText>{id}</PlainText>. It may have been taken back. <a href={link('/memories')}>All memories</a>
      </Nothing>
    </>
  );
}

function Shown({ of }: { of: LinkedChunk }) {
  const stored = of.layer !== 'curated'; // an entry of a curated file is in no store: the file is edited
  return (
    <article class="memory">
      <h1>{of.kind === 'passage' ? 'Passage' : `Memory: ${of.kind}`}</h1>
      {of.state !== 'active' && <p class={`note state-${of.state}`}>{STATE_WORDS[of.state]}</p>}
      {of.heading_path.length > 0 && (
        <p class="quiet">
          <PlainText>{of.heading_path.join(' › ')}</PlainText>
        </p>
      )}
      <blockquote class="memory-text" tabIndex={of.text.length > 2000 ? 0 : undefined}>
        <PlainText>{of.text}</PlainText>
      </blockquote>
      {stored && !isReadOnly() && <Actions of={of} />}
      {!stored && <p class="quiet">An entry of a curated file: change it there.</p>}
      <h2>What is known of it</h2>
      <Facts of={of} />
      <h2>Time line</h2>
      <Moments of={of} />
      {of.links.length > 0 && (
        <>
          <h2>Links</h2>
          <Links of={of.links} />
        </>
      )}
      {stored && <Entities id={of.id} state={of.state} />}
      {stored && <Recalls id={of.id} />}
      {stored && <Past id={of.id} />}
    </article>
  );
}

const STATE_WORDS = {
  superseded: 'Superseded: a later memory took its place.',
  archived: 'Forgotten or corrected: recall does not return it.',
  quarantined: 'Quarantined: it gives orders or hides something, and is not recalled until it is revived.',
} as const;

function Facts({ of }: { of: LinkedChunk }) {
  return (
    <dl class="facts">
      <dt>State, layer</dt>
      <dd>
        {of.state}, {of.layer}
        {of.private && ', private'}
      </dd>
      <dt>Source</dt>
      <dd>
        <PlainText>{of.source || 'unknown'}</PlainText>
        {of.author && <PlainText>{`, by ${of.author}`}</PlainText>}
      </dd>
      {of.session && (
        <>
          <dt>Session</dt>
          <dd>
            <a href={link('/sessions', { session: of.session })}>The session that it was said in</a>
          </dd>
        </>
      )}
      <dt>Scope</dt>
      <dd>
        <a href={link('/memories', { scope: of.scope === '/' ? undefined : of.scope })}>
          <PlainText>{of.scope}</PlainText>
        </a>
      </dd>
      {of.categories.length > 0 && (
        <>
          <dt>Labels</dt>
          <dd class="labels">
            {of.categories.map((label) => (
              <a key={label} class="mark" href={link('/memories', { label })}>
                <PlainText>{label}</PlainText>
              </a>
            ))}
          </dd>
        </>
      )}
      {of.keywords.length > 0 && (
        <>
          <dt>Keywords</dt>
          <dd>
            <PlainText>{of.keywords.join(', ')}</PlainText>
          </dd>
        </>
      )}
      {of.summary && (
        <>
          <dt>Summary</dt>
          <dd>
            <PlainText>{of.summary}</PlainText>
          </dd>
        </>
      )}
      <dt>Importance</dt>
      <dd>
        <Share value={of.importance} label="importance" />
      </dd>
      <dt>Confidence</dt>
      <dd>
        <Share value={of.confidence} label="confidence" />
      </dd>
      <dt>Recalled</dt>
      <dd>{count(of.recall_count, 'time')}</dd>
      <dt>Id</dt>
      <dd>
        <code>{of.id}</code>
      </dd>
    </dl>
  );
}

/** Every moment of a memory in order: when it was true in the world, and when the store believed it. */
function Moments({ of }: { of: LinkedChunk }) {
  const { times } = of;
  const moments: [string | null, string][] = [
    [of.happened_at, of.kind === 'turn' ? 'It was said' : 'It happened'],
    [times.valid_from, 'True from here on'],
    [times.recorded_at, 'Recorded'],
    [of.last_recalled_at, 'Recalled the last time'],
    [times.valid_to, 'No longer true'],
    [times.retired_at, 'No longer believed'],
    [of.expires_at, 'It expires'],
  ];
  const known = moments.filter((one): one is [string, string] => one[0] !== null);
  known.sort(([a], [b]) => Date.parse(a) - Date.parse(b));
  return (
    <ol class="moments">
      {known.map(([at, words]) => (
        <li key={words}>
          <Time at={at} /> <span>{words}</span>
        </li>
      ))}
    </ol>
  );
}

function Links({ of }: { of: LinkView[] }) {
  return (
    <ul class="list" aria-label="Links">
      {of.map((one) => (
        <li key={one.id}>
          <div class="row">
            <span class="mark">
              {one.forward ? '' : '← '}
              {one.type.replaceAll('_', ' ')}
              {one.forward ? ' →' : ''}
            </span>{' '}
            <MemoryLink id={one.other} text={one.text} />
            <p class="marks">
              <Share value={one.weight} label="weight" />
              {one.reason && <PlainText>{one.reason}</PlainText>}
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** Names in a memory; only what is believed now is in the graph that the walk reads. */
function Entities({ id, state }: { id: string; state: LinkedChunk['state'] }) {
  const around = useCall<Surroundings>('expand', offers('expand') && state === 'active' ? { starts: [id], depth: 1, limit: MOST_ENTITIES } : null);
  const named = around.value?.entities.filter((one) => one.distance === 1) ?? [];
  if (!named.length) return null;
  return (
    <>
      <h2>Entities</h2>
      <ul class="names" aria-label="Entities">
        {named.map((one) => (
          <li key={one.entity}>
            <EntityLink name={one.entity} /> <span class="quiet">{one.type}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Recalls({ id }: { id: string }) {
  const recalls = useCall<RecalledMemory[]>('recalled', offers('recalled') ? { id, limit: MOST_RECALLS } : null);
  if (!recalls.value?.length) return null;
  return (
    <>
      <h2>Where it was recalled</h2>
      <ul class="list" aria-label="Recalls">
        {recalls.value.map((one) => (
          <li key={`${one.session} ${one.at}`}>
            <div class="row">
              {one.query ? <PlainText>{one.query}</PlainText> : <span class="quiet">The question is not kept</span>}
              <p class="marks">
                <Time at={one.at} />
                <span>hit {one.rank}</span>
                <a href={link('/sessions', { session: one.session })}>
                  <PlainText>{one.session}</PlainText>
                </a>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function Past({ id }: { id: string }) {
  const history = useCall<History>('history', { id });
  return (
    <>
      {history.value && history.value.versions.length > 0 && (
        <>
          <h2>Versions</h2>
          <VersionList of={history.value.versions} shown={id} />
        </>
      )}
      <h2>History</h2>
      <WhenLoaded of={history}>{(value) => <HistoryList of={value} onGone={() => go(before(value), { replace: true })} />}</WhenLoaded>
    </>
  );
}

/** The address of the version before, else of the list: what is shown where the creation of a memory is undone. */
function before(history: History): string {
  const place = history.versions.findIndex((one) => one.id === history.id);
  const earlier = history.versions[place - 1];
  return earlier ? link('/memory/:id', { id: earlier.id }) : link('/memories');
}
