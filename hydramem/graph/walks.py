"""Walks over a graph's arrays: breadth-first search, shortest path, common neighbours, PageRank.

Pure functions. A mask of edges says what a walk may use, a mask of nodes what it may pass; None lets
everything through.

Personalized PageRank: Jeh and Widom, "Scaling Personalized Web Search" (2003); seeded by a question's
entities over a graph of entities and passages: Gutierrez et al., "HippoRAG" (2024). A large graph is
not walked whole: there probability is pushed outward as far as it matters (`graph.push`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.pagerank import push, strengths
from hydramem.graph.snapshot.adjacency import Adjacency, Expansion, Ints, Rows

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
WALKED_WHOLE = 10_000

# Half-edges that a breadth-first search with a limit looks at before it looks whether that was enough.
_EXPANDED = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a breadth-first search reached, nearest first.

    Attributes:
        nodes: The nodes, the starts first.
        distances: Steps from the nearest start.
        halves: The half-edge that each was reached by; -1 for starts.
        parents: The place in `nodes` that it was reached from; -1 for starts.
    """

    nodes: Ints
    distances: Ints
    halves: Ints
    parents: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Nodes and their probability, which is zero everywhere else."""

    nodes: Ints
    probability: Floats


def bfs(
    graph: Adjacency,
    starts: Ints,
    *,
    depth: int,
    edges: Mask | None = None,
    nodes: Mask | None = None,
    limit: int | None = None,
) -> Reached:
    """Search outward from some nodes, level by level.

    Args:
        graph: Who is next to whom.
        starts: Where to begin; repeats are dropped.
        depth: Most steps to go.
        edges, nodes: What may be walked.
        limit: Stop once this many nodes are reached; the level it falls in is cut, first come first.
    """
    first = _distinct(starts)
    seen = np.zeros(graph.size, dtype=np.bool_)
    seen[first] = True
    levels = [_level(first, np.full(len(first), -1), np.full(len(first), -1))]
    total, before = len(first), 0
    for _ in range(depth):
        fresh = _fresh(graph, levels[-1][0], seen, edges, nodes, None if limit is None else limit - total)
        if not len(fresh.neighbors):
            break
        levels.append(_level(fresh.neighbors, fresh.halves, fresh.origins + before))
        before = total
        total += len(fresh.neighbors)
    steps = np.repeat(np.arange(len(levels)), [len(level[0]) for level in levels])
    found, halves, parents = (np.concatenate(column) for column in zip(*levels, strict=True))
    return Reached(nodes=found, distances=steps.astype(np.int32), halves=halves, parents=parents)


def _fresh(
    graph: Adjacency, frontier: Ints, seen: Mask, edges: Mask | None, nodes: Mask | None, limit: int | None
) -> Expansion:
    """Return the way to each node next to a frontier that was not seen before, first come first, and see it.

    The frontier is expanded a part at a time, so that a hub behind the limit costs nothing.
    """
    parts = [Expansion(origins=np.zeros(0, np.int64), neighbors=frontier[:0], halves=frontier[:0])]
    ends = np.cumsum(graph.degrees(frontier)) if limit is not None else np.zeros(len(frontier))
    found = begin = 0
    while begin < len(frontier) and (limit is None or found < limit):
        behind = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, behind + _EXPANDED, side="right")))
        out = _admitted(graph.expand(frontier[begin:end]), edges, nodes)
        out = _kept(out, ~seen[out.neighbors])
        # Of several ways to a node the first is kept: the last one written backwards.
        place = np.empty(graph.size, dtype=np.int32)
        order = np.arange(len(out.neighbors), dtype=np.int32)
        place[out.neighbors[::-1]] = order[::-1]
        first = np.flatnonzero(place[out.neighbors] == order)[: None if limit is None else limit - found]
        parts.append(replace(_kept(out, first), origins=out.origins[first] + begin))
        seen[parts[-1].neighbors] = True
        found += len(first)
        begin = end
    columns = ((part.origins, part.neighbors, part.halves) for part in parts)
    origins, neighbors, halves = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Expansion(origins=origins, neighbors=neighbors, halves=halves)


def _level(nodes: Any, halves: Any, parents: Any) -> tuple[Ints, Ints, Ints]:
    return nodes.astype(np.int32), halves.astype(np.int32), parents.astype(np.int32)


def _distinct(nodes: Ints) -> Ints:
    _, places = np.unique(nodes, return_index=True)
    return nodes[np.sort(places)]


def _admitted(out: Expansion, edges: Mask | None, nodes: Mask | None) -> Expansion:
    if edges is None and nodes is None:
        return out
    keep = np.ones(len(out.halves), dtype=np.bool_)
    if edges is not None:
        keep &= edges[out.halves >> 1]
    if nodes is not None:
        keep &= nodes[out.neighbors]
    return _kept(out, keep)


def trail(reached: Reached, place: int) -> tuple[int, ...]:
    """Return the half-edges that lead from a start to the node at this place, in walking order."""
    halves: list[int] = []
    while reached.parents[place] >= 0:
        halves.append(int(reached.halves[place]))
        place = int(reached.parents[place])
    return tuple(reversed(halves))


def shortest_path(
    graph: Adjacency,
    start: int,
    end: int,
    *,
    depth: int,
    edges: Mask | None = None,
    nodes: Mask | None = None,
) -> tuple[int, ...] | None:
    """Return the half-edges of a shortest path in walking order; None where there is none.

    Searches from both ends, always where the frontier has fewer edges to follow.

    Args:
        graph: Who is next to whom.
        start, end: The two nodes; equal ones give an empty path.
        depth: Most steps of a path.
        edges, nodes: What may be walked; the ends themselves always may.
    """
    if start == end:
        return ()
    sides: tuple[_Side, _Side] = ({start: (-1, -1)}, {end: (-1, -1)})
    frontiers = [np.array([node], dtype=np.int32) for node in (start, end)]
    if nodes is not None:
        nodes = nodes.copy()
        nodes[[start, end]] = True
    for _ in range(depth):
        costs = [int(graph.degrees(frontier).sum()) for frontier in frontiers]
        side = int(costs[1] < costs[0])
        fresh = _spread(_admitted(graph.expand(frontiers[side]), edges, nodes), frontiers[side], sides[side])
        meeting = next((node for node in fresh if node in sides[1 - side]), None)
        if meeting is not None:
            backward = _back(sides[1], meeting)
            return (*reversed(_back(sides[0], meeting)), *(half ^ 1 for half in backward))
        if not fresh:
            return None
        frontiers[side] = np.array(fresh, dtype=np.int32)
    return None


_Side = dict[int, tuple[int, int]]


def _spread(out: Expansion, frontier: Ints, side: _Side) -> list[int]:
    fresh: list[int] = []
    columns = out.neighbors.tolist(), out.halves.tolist(), frontier[out.origins].tolist()
    for neighbor, half, origin in zip(*columns, strict=True):
        if neighbor not in side:
            side[neighbor] = (origin, half)
            fresh.append(neighbor)
    return fresh


def _back(side: _Side, node: int) -> list[int]:
    halves: list[int] = []
    while True:
        node, half = side[node]
        if half < 0:
            return halves
        halves.append(half)


def common_neighbors(
    graph: Adjacency, first: int, second: int, *, edges: Mask | None = None, nodes: Mask | None = None
) -> Ints:
    """Return the nodes next to both, ascending; neither is its own neighbour."""
    one, other = (
        np.unique(_admitted(graph.expand(np.array([node])), edges, nodes).neighbors)
        for node in (first, second)
    )
    keep = np.isin(one, other, assume_unique=True) & (one != first) & (one != second)
    shared: Ints = one[keep]
    return shared


def personalized_pagerank(
    graph: Adjacency,
    seeds: Ints,
    mass: Floats,
    *,
    weights: Floats,
    damping: float = 0.7,
    iterations: int = 15,
    edges: Mask | None = None,
    nodes: Mask | None = None,
    whole: int = WALKED_WHOLE,
) -> Ranked:
    """Spread probability from seeds along edges, going back to the seeds with probability 1 - damping.

    Args:
        graph: Who is next to whom.
        seeds: Nodes to start from, shape (seeds,).
        mass: Their share of the restart, same shape; need not sum to one, not negative.
        weights: Weight of each edge, shape (edges,); the walk takes an edge in proportion to what
            `push.strengths` makes of it.
        damping: Probability that the walk goes on rather than restarts.
        iterations: Steps of power iteration.
        edges, nodes: What may be walked.
        whole: Largest graph, in nodes, to be walked whole; on a larger one the result is close.

    Returns:
        Probability of each node reached; it sums to one, and is empty where there is no mass.
    """
    mass = np.asarray(mass, dtype=np.float64)
    if not mass.sum() > 0:
        return Ranked(nodes=np.zeros(0, dtype=np.int32), probability=np.zeros(0, dtype=np.float32))
    if graph.size > whole:
        found, share = push(
            graph,
            np.bincount(seeds, weights=mass / mass.sum(), minlength=graph.size).astype(np.float64),
            weights=weights,
            damping=damping,
            rounds=iterations,
            edges=edges,
            nodes=nodes,
        )
        return Ranked(nodes=found, probability=share)
    starts, which = np.unique(seeds, return_inverse=True)
    inside, matrix, strength = _reachable(graph, starts, weights, edges, nodes)
    # What is reachable begins with the seeds.
    restart = np.zeros(len(inside), dtype=np.float32)
    restart[: len(starts)] = np.bincount(which, weights=mass / mass.sum())
    # A node without edges gives its probability back to the seeds, so that none is lost.
    dangling = strength == 0
    scale = np.divide(damping, strength, out=np.zeros_like(strength), where=~dangling)
    probability = restart
    for _ in range(iterations):
        lost = damping * float(probability[dangling].sum())
        probability = matrix @ (probability * scale) + restart * (1 - damping + lost)
    return Ranked(nodes=inside, probability=probability)


def _reachable(
    graph: Adjacency, frontier: Ints, weights: Floats, edges: Mask | None, nodes: Mask | None
) -> tuple[Ints, Any, Floats]:
    """Gather the nodes that some nodes lead to, and the edges between them, each node expanded once.

    Returns:
        The nodes; their symmetric weight matrix, shape (nodes, nodes); its row sums.
    """
    from scipy.sparse import csr_matrix

    place = np.full(graph.size, -1, dtype=np.int32)
    total = 0
    inside: list[Ints] = []
    levels: list[tuple[Rows, Ints, Floats]] = []
    while len(frontier):
        place[frontier] = np.arange(total, total + len(frontier), dtype=np.int32)
        inside.append(frontier)
        out = graph.expand(frontier)
        rows = out.halves >> 1
        if edges is not None:
            keep = edges[rows]
            out, rows = _kept(out, keep), rows[keep]
        levels.append((out.origins + total, out.neighbors, strengths(weights[rows])))
        total += len(frontier)
        fresh = np.zeros(graph.size, dtype=np.bool_)
        fresh[out.neighbors] = True
        fresh &= place < 0
        if nodes is not None:
            fresh &= nodes
        frontier = np.flatnonzero(fresh).astype(np.int32)
    origins, ends, values = (np.concatenate(column) for column in zip(*levels, strict=True))
    columns = place[ends]
    within = np.flatnonzero(columns >= 0)
    if len(graph.extra_nodes):
        # Later edges stand behind the base's; rows want theirs together.
        within = within[np.argsort(origins[within], kind="stable")]
    origins, columns, values = origins[within], columns[within], values[within]
    ends_of_rows = np.zeros(total + 1, dtype=np.int32)
    np.cumsum(np.bincount(origins, minlength=total), out=ends_of_rows[1:])
    matrix = csr_matrix((values, columns, ends_of_rows), shape=(total, total))
    strength = np.bincount(origins, weights=values, minlength=total).astype(np.float32)
    return np.concatenate(inside), matrix, strength


def _kept(out: Expansion, keep: Mask | Rows) -> Expansion:
    return Expansion(origins=out.origins[keep], neighbors=out.neighbors[keep], halves=out.halves[keep])
