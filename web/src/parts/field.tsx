// Fields of forms and filters, each with its label.
import type { ComponentChildren, TargetedEvent } from 'preact';
import { useId, useLayoutEffect, useState } from 'preact/hooks';

export interface FieldProps {
  label: string;
  /** A sentence under the field. */
  help?: string;
  /** The field; it is given the ids of its label and of the sentence. */
  children: (ids: { id: string; 'aria-describedby'?: string }) => ComponentChildren;
}

export function Field({ label, help, children }: FieldProps) {
  const id = useId();
  const described = help ? `${id}-help` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(described ? { 'aria-describedby': described } : {}) })}
      {help && (
        <small id={described} class="quiet">
          {help}
        </small>
      )}
    </div>
  );
}

export interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A choice among few values, each with its words. */
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export interface TextFieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  /** Whether the value is taken when it is complete (by Enter or by leaving the field), not at each letter. */
  late?: boolean;
  type?: 'text' | 'search' | 'date' | 'datetime-local' | 'number';
  placeholder?: string;
  help?: string;
  required?: boolean;
}

/** A line of text, or a date. */
export function TextField({ label, value, onInput, late = false, type = 'text', placeholder, help, required }: TextFieldProps) {
  // What is typed and not yet complete: a view that is shown anew meanwhile must not take it away.
  const [typed, setTyped] = useState(value);
  useLayoutEffect(() => setTyped(value), [value]);
  const take = (event: TargetedEvent<HTMLInputElement>): void => onInput(event.currentTarget.value);
  const note = (event: TargetedEvent<HTMLInputElement>): void => setTyped(event.currentTarget.value);
  return (
    <Field label={label} help={help}>
      {(ids) => (
        <input {...ids} type={type as 'text'} value={late ? typed : value} placeholder={placeholder} required={required} dir="auto" {...(late ? { onInput: note, onChange: take } : { onInput: take })} />
      )}
    </Field>
  );
}
