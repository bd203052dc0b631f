// Answers of a static export: the tables in data.js stand in for the server.
import type { Arguments } from './api';
import { exportedEntities, exportedGraph, exportedRelations } from './exported_graph';
import type { Chunk, Entity, History, LinkedChunk, PageInfo, RecalledMemory, RelationView, Session } from './types';

/** What `hydramem view --export` writes into data.js: rows as the operations return them. */
export interface Export {
  page: PageInfo;
  memories: LinkedChunk[];
  histories: { [id: string]: History };
  sessions: Session[];
  /** Results of further operations without arguments, by name: stats, changes, conflicts and so on. */
  answers: { [operation: string]: unknown };
  /** What the export left out, a sentence each. */
  left_out?: string[];
}

declare global {
  interface Window {
    HYDRAMEM_EXPORT?: Export;
  }
}

export const exported: Export | null = window.HYDRAMEM_EXPORT ?? null;

const NOT_IN_EXPORT = 'An export does not have this. Run hydramem view in the folder of the memory.';

const BY_TABLES = ['memories', 'timeline', 'get', 'history', 'sessions', 'recall'];

/** Whether an export has what an operation returns. */
export const isAnswered = (from: Export, operation: string): boolean => BY_TABLES.includes(operation) || operation in from.answers;

/** Return what an operation returns, from the tables of an export. */
export function answer(from: Export, operation: string, args: Arguments): unknown {
  switch (operation) {
    case 'memories':
      if (args.entity !== undefined) return found(undefined); // which memories mention what is not in an export
      return paged(listed(from.memories, args), args);
    case 'timeline':
      return paged(timeline(from.memories, args), args);
    case 'get':
      return found(from.memories.find((row) => row.id === args.id || row.id.startsWith(String(args.id))));
    case 'history':
      return found(from.histories[String(args.id)]);
    case 'sessions':
      return paged(from.sessions.filter((row) => args.session === undefined || [row.id, row.name].includes(String(args.session))), args);
    case 'recalled':
      return paged(recalled(from, args), args);
    case 'recall':
      return wordSearch(from.memories, args);
    case 'entities':
      return paged(exportedEntities(table<Entity>(from, 'entities'), args), args);
    case 'relations':
      return paged(exportedRelations(table<RelationView>(from, 'relations'), table<Entity>(from, 'entities'), args), args);
    case 'graph':
      return found(exportedGraph(table<Entity>(from, 'entities'), table<RelationView>(from, 'relations'), args) ?? undefined);
    default: {
      const known = from.answers[operation];
      return Array.isArray(known) ? paged(known, args) : found(known);
    }
  }
}

const table = <T,>(from: Export, operation: string): T[] => (from.answers[operation] as T[] | undefined) ?? [];

function recalled(from: Export, args: Arguments): RecalledMemory[] {
  const rows = found(from.answers.recalled as RecalledMemory[] | undefined);
  const name = from.sessions.find((row) => row.id === args.session)?.name ?? args.session;
  return rows.filter((row) => (name === undefined || row.session === name) && (args.id === undefined || row.id === args.id));
}

function found<T>(row: T | undefined): T {
  if (row === undefined) throw new Error(NOT_IN_EXPORT);
  return row;
}

function paged<T>(rows: T[], args: Arguments): T[] {
  const from = Number(args.offset ?? 0);
  return rows.slice(from, from + Number(args.limit ?? 50));
}

const among = (given: unknown, value: string): boolean =>
  !Array.isArray(given) || given.length === 0 || given.includes(value);

const under = (scope: unknown, path: string): boolean =>
  typeof scope !== 'string' || scope === '/' || path === scope || path.startsWith(`${scope.replace(/\/$/, '')}/`);

function listed(rows: LinkedChunk[], args: Arguments): LinkedChunk[] {
  const states = args.states ?? ['active'];
  const wanted = rows.filter(
    (row) =>
      among(args.kinds ?? ['note', 'fact', 'event', 'turn'], row.kind) &&
      among(states, row.state) &&
      (args.expired !== true || (row.expires_at !== null && Date.parse(row.expires_at) <= Date.now())) &&
      (!Array.isArray(args.categories) || args.categories.some((label) => row.categories.includes(String(label)))) &&
      (args.session === undefined || row.session === args.session) &&
      under(args.scope, row.scope),
  );
  return wanted.sort((a, b) => b.times.recorded_at.localeCompare(a.times.recorded_at));
}

const moment = (row: Chunk): string => row.happened_at ?? row.times.valid_from ?? '';

function timeline(rows: LinkedChunk[], args: Arguments): LinkedChunk[] {
  const start = String(args.start ?? '');
  const end = args.end === undefined ? '\uffff' : `${String(args.end)}\uffff`;
  return rows
    .filter((row) => among(args.kinds ?? ['event', 'fact', 'note'], row.kind) && row.state === 'active' && row.happened_at)
    .filter((row) => moment(row) >= start && moment(row) <= end)
    .sort((a, b) => moment(a).localeCompare(moment(b)));
}

/** An export has no embedder: what holds every word of the query is found, newest first, without relevance. */
function wordSearch(rows: LinkedChunk[], args: Arguments): unknown {
  const words = String(args.query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const hits = listed(rows, { ...args, kinds: args.kinds ?? ['passage', 'note', 'fact', 'event', 'turn'] })
    .filter((row) => words.every((word) => row.text.toLowerCase().includes(word)))
    .slice(0, Number(args.limit ?? 10))
    .map((row) => ({ ...row, score: 1, relevance: null, scores: {}, path: [], newer: null, older: null, why: 'It holds every word of the query.' }));
  return { query: args.query, hits, answered: hits.length > 0, floor: 0, entities: [], milliseconds: {}, explanation: null, skipped: [] };
}
