// Keys that a view adds while it is shown; those of the whole page are in keyboard.ts.
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Shortcut {
  key: string;
  words: string;
  run: () => void;
}

/** Whether the list of keys is shown. */
export const helpShown = signal(false);
/** Keys of the views that are shown. */
export const viewKeys = signal<readonly Shortcut[]>([]);

/**
 * Add keys while a component is shown; they stand in the list of keys. Each `key` is that of KeyboardEvent.
 *
 * They change in the moment that the component changes, not after the next frame: a key that is pressed at once
 * must mean what is on screen.
 */
export function useKeys(keys: readonly Shortcut[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map((one) => one.key).join(' ');
  useLayoutEffect(() => {
    const mine = latest.current.map((one, index) => ({ ...one, run: () => latest.current[index]?.run() }));
    viewKeys.value = [...viewKeys.value, ...mine];
    return () => {
      viewKeys.value = viewKeys.value.filter((one) => !mine.includes(one));
    };
  }, [names]);
}
