// Search as one types: hits with their relevance, why they were found, and how the search went.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { exported } from '../exported';
import { useCall } from '../load';
import { Choice, TextField } from '../parts/field';
import { List } from '../parts/list';
import { EntityLink, MemoryCard, MemoryLink } from '../parts/memory';
import { Relevance } from '../parts/relevance';
import { Nothing, WhenLoaded } from '../parts/status';
import { count, PlainText, Time } from '../parts/text';
import { go, link } from '../place';
import type { Params } from '../routes';
import type { Explanation, Hit, Recall } from '../types';

const MOST_HITS = 20;

const KINDS = [
  ['', 'All kinds'],
  ['passage', 'Passages of documents'],
  ['note', 'Notes'],
  ['fact', 'Facts'],
  ['event', 'Events'],
  ['turn', 'Turns'],
] as const;

const LAYERS = [
  ['', 'All layers'],
  ['working', 'Working'],
  ['curated', 'Curated files'],
  ['shared', 'Shared'],
  ['verified', 'Verified'],
] as const;

export default function Search({ params }: { params: Params }) {
  const { q = '', kind = '', layer = '', scope = '', from = '', to = '', as_of = '' } = params;
  const asked = q.trim();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const found = useCall<Recall>(
    'recall',
    asked
      ? {
          query: asked,
          limit: MOST_HITS,
          kinds: kind ? [kind] : undefined,
          layers: layer ? [layer] : undefined,
          scope: scope || undefined,
          happened_from: from || undefined,
          happened_to: to || undefined,
          as_of: as_of || undefined,
          explain: true,
        }
      : null,
    { keep: true },
  );
  const set = (more: Record<string, string>): void => go(link('/search', { q, kind, layer, scope, from, to, as_of, ...more }), { replace: true });
  const filtered = [kind, layer, scope, from, to, as_of].filter(Boolean).length;
  return (
    <>
      <h1>Search</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <div class="field search-field">
          <label for="question">Question or words</label>
          <input
            id="question"
            type="search"
            data-search
            dir="auto"
            ref={field}
            autoComplete="off"
            aria-keyshortcuts="/"
            value={q}
            onInput={(event) => set({ q: event.currentTarget.value })}
            onKeyDown={leaveField}
          />
        </div>
        <details class="more" open={filtered > 0}>
          <summary>Filters{filtered ? ` (${filtered})` : ''}</summary>
          <div class="filters">
            <Choice label="Kind" value={kind} options={KINDS} onChange={(value) => set({ kind: value })} />
            {!exported && <Choice label="Layer" value={layer} options={LAYERS} onChange={(value) => set({ layer: value })} />}
            <TextField late label="Scope" value={scope} placeholder="/infra" onInput={(value) => set({ scope: value })} />
            {!exported && ( // an export finds words by kind and scope alone
              <>
                <TextField label="Happened from" type="date" value={from} onInput={(value) => set({ from: value })} />
                <TextField label="Happened to" type="date" value={to} onInput={(value) => set({ to: value })} />
                <TextField label="As of" type="date" value={as_of} onInput={(value) => set({ as_of: value })} />
              </>
            )}
          </div>
        </details>
      </form>
      {asked ? <WhenLoaded of={found}>{(value) => <Found of={value} stale={found.loading} />}</WhenLoaded> : <p class="quiet">Ask a question, or give some words.</p>}
    </>
  );
}

/** The down key leads from the field to the hits, and Escape out of it: letters are keys again. */
function leaveField(event: KeyboardEvent): void {
  if (event.key === 'Escape') {
    event.preventDefault(); // the question stays
    document.getElementById('main')?.focus();
  }
  if (event.key !== 'ArrowDown') return;
  const first = document.querySelector<HTMLElement>('main [data-primary]');
  if (!first) return;
  event.preventDefault();
  first.focus();
}

function Found({ of, stale }: { of: Recall; stale: boolean }) {
  const total = Object.values(of.milliseconds).reduce((sum, one) => sum + one, 0);
  // Where nothing was measured, as in an export, every hit counts.
  const strong = of.hits.filter((hit) => hit.relevance === null || hit.relevance >= of.floor);
  const weak = of.hits.filter((hit) => !strong.includes(hit));
  return (
    <section aria-label="Hits" aria-busy={stale}>
      <p role="status" class={strong.length ? 'quiet' : 'note unanswered'}>
        {strong.length ? `${count(strong.length, 'hit')}${total ? ` in ${Math.round(total)} ms` : ''}` : 'Nothing here answers this.'}
      </p>
      {of.skipped.length > 0 && (
        <ul class="quiet">
          {of.skipped.map((reason) => (
            <li key={reason}>
              <PlainText>{reason}</PlainText>
            </li>
          ))}
        </ul>
      )}
      {strong.length > 0 && <HitList of={strong} label="Hits" />}
      {weak.length > 0 && <WeakHits of={weak} floor={of.floor} />}
      {!of.hits.length && <Nothing>Use other words, or fewer filters.</Nothing>}
      {of.explanation && <How of={of.explanation} milliseconds={of.milliseconds} />}
    </section>
  );
}

/** What is below the memory's floor, which agents are not given by themselves: folded, and there to be looked at. */
function WeakHits({ of, floor }: { of: Hit[]; floor: number }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="more" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {count(of.length, 'weaker hit')}, below the floor of {Math.round(floor * 100)} %
      </summary>
      {open && <HitList of={of} label="Weaker hits" />}
    </details>
  );
}

function HitList({ of, label }: { of: Hit[]; label: string }) {
  return (
    <List label={label} rows={of} id={(hit) => hit.id} ordered>
      {(hit, primary) => (
        <>
          <MemoryCard of={hit} primary={primary} />
          <Why of={hit} />
        </>
      )}
    </List>
  );
}

/** Why a hit was found: its relevance, the sentence, the path, the parts of its score, and other versions. */
function Why({ of }: { of: Hit }) {
  const parts = Object.entries(of.scores).filter(([, value]) => value !== 0);
  return (
    <div class="why">
      {!exported && <Relevance value={of.relevance} />} <PlainText class="quiet">{of.why}</PlainText>
      {of.newer && (
        <p class="version">
          May be out of date, a later memory says: <MemoryLink id={of.newer.id} text={of.newer.text} />
        </p>
      )}
      {of.older && (
        <p class="version quiet">
          Earlier: <MemoryLink id={of.older.id} text={of.older.text} />
        </p>
      )}
      {(parts.length > 0 || of.path.length > 0) && (
        <details>
          <summary>Score {of.score.toFixed(2)}</summary>
          {of.path.length > 0 && (
            <p>
              Path:{' '}
              <PlainText>
                {of.path
                  .map((step) => {
                    const label = step.inferred ? `${step.label}, inferred` : step.label;
                    return `${step.source} ${step.forward ? `—${label}→` : `←${label}—`} ${step.target}`;
                  })
                  .join('; ')}
              </PlainText>
            </p>
          )}
          <dl class="facts">
            {parts.map(([name, value]) => (
              <Part key={name} name={name} value={value.toFixed(3)} />
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

function Part({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** How the search went: what the question is about, and what each arm brought. */
function How({ of, milliseconds }: { of: Explanation; milliseconds: Recall['milliseconds'] }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="more" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>How this was searched</summary>
      {of.entities.length > 0 && (
        <p>
          About:{' '}
          {of.entities.map((one) => (
            <span key={one.entity} class="about">
              <EntityLink name={one.entity} /> <span class="quiet">(by its {one.found_by}, in {count(one.chunks, 'text')})</span>
            </span>
          ))}
        </p>
      )}
      {of.dates.map((one) => (
        <p key={one.text}>
          <PlainText>{`“${one.text}”`}</PlainText> is <Time at={one.start} /> to <Time at={one.end} />
          {one.every_year && ', in any year'}
        </p>
      ))}
      <div class="scroll" tabIndex={0} role="group" aria-label="Arms of the search">
        <table>
          <thead>
            <tr>
              <th scope="col">Arm</th>
              <th scope="col">Weight</th>
              <th scope="col">Candidates</th>
              <th scope="col">Hits</th>
            </tr>
          </thead>
          <tbody>
            {of.arms.map((arm) => (
              <tr key={arm.arm}>
                <th scope="row">{arm.arm}</th>
                <td>{arm.weight.toFixed(2)}</td>
                <td>{arm.candidates}</td>
                <td>{arm.hits}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">
        Walk: {of.traversal}. {count(of.fused, 'candidate')} in all. Time:{' '}
        {Object.entries(milliseconds)
          .map(([stage, time]) => `${stage} ${time.toFixed(1)} ms`)
          .join(', ')}
        .
      </p>
    </details>
  );
}
