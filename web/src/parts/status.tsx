// What a view shows while it loads, where that failed, and where there is nothing.
import type { ComponentChildren } from 'preact';
import { UNAUTHORIZED, UNREACHABLE } from '../api';
import type { Loaded } from '../load';
import { Button } from './button';

export interface LoadedProps<T> {
  of: Loaded<T>;
  children: (value: T) => ComponentChildren;
}

/** The answer once it is there; else that it loads, or why it could not be loaded and a button to try again. */
export function WhenLoaded<T>({ of, children }: LoadedProps<T>) {
  return (
    <>
      {of.error && of.error.code !== UNREACHABLE && of.error.code !== UNAUTHORIZED && (
        <div class="failure" role="alert">
          <p dir="auto">{of.error.message}</p>
          <Button onClick={of.again}>Try again</Button>
        </div>
      )}
      {of.value !== null ? children(of.value) : of.loading && !of.error ? <p class="quiet">Loading…</p> : null}
    </>
  );
}

/** Says that there is nothing, and what to do about it. */
export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}
