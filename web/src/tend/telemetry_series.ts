// What the plots show, from the telemetry that `stats` returns: a value for each day, without gaps.
import type { Series } from '../parts/plot';
import type { Telemetry } from './types';

/** Return the last days of the report, oldest first, also those without a call. */
export function daysOf({ until }: Telemetry, most: number): string[] {
  const last = Date.parse(`${until}T00:00:00Z`);
  return Array.from({ length: most }, (_, index) => new Date(last - (most - 1 - index) * 86_400_000).toISOString().slice(0, 10));
}

function series<T extends { day: string | null }>(name: string, days: readonly string[], rows: readonly T[], value: (row: T) => number | null): Series {
  const byDay = new Map(rows.map((row) => [row.day, value(row)]));
  return { name, values: days.map((day) => byDay.get(day) ?? null) };
}

/** The 95th percentile of how long the most called operations took. */
export function latencies(of: Telemetry, days: readonly string[], most = 4): Series[] {
  const names = of.totals.filter((row) => row.p95_ms !== null).slice(0, most).map((row) => row.operation);
  return names.map((name) => series(name, days, of.operations.filter((row) => row.operation === name), (row) => row.p95_ms));
}

/** How many memories of each kind were stored. */
export function memoryKinds(of: Telemetry, days: readonly string[]): Series[] {
  const kinds = [...new Set(of.memories.map((row) => row.kind))].sort();
  return kinds.map((kind) => series(kind, days, of.memories.filter((row) => row.kind === kind), (row) => row.stored));
}

/** Tokens that agents were given, and those of the whole sources that they were spared. */
export function tokens(of: Telemetry, days: readonly string[]): Series[] {
  return [series('given', days, of.tokens, (row) => row.given), series('saved', days, of.tokens, (row) => row.saved)];
}

/** How well the gardener's scorer told true relations from wrong ones, in the nights that measured it. */
export function scorer(of: Telemetry, days: readonly string[]): Series[] {
  return [series('AUC', days, of.nights, (row) => row.auc)];
}

export const isEmpty = (all: readonly Series[]): boolean => all.every((one) => one.values.every((value) => value === null));
