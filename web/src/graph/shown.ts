// What a graph shows: nodes that were read, what a person expanded or hid, and what the filters leave.
import type { GraphEdge, GraphNode, GraphView } from '../types';

/** Most entities that are drawn at once: more cannot be told apart. */
export const MOST_SHOWN = 500;
/** Most entities that one expansion adds. */
export const MOST_ADDED = 20;

/** The nodes and edges that were read, and what became of them; never changed, only replaced. */
export interface Drawing {
  nodes: ReadonlyMap<string, GraphNode>;
  edges: readonly GraphEdge[];
  /** The node whose expansion brought a node; nodes that were there from the start are not in it. */
  broughtBy: ReadonlyMap<string, string>;
  hidden: ReadonlySet<string>;
  /** Entities within reach of the centre that were not read, because of the limit. */
  leftOut: number;
}

export interface Filters {
  /** Types of entities and of relations that are hidden. */
  withoutTypes: ReadonlySet<string>;
  withoutRelations: ReadonlySet<string>;
  /** Layers of relations that are hidden. */
  withoutLayers: ReadonlySet<string>;
  /** `now` and `then` show what is true at the moment, `any` what was ever true. */
  state: 'now' | 'then' | 'any';
  /** The moment of `then`, in milliseconds since 1970. */
  at: number;
}

export const NO_FILTERS: Filters = {
  withoutTypes: new Set(),
  withoutRelations: new Set(),
  withoutLayers: new Set(),
  state: 'now',
  at: 0,
};

const byId = (nodes: readonly GraphNode[]): Map<string, GraphNode> => new Map(nodes.map((node) => [node.id, node]));

/** Return the drawing of a neighbourhood that was read. */
export function drawn(view: GraphView): Drawing {
  return { nodes: byId(view.nodes), edges: view.edges, broughtBy: new Map(), hidden: new Set(), leftOut: view.left_out };
}

/** Return a drawing with rows that were read again: of the same nodes, as they are now. */
export function readAgain(before: Drawing, view: GraphView): Drawing {
  const nodes = byId(view.nodes);
  const broughtBy = new Map([...before.broughtBy].filter(([id, by]) => nodes.has(id) && nodes.has(by)));
  return { ...before, nodes, edges: view.edges, broughtBy, leftOut: view.left_out };
}

/** Return the neighbours that an expansion adds, of those that were read around a node, and how many it does not add. */
export function toAdd(before: Drawing, view: GraphView): { added: readonly GraphNode[]; more: number } {
  const room = Math.max(0, Math.min(MOST_ADDED, MOST_SHOWN - before.nodes.size));
  const fresh = view.nodes.filter((one) => !before.nodes.has(one.id));
  const added = fresh.slice(0, room).map((one) => ({ ...one, distance: null })); // from the centre it is not known yet
  return { added, more: fresh.length - added.length + view.left_out };
}

/** Return a drawing with neighbours of a node; their edges come when it is read again. */
export function expanded(before: Drawing, node: string, added: readonly GraphNode[]): Drawing {
  const near = new Set(before.edges.flatMap((edge) => (edge.source === node ? [edge.target] : edge.target === node ? [edge.source] : [])));
  return {
    ...before,
    nodes: new Map([...before.nodes, ...byId(added)]),
    broughtBy: new Map([...before.broughtBy, ...added.map((one) => [one.id, node] as const)]),
    hidden: new Set([...before.hidden].filter((id) => !near.has(id))), // to expand is to see the neighbours
  };
}

/** Return a drawing without what the expansion of a node brought, and what came from there. */
export function collapsed(before: Drawing, node: string): Drawing {
  const gone = new Set<string>();
  const take = (by: string): void => {
    for (const [id, from] of before.broughtBy) {
      if (from !== by || gone.has(id) || id === node) continue;
      gone.add(id);
      take(id);
    }
  };
  take(node);
  const withinReach = [...gone].filter((id) => before.nodes.get(id)?.distance !== null).length;
  return {
    ...before,
    leftOut: before.leftOut + withinReach,
    nodes: new Map([...before.nodes].filter(([id]) => !gone.has(id))),
    edges: before.edges.filter((edge) => !gone.has(edge.source) && !gone.has(edge.target)),
    broughtBy: new Map([...before.broughtBy].filter(([id]) => !gone.has(id))),
  };
}

/** Return a drawing with a node hidden, or with all nodes shown again. */
export const withHidden = (before: Drawing, node: string): Drawing => ({ ...before, hidden: new Set([...before.hidden, node]) });
export const withNothingHidden = (before: Drawing): Drawing => ({ ...before, hidden: new Set() });

/** Whether a relation is shown: by its type, its layer, and the time it was true. */
export function passes(edge: GraphEdge, filters: Filters, now: number): boolean {
  if (filters.withoutRelations.has(edge.type) || (edge.layer !== null && filters.withoutLayers.has(edge.layer))) return false;
  if (filters.state === 'any') return true;
  if (filters.state === 'now' && edge.state !== null && edge.state !== 'active') return false;
  if (edge.state === 'archived') return false; // was never true
  const at = filters.state === 'now' ? now : filters.at;
  return (edge.valid_from === null || Date.parse(edge.valid_from) <= at) && (edge.valid_to === null || at < Date.parse(edge.valid_to));
}

export interface Visible {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}

/**
 * Return what the filters leave: edges that pass, and nodes that such an edge joins or that stand in the centre.
 *
 * Without a centre, as in a community, nodes that no edge joins stay too: memories hold them together.
 */
export function visible(drawing: Drawing, filters: Filters, centre: string | null, now: number): Visible {
  const stays = (id: string): boolean => {
    const node = drawing.nodes.get(id);
    return node !== undefined && (id === centre || (!drawing.hidden.has(id) && !filters.withoutTypes.has(node.type)));
  };
  const edges = drawing.edges.filter((edge) => passes(edge, filters, now) && stays(edge.source) && stays(edge.target));
  const joined = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const nodes = [...drawing.nodes.values()];
  return { nodes: nodes.filter((node) => (centre === null ? stays(node.id) : node.id === centre || joined.has(node.id))), edges };
}

/** Return the moments at which a relation of the drawing began or ended, in order. */
export function moments(edges: readonly GraphEdge[]): number[] {
  const all = edges.flatMap((edge) => [edge.valid_from, edge.valid_to]).filter((at) => at !== null);
  return [...new Set(all.map((at) => Date.parse(at)))].sort((one, other) => one - other);
}

/** Return values with how often each occurs, the most frequent first. */
export function tally(values: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
}
