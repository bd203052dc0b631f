"""The k best paths between two nodes: shortest first, none passing a node twice.

Yen, "Finding the K Shortest Loopless Paths in a Network" (1971), with Lawler's refinement: a path is only
varied from the place on where it left the path that it was made from.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hydramem.graph.snapshot.adjacency import Adjacency, Mask
from hydramem.graph.walks import shortest_path


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _RankedPath:
    """A path; paths sort by preference.

    Attributes:
        degrees: Edges at the nodes it passes: of two equally long paths, that through rarer nodes says more.
        nodes: The nodes it passes, both ends included.
        spur: The place in `nodes` where it left the path that it was made from.
    """

    length: int
    degrees: int
    nodes: tuple[int, ...]
    halves: tuple[int, ...]
    spur: int


def best_paths(
    graph: Adjacency,
    start: int,
    end: int,
    *,
    count: int,
    depth: int,
    edges: Mask | None = None,
    nodes: Mask | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return the half-edges of the shortest paths in walking order, no two along the same nodes.

    Of equally long paths that were found, those through rarer nodes come first.

    Args:
        start, end: The two nodes; equal ones give one empty path.
        depth: Most steps of a path.
        edges, nodes: What a path may use; the ends themselves always may.
    """
    first = shortest_path(graph, start, end, depth=depth, edges=edges, nodes=nodes)
    if first is None:
        return ()
    masks = _SearchMasks(graph, edges, nodes)
    best = [_ranked_path(graph, start, first, 0)]
    waiting: list[_RankedPath] = []
    while len(best) < count and start != end:
        waiting.extend(_variants(masks, best, end, depth))
        if not waiting:
            break
        best.append(min(waiting))
        waiting.remove(best[-1])
    return tuple(path.halves for path in sorted(best))


class _SearchMasks:
    """What a path may use, as masks that can be narrowed for one search."""

    def __init__(self, graph: Adjacency, edges: Mask | None, nodes: Mask | None) -> None:
        rows = (len(graph.halves) + len(graph.extra_halves)) // 2
        self.graph = graph
        self.edges = np.ones(rows, dtype=np.bool_) if edges is None else edges.copy()
        self.nodes = np.ones(graph.size, dtype=np.bool_) if nodes is None else nodes.copy()

    def shortest(
        self, root: tuple[int, ...], refused: set[int], end: int, depth: int
    ) -> tuple[int, ...] | None:
        """Find a path from a root's last node that passes no other node of it, nor first one of `refused`."""
        spur = root[-1]
        out = self.graph.expand(np.array([spur]))
        blocked = np.unique(out.halves[np.isin(out.neighbors, list(refused))] >> 1)
        passed = list(root[:-1])
        edges_before, nodes_before = self.edges[blocked], self.nodes[passed]
        self.edges[blocked], self.nodes[passed] = False, False
        try:
            return shortest_path(self.graph, spur, end, depth=depth, edges=self.edges, nodes=self.nodes)
        finally:
            self.edges[blocked], self.nodes[passed] = edges_before, nodes_before


def _variants(masks: _SearchMasks, best: list[_RankedPath], end: int, depth: int) -> Iterator[_RankedPath]:
    """Leave the last path at each of its nodes, never to where a path with the same beginning goes on."""
    last = best[-1]
    for place in range(last.spur, last.length):
        root = last.nodes[: place + 1]
        refused = {path.nodes[place + 1] for path in best if path.nodes[: place + 1] == root}
        rest = masks.shortest(root, refused, end, depth - place)
        if rest is not None:
            yield _ranked_path(masks.graph, root[0], last.halves[:place] + rest, place)


def _ranked_path(graph: Adjacency, start: int, halves: tuple[int, ...], spur: int) -> _RankedPath:
    nodes = [start]
    for half in halves:
        out = graph.expand(np.array([nodes[-1]]))
        nodes.append(int(out.neighbors[np.flatnonzero(out.halves == half)[0]]))
    degrees = int(graph.degrees(np.array(nodes[1:-1], dtype=np.int32)).sum())
    return _RankedPath(length=len(halves), degrees=degrees, nodes=tuple(nodes), halves=halves, spur=spur)
