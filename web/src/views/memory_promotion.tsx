// The form that moves memories to another layer of trust.
import { useState } from 'preact/hooks';
import { Button } from '../parts/button';
import { Choice, TextField } from '../parts/field';
import type { Layer } from '../types';

const LAYERS = [
  ['working', 'Working: as stated'],
  ['shared', 'Shared: corroborated'],
  ['verified', 'Verified: confirmed by you'],
] as const;

export interface PromoteFormProps {
  layer: Layer;
  onSave: (layer: string, reason: string) => void;
  onCancel: () => void;
}

export function PromoteForm({ layer, onSave, onCancel }: PromoteFormProps) {
  const [chosen, setChosen] = useState<(typeof LAYERS)[number][0]>(layer === 'curated' ? 'working' : layer);
  const [reason, setReason] = useState('');
  const ready = chosen !== layer && reason.trim() !== '';
  return (
    <form
      class="panel"
      aria-label="Change the layer"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) onSave(chosen, reason.trim());
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <div class="filters">
        <Choice label="Layer" value={chosen} options={LAYERS} onChange={setChosen} />
        <TextField label="Reason" value={reason} required help="Kept in the history" onInput={setReason} />
      </div>
      <div class="actions">
        <button class="primary" disabled={!ready}>
          Save
        </button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
