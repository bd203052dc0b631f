// The form that corrects a memory: its text and its labels; only what was changed is sent.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button';
import { Field, TextField } from '../parts/field';
import type { LinkedChunk } from '../types';

/** What `revise` takes; what is not given stays. */
export interface Correction {
  text?: string | undefined;
  scope?: string | undefined;
  categories?: string[] | undefined;
  importance?: number | undefined;
  reason?: string | undefined;
  [name: string]: string | string[] | number | undefined;
}

export interface CorrectionFormProps {
  of: LinkedChunk;
  onSave: (correction: Correction) => void;
  onCancel: () => void;
}

export function CorrectionForm({ of, onSave, onCancel }: CorrectionFormProps) {
  const [text, setText] = useState(of.text);
  const [scope, setScope] = useState(of.scope);
  const [labels, setLabels] = useState(of.categories.join(', '));
  const [importance, setImportance] = useState(of.importance);
  const [reason, setReason] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current?.focus(), []);
  const correction: Correction = {
    text: text === of.text ? undefined : text,
    scope: scope === of.scope ? undefined : scope,
    categories: labels === of.categories.join(', ') ? undefined : listed(labels),
    importance: importance === of.importance ? undefined : importance,
  };
  const changed = Object.values(correction).some((value) => value !== undefined) && text.trim() !== '';
  return (
    <form
      class="panel"
      aria-label="Correct this memory"
      onSubmit={(event) => {
        event.preventDefault();
        if (changed) onSave({ ...correction, reason: reason.trim() || undefined });
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <Field label="Text" help="If the world has changed, remember the new text instead: this one was true until then.">
        {(ids) => <textarea {...ids} ref={area} dir="auto" value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      <div class="filters">
        <TextField label="Scope" value={scope} onInput={setScope} />
        <TextField label="Labels" value={labels} help="Separated by commas" onInput={setLabels} />
        <Field label={`Importance: ${importance.toFixed(2)}`}>
          {(ids) => (
            <input {...ids} type="range" min={0} max={1} step={0.05} value={importance} onInput={(event) => setImportance(Number(event.currentTarget.value))} />
          )}
        </Field>
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

/** The labels of a line, without blanks. */
export const listed = (line: string): string[] =>
  line
    .split(',')
    .map((label) => label.trim())
    .filter(Boolean);
