// Changes of the memory: each shows what was done and a way back, and what is on screen is read again.
import { signal } from '@preact/signals';
import { callToChange, CallError, type Arguments } from './api';
import type { Undone } from './types';

/** Grows with every change; a view that reads it is shown anew. */
export const version = signal(0);

export interface Notice {
  id: number;
  words: string;
  failed: boolean;
  /** The run that undo takes; null where there is nothing to take back. */
  run: string | null;
  /** What takes the change back where no run of the store does. */
  back: (() => Promise<unknown>) | null;
  /** Called once the run is taken back, before what is on screen is read again. */
  onUndone: (() => void) | null;
}

/** What was done lately, the newest last; a notice stays until it is dismissed. */
export const notices = signal<readonly Notice[]>([]);
const MOST_NOTICES = 4;
let lastId = 0;

/** Show a sentence in the corner of the page and read it out. */
export function notify(words: string, { failed = false, run = null, back = null, onUndone = null }: Partial<Notice> = {}): void {
  lastId += 1;
  notices.value = [...notices.value, { id: lastId, words, failed, run, back, onUndone }].slice(-MOST_NOTICES);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export interface ChangeOptions {
  /**
   * Called once the change is made, before what is on screen is read again: to leave a view whose row is gone.
   */
  onDone?: () => void;
  /** The same once the change is taken back. */
  onUndone?: () => void;
}

export type Change = <T>(
  operation: string,
  args: Arguments,
  words: string | ((result: T) => string),
  options?: ChangeOptions,
) => Promise<T | null>;

/**
 * Return the function that every change goes through.
 *
 * It calls the operation, shows `words` with a button that undoes the run, and has the views read again.
 * It returns what the operation returned, or null where it failed: the notice then says why.
 */
export function useChange(): Change {
  return change;
}

export const change: Change = async <T,>(
  operation: string,
  args: Arguments,
  words: string | ((result: T) => string),
  { onDone, onUndone }: ChangeOptions = {},
): Promise<T | null> => {
  try {
    const { result, run } = await callToChange<T>(operation, args);
    onDone?.();
    version.value += 1;
    notify(typeof words === 'string' ? words : words(result), { run, onUndone: onUndone ?? null });
    return result;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    notify(error.message, { failed: true });
    return null;
  }
};

/** Whether a notice can be taken back. */
export const canUndo = (notice: Notice): boolean => notice.run !== null || notice.back !== null;

/** Take back the change of a notice. */
export async function undo(notice: Notice): Promise<void> {
  const { run, back } = notice;
  dismiss(notice.id);
  if (back !== null) {
    await back();
    return;
  }
  if (run === null) return;
  await change<Undone>(
    'undo',
    { id: run },
    (done) => (done.left.length ? `Undone, but ${done.left.length} rows stay: ${done.left[0]!.why}` : `Undone: ${notice.words}`),
    notice.onUndone ? { onDone: notice.onUndone } : {},
  );
}

/** Take back the newest change that a notice still shows. */
export function undoLast(): void {
  const last = notices.value.findLast(canUndo);
  if (last) void undo(last);
}
