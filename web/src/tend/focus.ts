// The focus after a change that takes the focused row away.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Return a function to call before a change: once `value` is another one, the focus goes to what
 * `selector` finds within `place`, unless it is somewhere already.
 */
export function useFocusAfter(place: RefObject<HTMLElement | null>, value: unknown, selector: string): () => void {
  const waiting = useRef(false);
  useLayoutEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (waiting.current && lost) place.current?.querySelector<HTMLElement>(selector)?.focus();
    waiting.current = false;
  }, [value]);
  return () => {
    waiting.current = true;
  };
}
