// The form that corrects the labels of several memories; an empty field leaves theirs as they are.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button';
import { TextField } from '../parts/field';
import { listed } from './memory_correction';

/** What `relabel` takes; what is not given stays. */
export interface Labels {
  scope?: string | undefined;
  categories?: string[] | undefined;
  reason?: string | undefined;
  [name: string]: string | string[] | undefined;
}

export interface LabelsFormProps {
  many: string;
  onSave: (labels: Labels) => void;
  onCancel: () => void;
}

export function LabelsForm({ many, onSave, onCancel }: LabelsFormProps) {
  const [scope, setScope] = useState('');
  const [labels, setLabels] = useState('');
  const [reason, setReason] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), []);
  const given = listed(labels);
  const changed = scope.trim() !== '' || given.length > 0;
  return (
    <form
      ref={form}
      class="panel"
      aria-label={`Correct ${many}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (changed) onSave({ scope: scope.trim() || undefined, categories: given.length ? given : undefined, reason: reason.trim() || undefined });
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <div class="filters">
        <TextField label="Scope for all" value={scope} placeholder="/infra" help="Empty leaves theirs" onInput={setScope} />
        <TextField label="Labels for all" value={labels} help="Separated by commas; they replace theirs" onInput={setLabels} />
        <TextField label="Reason" value={reason} help="Kept in the history" onInput={setReason} />
      </div>
      <div class="actions">
        <button class="primary" disabled={!changed}>
          Save
        </button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
