"""The adjacency of a graph: a compressed sparse row matrix, and an overlay for later edges.

Every edge is two half-edges, one at each end. A half-edge is the number `2 * row + backward`, where
`row` is the edge's row in the edge columns and `backward` is 1 at the edge's target.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """Half-edges that leave some nodes.

    Attributes:
        origins: For each half-edge, the place of the node that it leaves among the expanded nodes.
        neighbors: The node that it leads to.
        halves: The half-edge itself.
    """

    origins: Rows
    neighbors: Ints
    halves: Ints

    def at(self, rows: Mask | Rows) -> "Expansion":
        """Return some of the half-edges."""
        return Expansion(origins=self.origins[rows], neighbors=self.neighbors[rows], halves=self.halves[rows])

    def admitted(self, edges: Mask | None, nodes: Mask | None) -> "Expansion":
        """Return the half-edges that masks of edges and of nodes admit; None admits all."""
        if edges is None and nodes is None:
            return self
        keep = np.ones(len(self.halves), dtype=np.bool_)
        if edges is not None:
            keep &= edges[self.halves >> 1]
        if nodes is not None:
            keep &= nodes[self.neighbors]
        return self.at(keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency:
    """Half-edges by node.

    Attributes:
        offsets: Where a node's half-edges begin, shape (base nodes + 1,); later nodes have none here.
        neighbors, halves: Half-edges of the base, shape (2 * base edges,).
        extra_nodes, extra_neighbors, extra_halves: Later half-edges, sorted by the node they leave.
    """

    size: int
    offsets: Rows
    neighbors: Ints
    halves: Ints
    extra_nodes: Ints
    extra_neighbors: Ints
    extra_halves: Ints

    def expand(self, nodes: NDArray[np.integer]) -> Expansion:
        """Return every half-edge that leaves these nodes."""
        begins, ends = self._base_ranges(nodes)
        origins, places = ragged(begins, ends)
        neighbors, halves = self.neighbors[places], self.halves[places]
        if len(self.extra_nodes):
            more, places = ragged(
                np.searchsorted(self.extra_nodes, nodes, "left"),
                np.searchsorted(self.extra_nodes, nodes, "right"),
            )
            origins = np.concatenate([origins, more])
            neighbors = np.concatenate([neighbors, self.extra_neighbors[places]])
            halves = np.concatenate([halves, self.extra_halves[places]])
        return Expansion(origins=origins, neighbors=neighbors, halves=halves)

    def degrees(self, nodes: NDArray[np.integer]) -> Rows:
        """Return how many half-edges leave each of these nodes."""
        begins, ends = self._base_ranges(nodes)
        extra = np.searchsorted(self.extra_nodes, nodes, "right") - np.searchsorted(self.extra_nodes, nodes)
        return ends - begins + extra

    def _base_ranges(self, nodes: NDArray[np.integer]) -> tuple[Rows, Rows]:
        last = len(self.offsets) - 1
        return self.offsets[np.minimum(nodes, last)], self.offsets[np.minimum(nodes + 1, last)]


def build(size: int, sources: Ints, targets: Ints) -> Adjacency:
    """Lay out the half-edges of all edges."""
    nodes, neighbors, halves = _sorted_halves(sources, targets, 0)
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(nodes, minlength=size), out=offsets[1:])
    none = np.zeros(0, dtype=np.int32)
    extra = {"extra_nodes": none, "extra_neighbors": none, "extra_halves": none}
    return Adjacency(size=size, offsets=offsets, neighbors=neighbors, halves=halves, **extra)


def overlay(base: Adjacency, size: int, sources: Ints, targets: Ints) -> Adjacency:
    """Add later edges to a base as an overlay; the base does not change.

    Args:
        base: What `build` made of the first edges.
        sources, targets: Ends of all edges; the first ones are the base's.
    """
    first = len(base.halves) // 2
    nodes, neighbors, halves = _sorted_halves(sources[first:], targets[first:], first)
    return replace(base, size=size, extra_nodes=nodes, extra_neighbors=neighbors, extra_halves=halves)


def _sorted_halves(sources: Ints, targets: Ints, first: int) -> tuple[Ints, Ints, Ints]:
    rows = np.arange(first, first + len(sources), dtype=np.int32) * 2
    nodes = np.concatenate([sources, targets])
    order = np.argsort(nodes, kind="stable")
    neighbors = np.concatenate([targets, sources])
    halves = np.concatenate([rows, rows + 1])
    return nodes[order], neighbors[order], halves[order].astype(np.int32)


def ragged(begins: Rows, ends: Rows) -> tuple[Rows, Rows]:
    """Return (which range, place) for every place of some ranges, in order."""
    counts = ends - begins
    which = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return which, np.arange(len(which)) - before[which] + begins[which]
