"""The k best ways between two nodes: shortest first, none passing a node twice.

Yen, "Finding the K Shortest Loopless Paths in a Network" (1971), with Lawler's refinement: a way is
only bent behind the place where it was bent itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hydramem.graph.snapshot.adjacency import Adjacency
from hydramem.graph.walks import Mask, shortest_path


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Way:
    """A way, in the order of preference.

    Attributes:
        crowd: Edges at the nodes it passes: of two equally long ways, that through rarer things says more.
        along: The nodes it passes, both ends included.
        bend: The place in `along` behind which it left the way that it was made from.
    """

    length: int
    crowd: int
    along: tuple[int, ...]
    halves: tuple[int, ...]
    bend: int


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
    """Return the half-edges of the shortest ways in walking order, no two through the same nodes in a row.

    Of equally long ways that were found, those through rarer nodes come first.

    Args:
        graph: Who is next to whom.
        start, end: The two nodes; equal ones give one empty way.
        count: Most ways to return.
        depth: Most steps of a way.
        edges, nodes: What may be walked; the ends themselves always may.
    """
    first = shortest_path(graph, start, end, depth=depth, edges=edges, nodes=nodes)
    if first is None:
        return ()
    usable = _Usable(graph, edges, nodes)
    best = [_way(graph, start, first, 0)]
    waiting: list[_Way] = []
    while len(best) < count and start != end:
        waiting.extend(_bent(usable, best, end, depth))
        if not waiting:
            break
        best.append(min(waiting))
        waiting.remove(best[-1])
    return tuple(way.halves for way in sorted(best))


class _Usable:
    """What may be walked, as masks that can be narrowed for one search."""

    def __init__(self, graph: Adjacency, edges: Mask | None, nodes: Mask | None) -> None:
        rows = (len(graph.halves) + len(graph.extra_halves)) // 2
        self.graph = graph
        self.edges = np.ones(rows, dtype=np.bool_) if edges is None else edges.copy()
        self.nodes = np.ones(graph.size, dtype=np.bool_) if nodes is None else nodes.copy()

    def shortest(
        self, root: tuple[int, ...], refused: set[int], end: int, depth: int
    ) -> tuple[int, ...] | None:
        """Find a way from a root's last node that passes no other node of it, nor first one of `refused`."""
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


def _bent(usable: _Usable, best: list[_Way], end: int, depth: int) -> Iterator[_Way]:
    """Leave the last way at each of its places, never to where a way with the same beginning goes on."""
    last = best[-1]
    for place in range(last.bend, last.length):
        root = last.along[: place + 1]
        refused = {way.along[place + 1] for way in best if way.along[: place + 1] == root}
        rest = usable.shortest(root, refused, end, depth - place)
        if rest is not None:
            yield _way(usable.graph, root[0], last.halves[:place] + rest, place)


def _way(graph: Adjacency, start: int, halves: tuple[int, ...], bend: int) -> _Way:
    along = [start]
    for half in halves:
        out = graph.expand(np.array([along[-1]]))
        along.append(int(out.neighbors[np.flatnonzero(out.halves == half)[0]]))
    crowd = int(graph.degrees(np.array(along[1:-1], dtype=np.int32)).sum())
    return _Way(length=len(halves), crowd=crowd, along=tuple(along), halves=halves, bend=bend)
