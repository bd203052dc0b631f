"""Walks over a graph's arrays: breadth-first search and shortest path.

Pure functions. A mask of edges says which edges a walk may use, a mask of nodes which it may pass; None
admits all.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.adjacency import Adjacency, Expansion, Ints, Mask

Floats = NDArray[np.float32]
# Half-edges that a breadth-first search with a limit expands before it checks the limit.
_EXPANDED = 8192

# What one side of a two-sided search reached: for each node the one before it, and the half-edge from there.
_Side = dict[int, tuple[int, int]]


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


def bfs(
    graph: Adjacency,
    starts: Ints,
    *,
    depth: int,
    edges: Mask | None = None,
    nodes: Mask | None = None,
    ends: Mask | None = None,
    limit: int | None = None,
    weights: Floats | None = None,
) -> Reached:
    """Search outward from some nodes, level by level.

    Args:
        starts: Where to begin; repeats are dropped.
        edges, nodes: What the search may use.
        ends: Nodes that it reaches and does not go on from, unless it begins there.
        limit: Stop once this many nodes are reached; the level it falls in is cut, first come first.
        weights: Of each edge, shape (edges,): of the edges that lead on from a level the heaviest come first.
            None keeps their order.
    """
    _, places = np.unique(starts, return_index=True)
    first = starts[np.sort(places)]
    seen = np.zeros(graph.size, dtype=np.bool_)
    seen[first] = True
    levels = [_level(first, np.full(len(first), -1), np.full(len(first), -1))]
    total, before = len(first), 0
    for step in range(depth):
        frontier = levels[-1][0]
        going_on = np.arange(len(frontier))
        if ends is not None and step:
            going_on = np.flatnonzero(~ends[frontier])
        fresh = _unseen_neighbors(
            graph, frontier[going_on], seen, (edges, nodes), None if limit is None else limit - total, weights
        )
        if not len(fresh.neighbors):
            break
        levels.append(_level(fresh.neighbors, fresh.halves, going_on[fresh.origins] + before))
        before = total
        total += len(fresh.neighbors)
    steps = np.repeat(np.arange(len(levels)), [len(level[0]) for level in levels])
    found, halves, parents = (np.concatenate(column) for column in zip(*levels, strict=True))
    return Reached(nodes=found, distances=steps.astype(np.int32), halves=halves, parents=parents)


def _unseen_neighbors(
    graph: Adjacency,
    frontier: Ints,
    seen: Mask,
    usable: tuple[Mask | None, Mask | None],
    limit: int | None,
    weights: Floats | None,
) -> Expansion:
    """Return a half-edge to each unseen node next to a frontier, first come first, and mark it as seen.

    The frontier is expanded a part at a time, so that a hub past the limit costs nothing; weights order the
    half-edges of a part.

    Args:
        usable: Masks of the edges and of the nodes that may be used.
    """
    parts = [Expansion(origins=np.zeros(0, np.int64), neighbors=frontier[:0], halves=frontier[:0])]
    ends = np.cumsum(graph.degrees(frontier)) if limit is not None else np.zeros(len(frontier))
    found = begin = 0
    while begin < len(frontier) and (limit is None or found < limit):
        behind = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, behind + _EXPANDED, side="right")))
        out = graph.expand(frontier[begin:end]).admitted(*usable)
        out = out.at(np.flatnonzero(~seen[out.neighbors]))
        if weights is not None:
            out = out.at(np.argsort(-weights[out.halves >> 1], kind="stable"))
        # Of several half-edges to a node the first is kept: written backwards, it is written last.
        place = np.empty(graph.size, dtype=np.int32)
        order = np.arange(len(out.neighbors), dtype=np.int32)
        place[out.neighbors[::-1]] = order[::-1]
        first = np.flatnonzero(place[out.neighbors] == order)[: None if limit is None else limit - found]
        parts.append(replace(out.at(first), origins=out.origins[first] + begin))
        seen[parts[-1].neighbors] = True
        found += len(first)
        begin = end
    columns = ((part.origins, part.neighbors, part.halves) for part in parts)
    origins, neighbors, halves = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Expansion(origins=origins, neighbors=neighbors, halves=halves)


def _level(nodes: Any, halves: Any, parents: Any) -> tuple[Ints, Ints, Ints]:
    return nodes.astype(np.int32), halves.astype(np.int32), parents.astype(np.int32)


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

    Searches from both ends, always where the frontier has fewer edges to follow. Of nodes that lead on
    equally far, those with fewer edges are preferred.

    Args:
        start, end: The two nodes; equal ones give an empty path.
        depth: Most steps of a path.
        edges, nodes: What the path may use; the ends themselves always may.
    """
    if start == end:
        return ()
    sides: tuple[_Side, _Side] = ({start: (-1, -1)}, {end: (-1, -1)})
    frontiers = [np.array([node], dtype=np.int32) for node in (start, end)]
    if nodes is not None:
        nodes = nodes.copy()
        nodes[[start, end]] = True
    for _ in range(depth):
        degrees = [graph.degrees(frontier) for frontier in frontiers]
        side = int(degrees[1].sum() < degrees[0].sum())
        rarest_first = frontiers[side][np.argsort(degrees[side], kind="stable")]
        out = graph.expand(rarest_first).admitted(edges, nodes)
        fresh = _spread_side(out, rarest_first, sides[side])
        meetings = [node for node in fresh if node in sides[1 - side]]
        if meetings:
            meeting = meetings[int(np.argmin(graph.degrees(np.array(meetings))))]
            backward = _halves_back(sides[1], meeting)
            return (*reversed(_halves_back(sides[0], meeting)), *(half ^ 1 for half in backward))
        if not fresh:
            return None
        frontiers[side] = np.array(fresh, dtype=np.int32)
    return None


def _spread_side(out: Expansion, frontier: Ints, side: _Side) -> list[int]:
    """Note how the search reached each new node from one side; return the new nodes."""
    fresh: list[int] = []
    columns = out.neighbors.tolist(), out.halves.tolist(), frontier[out.origins].tolist()
    for neighbor, half, origin in zip(*columns, strict=True):
        if neighbor not in side:
            side[neighbor] = (origin, half)
            fresh.append(neighbor)
    return fresh


def _halves_back(side: _Side, node: int) -> list[int]:
    """Return the half-edges from a node back to where its side began."""
    halves: list[int] = []
    while True:
        node, half = side[node]
        if half < 0:
            return halves
        halves.append(half)
