// Buttons: one that acts at once, and one that asks first, in its place (a page in a frame shows no dialogs).
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export interface ButtonProps {
  children: ComponentChildren;
  onClick: () => void;
  disabled?: boolean;
  /** `danger` removes something from recall, `link` looks like a link, `primary` is what the view is for. */
  look?: 'danger' | 'link' | 'primary';
  label?: string;
  keys?: string;
  pressed?: boolean;
}

export function Button({ children, onClick, disabled, look, label, keys, pressed }: ButtonProps) {
  return (
    <button type="button" class={look} disabled={disabled} aria-label={label} aria-keyshortcuts={keys} aria-pressed={pressed} onClick={onClick}>
      {children}
    </button>
  );
}

export interface ConfirmProps extends Omit<ButtonProps, 'onClick'> {
  /** The question, such as "Forget 3 memories?". */
  ask: string;
  /** The word on the button that does it, such as "Forget". */
  yes: string;
  onConfirm: () => void;
  /** Whether the question is shown, where a key of the view opens it too. */
  open?: boolean;
  onOpen?: (open: boolean) => void;
}

/** A button that asks before it acts. Escape, or the other button, takes the question away. */
export function ConfirmButton({ ask, yes, onConfirm, open, onOpen, ...button }: ConfirmProps) {
  const [mine, setMine] = useState(false);
  const asking = open ?? mine;
  const set = onOpen ?? setMine;
  const place = useRef<HTMLSpanElement>(null);
  const was = useRef(false);
  useLayoutEffect(() => {
    // The focus follows the question at once, and comes back to the button that asked it.
    if (asking !== was.current) place.current?.querySelector('button')?.focus();
    was.current = asking;
  }, [asking]);
  if (!asking) {
    return (
      <span ref={place}>
        <Button {...button} onClick={() => set(true)} />
      </span>
    );
  }
  const close = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    set(false);
  };
  return (
    <span ref={place} class="confirm" role="group" aria-label={ask} onKeyDown={close}>
      <span>{ask}</span>
      <Button
        look={button.look === 'danger' ? 'danger' : 'primary'}
        onClick={() => {
          set(false);
          onConfirm();
        }}
      >
        {yes}
      </Button>
      <Button onClick={() => set(false)}>Cancel</Button>
    </span>
  );
}
