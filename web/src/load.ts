// What a view reads: loaded when it is shown, again after every change, and aborted when it is no longer wanted.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, CallError, page, project, type Arguments } from './api';
import { begin } from './busy';
import { version } from './changes';

export interface Loaded<T> {
  /** The last answer; it stays while the next one loads. */
  value: T | null;
  error: CallError | null;
  loading: boolean;
  again: () => void;
}

/**
 * Read what an operation returns.
 *
 * A newer question aborts the older request, so that answers never arrive out of order.
 *
 * Args:
 *   args: Its arguments; null asks nothing.
 *   keep: Whether the last answer stays while another question loads, as in a search while one types.
 */
export function useCall<T>(operation: string, args: Arguments | null, { keep = false } = {}): Loaded<T> {
  const asked = args === null ? null : JSON.stringify(args);
  return useLoad<T>(asked === null ? null : `${operation} ${asked}`, (signal) => call<T>(operation, args!, { signal }), { keep });
}

/** Read by a function of one's own; `question` names what it reads, and null reads nothing. */
export function useLoad<T>(question: string | null, read: (signal: AbortSignal) => Promise<T>, { keep = false } = {}): Loaded<T> {
  const [state, setState] = useState<{ question: string | null; value: T | null; error: CallError | null; loading: boolean }>({
    question: null,
    value: null,
    error: null,
    loading: false,
  });
  const [tries, setTries] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const ready = page.value !== null;
  const where = project.value;
  const ended = useRef<() => void>(() => undefined);
  useLayoutEffect(() => {
    if (question === null || !ready) return undefined;
    return (ended.current = begin()); // from here on, and not only once the question is sent, a frame later
  }, [question, version.value, where, ready, tries]);
  useEffect(() => {
    if (question === null || !ready) return undefined;
    const done = ended.current;
    const controller = new AbortController();
    setState((before) => ({ ...before, loading: true, error: null, value: keep || before.question === question ? before.value : null, question }));
    latest.current(controller.signal).then(
      (value) => {
        if (controller.signal.aborted) return;
        setState({ question, value, error: null, loading: false });
        done();
      },
      (error: unknown) => {
        if (controller.signal.aborted || (error as Error).name === 'AbortError') return;
        const known = error instanceof CallError ? error : new CallError('error', (error as Error).message);
        setState((before) => ({ ...before, error: known, loading: false }));
        done();
      },
    );
    return () => controller.abort();
  }, [question, version.value, where, ready, tries]);
  const mine = question !== null && (keep || state.question === question);
  return {
    value: mine ? state.value : null,
    error: question === null ? null : state.error,
    loading: question !== null && (state.loading || state.question !== question),
    again: () => setTries((count) => count + 1),
  };
}
