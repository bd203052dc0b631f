// Memories in a list: filter, select many, and forget, revive or correct them with one undo.
import { useState } from 'preact/hooks';
import { isReadOnly } from '../api';
import { useChange } from '../changes';
import { exported } from '../exported';
import { useKeys } from '../keys';
import { useCall } from '../load';
import { Button, ConfirmButton } from '../parts/button';
import { Choice, TextField } from '../parts/field';
import { List } from '../parts/list';
import { MemoryCard } from '../parts/memory';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, count } from '../parts/text';
import { go, link } from '../place';
import type { Params } from '../routes';
import type { Chunk } from '../types';
import { LabelsForm, type Labels } from './labels_form';

const PAGE = 50;

const KINDS = [
  ['', 'All kinds'],
  ['note', 'Notes'],
  ['fact', 'Facts'],
  ['event', 'Events'],
  ['turn', 'Turns'],
] as const;

const STATES = [
  ['', 'Active'],
  ['superseded', 'Superseded'],
  ['archived', 'Forgotten'],
  ['quarantined', 'Quarantined'],
  ['expired', 'Expired'],
] as const;

export default function Memories({ params }: { params: Params }) {
  const { kind = '', state = '', scope = '', label = '', as_of = '' } = params;
  const offset = Number(params.offset ?? 0) || 0;
  const rows = useCall<Chunk[]>(
    'memories',
    {
      kinds: kind ? [kind] : undefined,
      states: state && state !== 'expired' ? [state] : undefined,
      expired: state === 'expired' ? true : undefined,
      scope: scope || undefined,
      categories: label ? [label] : undefined,
      as_of: as_of || undefined,
      limit: PAGE + 1, // one more tells whether there are more
      offset,
    },
    { keep: true },
  );
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const set = (more: Record<string, string>): void => {
    setSelected(new Set());
    go(link('/memories', { kind, state, scope, label, as_of, ...more }), { replace: true });
  };
  const select = (id: string, chosen: boolean): void =>
    setSelected((before) => new Set(chosen ? [...before, id] : [...before].filter((one) => one !== id)));
  return (
    <>
      <h1>Memories</h1>
      <form class="filters" role="search" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Kind" value={kind} options={KINDS} onChange={(value) => set({ kind: value })} />
        <Choice label="State" value={state} options={STATES} onChange={(value) => set({ state: value })} />
        <TextField late label="Scope" value={scope} placeholder="/infra" onInput={(value) => set({ scope: value })} />
        <TextField late label="Label" value={label} onInput={(value) => set({ label: value })} />
        {!exported && <TextField label="As of" type="date" value={as_of} onInput={(value) => set({ as_of: value })} />}
      </form>
      <WhenLoaded of={rows}>
        {(found) => {
          const shown = found.slice(0, PAGE);
          if (!shown.length) return <Nothing>No memory is here with these filters.</Nothing>;
          return (
            <>
              <Selected rows={shown} selected={selected} setSelected={setSelected} forgotten={state === 'archived' || state === 'quarantined'} />
              <List
                label="Memories"
                rows={shown}
                id={(row) => row.id}
                name={(row) => beginning(row.text, 60)}
                {...(isReadOnly() ? {} : { selected, onSelect: select })}
              >
                {(row, primary) => <MemoryCard of={row} primary={primary} />}
              </List>
              <nav class="actions" aria-label="Pages">
                {offset > 0 && <a href={link('/memories', { ...params, offset: Math.max(0, offset - PAGE) || undefined })}>Newer</a>}
                <span class="quiet">
                  {offset + 1} to {offset + shown.length}
                </span>
                {found.length > PAGE && <a href={link('/memories', { ...params, offset: offset + PAGE })}>Older</a>}
              </nav>
            </>
          );
        }}
      </WhenLoaded>
    </>
  );
}

interface SelectedProps {
  rows: readonly Chunk[];
  selected: ReadonlySet<string>;
  setSelected: (ids: ReadonlySet<string>) => void;
  forgotten: boolean;
}

/** What can be done with the selected memories: every action is one run, which one undo takes back. */
function Selected({ rows, selected, setSelected, forgotten }: SelectedProps) {
  const change = useChange();
  const [asking, setAsking] = useState(false);
  const [correcting, setCorrecting] = useState(false);
  const ids = rows.filter((row) => selected.has(row.id)).map((row) => row.id);
  const many = count(ids.length, 'memory', 'memories');
  const run = async (operation: string, words: string): Promise<void> => {
    if (await change(operation, { ids }, words)) setSelected(new Set());
  };
  useKeys([
    { key: 'a', words: 'Select all that are shown, or none', run: () => setSelected(new Set(ids.length === rows.length ? [] : rows.map((row) => row.id))) },
    { key: 'e', words: 'Correct the selected memories', run: () => setCorrecting(ids.length > 0 && !forgotten) },
    { key: 'Delete', words: 'Forget the selected memories', run: () => setAsking(ids.length > 0 && !forgotten) },
  ]);
  if (isReadOnly()) return null;
  const correct = async (labels: Labels): Promise<void> => {
    if (!(await change('relabel', { ids, ...labels }, `Corrected ${many}.`))) return;
    setCorrecting(false);
    setSelected(new Set());
  };
  return (
    <>
      <div class="actions" role="group" aria-label="Selected memories">
        <span>{ids.length ? `${many} selected` : 'None selected'}</span>
        <Button onClick={() => setSelected(new Set(rows.map((row) => row.id)))}>Select all shown</Button>
        {!forgotten && (
          <Button keys="e" disabled={!ids.length} pressed={correcting && ids.length > 0} onClick={() => setCorrecting(!correcting)}>
            Correct
          </Button>
        )}
        {forgotten ? (
          <ConfirmButton ask={`Revive ${many}? They are recalled from then on.`} yes="Revive" disabled={!ids.length} onConfirm={() => void run('revive', `Revived ${many}.`)}>
            Revive
          </ConfirmButton>
        ) : (
          <ConfirmButton
            look="danger"
            ask={`Forget ${many}?`}
            yes="Forget"
            disabled={!ids.length}
            keys="Delete"
            open={asking}
            onOpen={setAsking}
            onConfirm={() => void run('forget', `Forgot ${many}.`)}
          >
            Forget
          </ConfirmButton>
        )}
      </div>
      {correcting && ids.length > 0 && <LabelsForm many={many} onSave={(labels) => void correct(labels)} onCancel={() => setCorrecting(false)} />}
    </>
  );
}
