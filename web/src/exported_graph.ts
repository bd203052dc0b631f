// The graph of a static export, walked over its tables of entities and relations.
import type { Arguments } from './api';
import type { Entity, GraphEdge, GraphNode, GraphView, RelationView } from './types';

/** Return entities by a part of a name or alias, or by id, as the operation `entities` does. */
export function exportedEntities(entities: readonly Entity[], args: Arguments): Entity[] {
  const part = String(args.containing ?? '').toLowerCase();
  return entities.filter((row) => row.id === args.containing || [row.name, ...row.aliases].some((name) => name.toLowerCase().includes(part)));
}

/** Return the relations of an entity by its name, alias or id, as the operation `relations` does. */
export function exportedRelations(relations: readonly RelationView[], entities: readonly Entity[], args: Arguments): RelationView[] {
  const states = Array.isArray(args.states) && args.states.length ? args.states : ['active'];
  const entity = args.entity === undefined ? null : entityNamed(entities, String(args.entity));
  if (args.entity !== undefined && entity === null) return [];
  return relations.filter((row) => states.includes(row.state) && (entity === null || row.subject === entity.name || row.object === entity.name));
}

/** Return what lies around an entity, nearest first, as the operation `graph` does; null where there is none. */
export function exportedGraph(entities: readonly Entity[], relations: readonly RelationView[], args: Arguments): GraphView | null {
  const centre = entityNamed(entities, String(args.center ?? entities[0]?.name ?? ''));
  if (centre === null) return null;
  const byName = new Map(entities.map((row) => [row.name, row]));
  const joined = relations.filter((row) => byName.has(row.subject) && byName.has(row.object));
  const next = new Map<string, string[]>();
  for (const row of joined) {
    next.set(row.subject, [...(next.get(row.subject) ?? []), row.object]);
    next.set(row.object, [...(next.get(row.object) ?? []), row.subject]);
  }
  const degree = (name: string): number => next.get(name)?.length ?? 0;
  const distances = reached(centre.name, next, Number(args.depth ?? 2));
  const ordered = [...distances.keys()].sort((one, other) => distances.get(one)! - distances.get(other)! || degree(other) - degree(one));
  const near = ordered.slice(0, Number(args.limit ?? 200));
  const also = (Array.isArray(args.also) ? args.also : []).flatMap((name) => entityNamed(entities, String(name))?.name ?? []);
  const shown = new Set([...near, ...also]);
  const nodes = [...shown].map((name) => nodeOf(byName.get(name)!, distances.get(name) ?? null, degree(name)));
  const edges = joined.filter((row) => shown.has(row.subject) && shown.has(row.object)).map((row) => edgeOf(row, byName));
  return { center: centre.name, nodes, edges, left_out: ordered.filter((name) => !shown.has(name)).length };
}

function entityNamed(entities: readonly Entity[], name: string): Entity | null {
  const key = name.toLowerCase();
  return (
    entities.find((row) => row.name.toLowerCase() === key) ??
    entities.find((row) => row.id === name || row.aliases.some((alias) => alias.toLowerCase() === key)) ??
    null
  );
}

/** Return the steps from a name to each that is within a depth. */
function reached(start: string, next: ReadonlyMap<string, readonly string[]>, depth: number): Map<string, number> {
  const distances = new Map([[start, 0]]);
  let edge = [start];
  for (let step = 1; step <= depth && edge.length; step += 1) {
    edge = [...new Set(edge.flatMap((name) => next.get(name) ?? []))].filter((name) => !distances.has(name));
    for (const name of edge) distances.set(name, step);
  }
  return distances;
}

const nodeOf = (row: Entity, distance: number | null, degree: number): GraphNode => ({
  id: row.id,
  name: row.name,
  kind: 'entity',
  type: row.type,
  distance,
  community: '',
  degree,
});

const edgeOf = (row: RelationView, byName: ReadonlyMap<string, Entity>): GraphEdge => ({
  source: byName.get(row.subject)!.id,
  target: byName.get(row.object)!.id,
  kind: 'relation',
  type: row.type,
  weight: row.confidence,
  id: row.id,
  inferred: row.origin === 'inferred',
  layer: row.layer,
  state: row.state,
  valid_from: row.valid_from,
  valid_to: row.valid_to,
});
