// The names, type and description of an entity, to change.
import { useState } from 'preact/hooks';
import { useChange } from '../changes';
import { Button } from '../parts/button';
import { Field, TextField } from '../parts/field';
import type { Entity, EntityChange } from '../types';

export function EntityForm({ of, onDone }: { of: Entity; onDone: () => void }) {
  const change = useChange();
  const [name, setName] = useState(of.name);
  const [type, setType] = useState(of.type);
  const [aliases, setAliases] = useState('');
  const [description, setDescription] = useState(of.description ?? '');
  const [reason, setReason] = useState('');
  const added = aliases
    .split('\n')
    .map((alias) => alias.trim())
    .filter(Boolean);
  const args = {
    ...(name.trim() !== of.name ? { rename: name.trim() } : {}),
    ...(type.trim() !== of.type ? { type: type.trim() } : {}),
    ...(added.length ? { aliases: added } : {}),
    ...(description !== (of.description ?? '') ? { description } : {}),
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const words = (done: EntityChange): string => (done.changed.length ? `Changed: ${done.changed.join(', ')}.` : 'Nothing was different.');
    if (await change<EntityChange>('entity', { name: of.name, ...args, reason: reason || undefined }, words)) onDone();
  };
  return (
    <form class="panel" aria-label="Change the entity" onSubmit={(event) => void save(event)}>
      <h3>Change</h3>
      <TextField label="Name" value={name} onInput={setName} required help="The old name stays as another name." />
      <TextField label="Type" value={type} onInput={setType} required />
      <Field label="Further names, one a line">
        {(ids) => <textarea {...ids} rows={2} dir="auto" value={aliases} onInput={(event) => setAliases(event.currentTarget.value)} />}
      </Field>
      <Field label="Description">
        {(ids) => <textarea {...ids} rows={2} dir="auto" value={description} onInput={(event) => setDescription(event.currentTarget.value)} />}
      </Field>
      <TextField label="Why (kept in the history)" value={reason} onInput={setReason} />
      <div class="actions">
        <button type="submit" class="primary" disabled={!Object.keys(args).length}>
          Save
        </button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
