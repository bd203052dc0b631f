// What belongs to an entity no longer: a merge is reversed, or some mentions go to another entity.
import { useState } from 'preact/hooks';
import { useChange } from '../changes';
import { ConfirmButton } from '../parts/button';
import { TextField } from '../parts/field';
import { beginning, count, shownText, timeText } from '../parts/text';
import type { Divided, Entity, History } from '../types';

const divided = (done: Divided): string =>
  `Separated: ${beginning(done.entities.map((one) => shownText(one.name)).join(', '), 80)}, with ${count(done.mentions, 'mention')} and ${count(done.relations, 'relation')}.${
    done.left.length ? ` ${count(done.left.length, 'row')} written since stay.` : ''
  }`;

/** Give the mentions in some memories, and the relations that only they state, to another entity. */
export function SplitForm({ of, chunks, onDone }: { of: Entity; chunks: readonly string[]; onDone: () => void }) {
  const change = useChange();
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const args = { what: name.trim(), of: of.name, chunks: [...chunks], reason: reason || undefined };
    if (await change<Divided>('split', args, divided)) onDone();
  };
  return (
    <form class="panel" aria-label="Split" onSubmit={(event) => void save(event)}>
      <h3>{`${count(chunks.length, 'memory', 'memories')} selected`}</h3>
      <p>These mention another entity: their mentions, and the relations that only they state, go to it.</p>
      <TextField label="Name of the other entity" value={name} onInput={setName} required help="A new one where none has this name." />
      <TextField label="Why (kept in the history)" value={reason} onInput={setReason} />
      <div class="actions">
        <button type="submit" class="primary" disabled={!name.trim()}>
          Split
        </button>
      </div>
    </form>
  );
}

/** The merges into an entity that its history knows, each with a way to reverse it. */
export function MergesOf({ history }: { history: History }) {
  const change = useChange();
  const merges = history.entries.filter((entry) => entry.operation === 'merge' && entry.run !== null);
  if (!merges.length) return null;
  return (
    <>
      <h2>Merged into it</h2>
      <ul class="list" aria-label="Merges">
        {merges.map((entry) => (
          <li key={entry.run}>
            <div class="row">
              <p>
                {`Merged on ${timeText(entry.at)}`}
                {entry.reason && `: ${entry.reason}`}
              </p>
              <ConfirmButton ask="Separate what was merged?" yes="Separate" onConfirm={() => void change<Divided>('split', { what: entry.run! }, divided)}>
                Separate again
              </ConfirmButton>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
