// What operations return, as the server writes it: times are ISO text, what is unknown is null.

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json | undefined };

export interface PageInfo {
  version: string;
  folder: string;
  project: string;
  projects: string[];
  read_only: boolean;
  model: boolean;
  operations: { name: string; effect: 'read' | 'write' | 'destroy'; once: boolean; arguments?: string[] }[];
}

export type Kind = 'passage' | 'note' | 'fact' | 'event' | 'turn';
export type Layer = 'working' | 'curated' | 'shared' | 'verified';
export type State = 'active' | 'superseded' | 'archived' | 'quarantined';

export interface Times {
  recorded_at: string;
  retired_at: string | null;
  valid_from: string | null;
  valid_to: string | null;
}

export interface Chunk {
  id: string;
  project: string;
  text: string;
  kind: Kind;
  document: string | null;
  session: string | null;
  position: number;
  heading_path: string[];
  tokens: number;
  source: string;
  source_type: string;
  author: string | null;
  private: boolean;
  scope: string;
  categories: string[];
  keywords: string[];
  summary: string | null;
  importance: number;
  confidence: number;
  layer: Layer;
  state: State;
  event_type: string | null;
  happened_at: string | null;
  expires_at: string | null;
  times: Times;
  recall_count: number;
  last_recalled_at: string | null;
  metadata: { [name: string]: Json };
}

export interface LinkView {
  id: string;
  type: string;
  weight: number;
  reason: string;
  other: string;
  text: string;
  forward: boolean;
}

export interface LinkedChunk extends Chunk {
  links: LinkView[];
}

export interface PathStep {
  source: string;
  label: string;
  target: string;
  forward: boolean;
  inferred: boolean;
}

export interface OtherVersion {
  id: string;
  text: string;
  probability: number;
}

export interface Hit {
  id: string;
  text: string;
  score: number;
  source: string;
  kind: Kind;
  project: string;
  layer: Layer;
  document: string | null;
  session: string | null;
  author: string | null;
  scope: string;
  happened_at: string | null;
  relevance: number | null;
  scores: { [part: string]: number };
  path: PathStep[];
  links: LinkView[];
  newer: OtherVersion | null;
  older: OtherVersion | null;
  why: string;
  heading_path: string[];
}

export interface Explanation {
  traversal: string;
  shape: string;
  dates: { text: string; start: string; end: string; every_year: boolean }[];
  entities: { entity: string; found_by: string; chunks: number; rarity: number }[];
  arms: { arm: string; weight: number; candidates: number; hits: number }[];
  fused: number;
}

export interface Recall {
  query: string;
  hits: Hit[];
  answered: boolean;
  floor: number;
  entities: string[];
  milliseconds: { [stage: string]: number };
  explanation: Explanation | null;
  skipped: string[];
}

export interface Entity {
  id: string;
  project: string;
  key: string;
  name: string;
  type: string;
  aliases: string[];
  description: string | null;
  first_seen: string;
  last_seen: string;
  mention_count: number;
}

export interface RelationView {
  id: string;
  subject: string;
  type: string;
  object: string;
  confidence: number;
  origin: string;
  layer: Layer;
  state: State;
  quote: string | null;
  evidence: string[];
  verdict: 'accepted' | 'rejected' | 'deferred' | null;
  probability: number | null;
  verifier: string | null;
  verified_at: string | null;
  valid_from: string | null;
  valid_to: string | null;
  recorded_at: string;
  retired_at: string | null;
}

export interface FieldChange {
  field: string;
  before: string | null;
  after: string | null;
}

export interface HistoryEntry {
  at: string;
  actor: string;
  operation: string;
  reason: string | null;
  created: boolean;
  fields: FieldChange[];
  run: string | null;
  through: string | null;
}

export interface MemoryVersion {
  id: string;
  text: string;
  state: State;
  recorded_at: string;
  ended_at: string | null;
}

export interface History {
  id: string;
  kind: string;
  text: string;
  entries: HistoryEntry[];
  versions: MemoryVersion[];
}

export interface RunOfChanges {
  run: string;
  at: string;
  actors: string[];
  operations: string[];
  projects: string[];
  changes: number;
  about: string;
  reason: string | null;
  undone: boolean;
}

export interface ConflictSide {
  id: string;
  text: string;
  quote: string | null;
  evidence: string[];
  source: string;
  said_at: string;
  valid_from: string | null;
  valid_to: string | null;
}

export interface Conflict {
  id: string;
  kind: string;
  entity: string | null;
  older: ConflictSide;
  newer: ConflictSide;
  score: number;
  explanation: string;
  judged_by: string;
}

export interface Conflicts {
  conflicts: Conflict[];
  chunks: number;
  notes: string[];
}

export interface Question {
  id: string;
  kind: string;
  project: string;
  text: string;
  reason: string;
  rows: string[];
  evidence: string[];
  probability: number | null;
  choices: string[];
}

export interface Reviewed {
  answered: number;
  not_taken: { id: string; why: string }[];
  waiting: number;
  questions: Question[];
}

export interface Session {
  id: string;
  project: string;
  name: string;
  started_at: string;
  last_at: string;
  metadata: { [name: string]: Json };
}

export interface Job {
  id: string;
  project: string;
  kind: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  attempts: number;
  error: string | null;
  created_at: string;
  updated_at: string;
}

export interface Stats {
  path: string;
  engine: string;
  embedder: string;
  generator: string | null;
  counts: { [table: string]: number };
  projects: { name: string; documents: number; chunks: number; memories: number; entities: number; relations: number }[];
  pending: number;
  disk_bytes: { [folder: string]: number };
  jobs: { [state: string]: number };
  expired: number;
  limits: { limit: string; project: string | null; used: number; allowed: number; over: boolean }[];
}

export interface Undone {
  run: string;
  of: string;
  operations: string[];
  removed: { [table: string]: number };
  restored: { [table: string]: number };
  left: { id: string; what: string; why: string }[];
  notes: string[];
}

export interface RecalledMemory {
  id: string;
  text: string;
  kind: Kind;
  state: State;
  source: string;
  session: string;
  at: string;
  rank: number;
  query: string | null;
}

export interface Surroundings {
  starts: string[];
  entities: { entity: string; type: string; distance: number; score: number; via: PathStep[] }[];
  chunks: { id: string; text: string; kind: Kind; layer: Layer; source: string; distance: number; score: number }[];
  left_out: number;
}

export interface Forgotten {
  chunks: string[];
  relations: number;
}

export interface Remembered {
  id: string;
  created: boolean;
  run: string | null;
}
export interface GraphNode {
  id: string;
  name: string;
  kind: 'entity' | 'chunk';
  type: string;
  distance: number | null;
  community: string;
  degree: number;
}

export interface GraphEdge {
  source: string;
  target: string;
  kind: string;
  type: string;
  weight: number;
  id: string;
  inferred: boolean;
  layer: Layer | null;
  state: State | null;
  valid_from: string | null;
  valid_to: string | null;
}

export interface GraphView {
  center: string | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
  left_out: number;
}

export interface Community {
  id: string;
  name: string;
  entities: number;
  chunks: number;
  central: string[];
  members: string[];
  summary: string;
}

export interface EntityChange {
  entity: Entity;
  created: boolean;
  changed: string[];
}

export interface Merged {
  entity: Entity;
  merged: string[];
  mentions: number;
  relations: number;
  united: number;
  dropped: string[];
  run: string | null;
}

export interface Divided {
  entities: Entity[];
  kept: Entity;
  mentions: number;
  relations: number;
  left: string[];
  run: string | null;
}

export interface Related {
  relation: RelationView;
  created: boolean;
  stored: boolean;
  explanation: string;
  superseded: RelationView[];
  conflicts: RelationView[];
  notes: string[];
}
