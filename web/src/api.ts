// Calls of operations: to the server of this page, or to the data of a static export.
import { signal } from '@preact/signals';
import { begin } from './busy';
import { answer, exported, isAnswered } from './exported';
import type { Json, PageInfo } from './types';

/** A call that failed: `code` is the class of the library's error, or one of the two below. */
export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
/** Code of a call that reached no server. */
export const UNREACHABLE = 'unreachable';
/** Code of a call whose token the server did not accept. */
export const UNAUTHORIZED = 'unauthorized';

/** Arguments of an operation by name; what is undefined or null is left to the operation's default. */
export type Arguments = Record<string, Json | undefined>;
/** What a change returned, and the run that undo takes; null where nothing changed. */
export interface Changed<T> {
  result: T;
  run: string | null;
}
export interface Progress {
  done: number;
  total: number;
  what: string;
}
interface JobView {
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  progress: Progress | null;
  result: Json;
  run?: string | null;
  error?: { code: string; message: string } | null;
}

/** Whether the last call reached the server. */
export const reachable = signal(true);
/** Whether the server refused the token of this tab. */
export const refused = signal(false);
/** What the server says of itself; null until it has answered. */
export const page = signal<PageInfo | null>(null);
/** The project that is read and written. */
export const project = signal<string | null>(null);

const TOKEN = 'hydramem-token';

/** Move the token from the address to this tab's storage, so that it is neither shown nor kept in a history. */
export function takeToken(): void {
  const given = /^#token=([^&]+)$/.exec(location.hash);
  if (!given) return;
  sessionStorage.setItem(TOKEN, decodeURIComponent(given[1]!));
  history.replaceState(null, '', location.pathname + location.search);
}

/** Whether this tab can call: it has a token, or shows an export. */
export const hasAccess = (): boolean => exported !== null || sessionStorage.getItem(TOKEN) !== null;

/** Whether nothing can be changed here. */
export const isReadOnly = (): boolean => exported !== null || page.value?.read_only === true;

/** Whether the store that is shown has this operation. */
export const offers = (operation: string): boolean =>
  exported ? isAnswered(exported, operation) : page.value?.operations.some((row) => row.name === operation) === true;

async function request(method: string, path: string, body?: Arguments, more?: RequestInit): Promise<Json> {
  const ended = begin();
  try {
    return await send(method, path, body, more);
  } finally {
    ended();
  }
}

async function send(method: string, path: string, body?: Arguments, more?: RequestInit): Promise<Json> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(body !== undefined, more?.headers),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(more?.signal ? { signal: more.signal } : {}),
      cache: 'no-store',
    });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    reachable.value = false;
    throw new CallError(UNREACHABLE, 'The server of this page does not answer. It may have ended.');
  }
  reachable.value = true;
  refused.value = response.status === 401;
  if (refused.value) {
    throw new CallError(UNAUTHORIZED, 'This tab has no valid token. Run hydramem view, and open the address that it prints.');
  }
  const answered = (await response.json().catch(() => null)) as {
    error?: { code: string; message: string };
  } | null;
  if (!response.ok || answered === null) {
    throw new CallError(
      answered?.error?.code ?? String(response.status),
      answered?.error?.message ?? `The server answered ${response.status}.`,
    );
  }
  return answered as Json;
}

function headers(hasBody: boolean, more?: HeadersInit): Headers {
  const all = new Headers(more);
  all.set('authorization', `Bearer ${sessionStorage.getItem(TOKEN) ?? ''}`);
  if (hasBody) all.set('content-type', 'application/json');
  return all;
}

/** Return the arguments that are given, with the project where the operation takes one. */
function given(operation: string, args: Arguments): Arguments {
  const set = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const row = page.value?.operations.find((one) => one.name === operation);
  if (project.value !== null && !('project' in set) && row?.arguments?.includes('project')) {
    set.project = project.value;
  }
  return set;
}

/** Load what the server says of itself; the project of its handle is shown first. */
export async function loadPage(): Promise<void> {
  const loaded = exported ? exported.page : ((await request('GET', 'api/page')) as unknown as PageInfo);
  page.value = loaded;
  project.value ??= loaded.project;
}

/** Call an operation that reads. */
export async function call<T>(operation: string, args: Arguments = {}, options: { signal?: AbortSignal } = {}): Promise<T> {
  const asked = given(operation, args);
  if (exported) return answer(exported, operation, asked) as T;
  const done = (await request('POST', `api/call/${operation}`, asked, options)) as unknown as Changed<T>;
  return done.result;
}

/** Call an operation that writes; a repeated request with the same id is done once. */
export async function callToChange<T>(operation: string, args: Arguments): Promise<Changed<T>> {
  if (exported) throw new CallError('read_only', 'An export cannot be changed.');
  const more = { headers: { 'idempotency-key': crypto.randomUUID() } };
  return (await request('POST', `api/call/${operation}`, given(operation, args), more)) as unknown as Changed<T>;
}

/** Read something that no operation returns, such as `api/neighborhood?entity=Ada`. */
export async function readRoute<T>(path: string, options: { signal?: AbortSignal } = {}): Promise<T> {
  return (await request('GET', path, undefined, options)) as T;
}

/**
 * Run a long operation as a job of the server, and return what it returned.
 *
 * The stream of its progress is open only while the job runs and the tab is shown: a browser has six
 * connections to a server, and idle tabs would use them up.
 */
export async function startJob<T>(
  operation: string,
  args: Arguments,
  onProgress: (progress: Progress) => void,
  options: { signal?: AbortSignal } = {},
): Promise<Changed<T>> {
  if (exported) throw new CallError('read_only', 'An export cannot be changed.');
  const { job } = (await request('POST', `api/jobs/${operation}`, given(operation, args))) as unknown as { job: string };
  const path = `api/jobs/${encodeURIComponent(job)}`;
  options.signal?.addEventListener('abort', () => void request('DELETE', path).catch(() => undefined));
  for (;;) {
    const view = (await request('GET', path)) as unknown as JobView;
    if (view.progress) onProgress(view.progress);
    if (view.state === 'done') return { result: view.result as T, run: view.run ?? null };
    if (view.state === 'failed' || view.state === 'cancelled') {
      throw new CallError(view.error?.code ?? view.state, view.error?.message ?? 'It was cancelled.');
    }
    await (document.hidden ? shown() : listen(`${path}/events`, onProgress));
  }
}

/** Wait until the tab is shown, at most a few seconds. */
function shown(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 3000));
}

/** Follow a job's events until it ends, the tab is hidden or the stream breaks. */
async function listen(path: string, onProgress: (progress: Progress) => void): Promise<void> {
  const closing = new AbortController();
  const hide = (): void => closing.abort();
  document.addEventListener('visibilitychange', hide);
  try {
    const response = await fetch(path, { headers: headers(false), signal: closing.signal, cache: 'no-store' });
    if (!response.ok || !response.body) return await shown();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let kept = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (kept + value).replaceAll('\r\n', '\n').split('\n\n');
      kept = events.pop() ?? '';
      for (const event of events) {
        const name = /^event: *(.*)$/m.exec(event)?.[1];
        const data = /^data: *(.*)$/m.exec(event)?.[1];
        if (name === 'progress' && data) onProgress(JSON.parse(data) as Progress);
        if (name === 'done' || name === 'failed') return;
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') await shown();
  } finally {
    document.removeEventListener('visibilitychange', hide);
    closing.abort();
  }
}
