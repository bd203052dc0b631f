// What the rows return that tend a memory: the gardener, curated files, health, and what calls took.

export interface ProposedChange {
  id: string;
  phase: string;
  action: string;
  target: string;
  text: string;
  reason: string;
  score: number | null;
}

export interface PhaseReport {
  phase: string;
  state: string;
  proposals: number;
  applied: number;
  refused: number;
  standing: number;
  dropped: number;
  left: number;
  counts: { [name: string]: number };
  notes: string[];
  seconds: number;
}

export interface SummaryLine {
  kind: string;
  count: number;
  what: string;
  example: string;
  command: string | null;
}

export interface StoreHealth {
  duplicates: number;
  stale_pairs: number;
  split_names: number;
  doubtful_relations: number;
  questions: number;
}

export interface NightHealth {
  started_at: string;
  run: string | null;
  health: StoreHealth;
}

export interface Gardened {
  project: string;
  run: string | null;
  started_at: string;
  seconds: number;
  state: 'planned' | 'completed' | 'partial' | 'failed' | 'interrupted';
  phases: PhaseReport[];
  taken_back: boolean;
  notes: string[];
  changes: ProposedChange[];
  refused: { id: string; text: string; why: string }[];
  plan: string | null;
  summary: SummaryLine[];
  trend: NightHealth[];
}

export interface Curated {
  target: 'memory' | 'user';
  path: string;
  entries: string[];
  version: string;
  chars: number;
  limit: number;
  problems: string[];
  changed: boolean;
}

export interface Document {
  id: string;
  source: string;
  source_type: string;
  title: string;
  state: string;
  times: { recorded_at: string };
}

export interface Diagnosis {
  healthy: boolean;
  chunks_in_graph: number;
  chunks_in_vectors: number;
  entities_in_graph: number;
  entities_in_vectors: number;
  missing: number;
  stale: number;
  orphaned: number;
  lost: number;
  damaged: number;
  pending: number;
  problems: string[];
  warnings: string[];
}

export interface OperationDay {
  day: string | null;
  operation: string;
  calls: number;
  errors: number;
  p50_ms: number | null;
  p95_ms: number | null;
  hits: number;
  answered_share: number | null;
  relevance: number | null;
}

export interface Telemetry {
  since: string;
  until: string;
  state: string;
  bytes: number;
  dropped: number;
  operations: OperationDay[];
  totals: OperationDay[];
  tokens: { day: string; given: number; baseline: number; saved: number }[];
  memories: { day: string; kind: string; stored: number }[];
  nights: { day: string; runs: number; effects: { [phase: string]: number }; auc: number | null }[];
}
