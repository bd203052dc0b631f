"""Betweenness: how many of the shortest paths between entities pass each node.

Brandes, "A faster algorithm for betweenness centrality" (2001), with several searches at once as array
operations. On a large graph a sample of the entities is searched from: Brandes and Pich, "Centrality
Estimation in Large Networks" (2007).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.adjacency import Mask, ragged

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS = 10_000_000
"""Edges that all searches follow together at most, but for the fewest that a sample needs."""

LEAST_PIVOTS = 16
_SEED = 1
_PLACES_AT_ONCE = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Neighbors:
    """The neighbours of node `n` are `nodes[starts[n] : starts[n + 1]]`."""

    starts: Ints
    nodes: Ints


def betweenness(matrix: Any, entities: Mask, *, most_steps: int = MOST_STEPS) -> Floats:
    """Return the share of the pairs of other entities whose shortest paths pass each node; shape (nodes,).

    Of several shortest paths of a pair each counts in part. A path has the length of its number of edges.

    Args:
        matrix: Symmetric CSR matrix, shape (nodes, nodes), in an order that does not depend on how the graph
            was loaded: the same graph then gives the same sample.
        entities: The nodes whose pairs count, shape (nodes,).
        most_steps: Above so many steps of all searches together, a sample of the entities is searched from.
    """
    size = matrix.shape[0]
    places = np.flatnonzero(entities)
    pairs = (len(places) - 1) * (len(places) - 2)
    if len(places) < 3:
        return np.zeros(size)
    neighbors = _Neighbors(starts=matrix.indptr.astype(np.int64), nodes=matrix.indices.astype(np.int64))
    pivots = _pivots(places, max(LEAST_PIVOTS, most_steps // max(matrix.nnz, 1)))
    at_once = max(1, _PLACES_AT_ONCE // size)
    total = np.zeros(size)
    for begin in range(0, len(pivots), at_once):
        total += _dependencies(neighbors, pivots[begin : begin + at_once], entities)
    return total * (len(places) / len(pivots) / pairs)


def _pivots(places: Ints, most: int) -> Ints:
    """Return the entities to search from: all of them, or a sample that is always the same."""
    if len(places) <= most:
        return places
    chosen: Ints = np.random.default_rng(_SEED).choice(places, size=most, replace=False)
    return chosen


def _dependencies(neighbors: _Neighbors, sources: Ints, entities: Mask) -> Floats:
    """Return, summed over sources, the share of shortest paths to all entities that pass each node.

    All searches go on side by side: node `n` of the search from the i-th source has the place
    `i * nodes + n`.
    """
    size = len(entities)
    beginnings = np.arange(len(sources)) * size + sources
    paths, levels = _shortest_paths(neighbors, beginnings, size)
    dependency = np.zeros(len(paths))
    for before, after in reversed(levels):
        share = (entities[after % size] + dependency[after]) / paths[after] * paths[before]
        dependency += np.bincount(before, weights=share, minlength=len(paths))
    dependency[beginnings] = 0
    total: Floats = dependency.reshape(len(sources), size).sum(axis=0)
    return total


def _shortest_paths(
    neighbors: _Neighbors, beginnings: Ints, size: int
) -> tuple[Floats, list[tuple[Ints, Ints]]]:
    """Count the shortest paths to each place, and return the steps along them, a level at a time."""
    paths = np.zeros(len(beginnings) * size)
    paths[beginnings] = 1
    frontier, levels = beginnings, list[tuple[Ints, Ints]]()
    seen = paths > 0
    while len(frontier):
        nodes = frontier % size
        which, steps = ragged(neighbors.starts[nodes], neighbors.starts[nodes + 1])
        before = frontier[which]
        after = before - nodes[which] + neighbors.nodes[steps]
        fresh = ~seen[after]
        before, after = before[fresh], after[fresh]
        paths += np.bincount(after, weights=paths[before], minlength=len(paths))
        levels.append((before, after))
        reached = np.zeros(len(paths), dtype=np.bool_)
        reached[after] = True
        seen |= reached
        frontier = np.flatnonzero(reached)
    return paths, levels
