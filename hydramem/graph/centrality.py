"""Which entities a graph turns around: PageRank, and plain counts of relations and of chunks.

PageRank: Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking" (1999). The walk follows
relations, mentions and links both ways and restarts at entities alone, so that what many passages and
well-connected things speak of comes out on top.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Mask, Nodes, Snapshot

_UNIT = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """Nodes that some admitted edge joins, and how strongly.

    Attributes:
        nodes: The nodes, in the order of their ids: the same graph gives the same matrix, however it
            was loaded.
        matrix: Symmetric CSR matrix of shape (nodes, nodes); parallel edges are summed, loops left out.
    """

    nodes: Nodes
    matrix: Any


def weighted(snapshot: Snapshot, *, edges: Mask, nodes: Mask) -> Weighted:
    """Lay out the edges that are admitted and whose ends are, weights above 1 counting as 1.

    Args:
        snapshot: The graph.
        edges, nodes: What to admit.
    """
    from scipy.sparse import csr_matrix

    rows = np.flatnonzero(edges & (snapshot.edges.weight > 0))
    sources, targets = snapshot.edges.source[rows], snapshot.edges.target[rows]
    keep = nodes[sources] & nodes[targets] & (sources != targets)
    sources, targets = sources[keep], targets[keep]
    joined = np.unique(np.concatenate([sources, targets]))
    ids = [snapshot.nodes.ids[node] for node in joined.tolist()]
    ordered = joined[sorted(range(len(ids)), key=ids.__getitem__)]
    place = np.zeros(snapshot.size, dtype=np.int32)
    place[ordered] = np.arange(len(ordered), dtype=np.int32)
    # Whole numbers add up to the same sum in any order; fractions need not.
    weights = np.maximum(np.round(np.minimum(snapshot.edges.weight[rows[keep]], 1.0) * _UNIT), 1.0)
    ends = place[sources], place[targets]
    entries = (
        np.concatenate([weights, weights]).astype(np.float64),
        (
            np.concatenate(ends),
            np.concatenate(ends[::-1]),
        ),
    )
    matrix = csr_matrix(entries, shape=(len(ordered), len(ordered)))
    matrix.sort_indices()
    return Weighted(nodes=ordered.astype(np.int32), matrix=matrix)


_DAMPING = 0.85
_ITERATIONS = 100
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Centrality:
    """How central each entity is that some edge joins; arrays of shape (entities,).

    Attributes:
        nodes: The entities.
        pagerank: Share of the walk's time among entities; sums to one.
        relations, chunks: Relations at it, and chunks that mention it.
    """

    nodes: Nodes
    pagerank: NDArray[np.float64]
    relations: NDArray[np.int64]
    chunks: NDArray[np.int64]


def centrality(snapshot: Snapshot, *, edges: Mask, nodes: Mask) -> Centrality:
    """Measure every entity that an admitted edge joins to an admitted node.

    Args:
        snapshot: The graph.
        edges, nodes: What the walk may use.
    """
    graph = weighted(snapshot, edges=edges, nodes=nodes)
    entities = np.flatnonzero(~snapshot.nodes.is_chunk[graph.nodes])
    restart = np.zeros(len(graph.nodes))
    restart[entities] = 1 / max(len(entities), 1)
    share = pagerank(graph.matrix, restart)[entities]
    found = graph.nodes[entities]
    admitted = edges & nodes[snapshot.edges.source] & nodes[snapshot.edges.target]
    return Centrality(
        nodes=found,
        pagerank=share / share.sum() if len(share) else share,
        relations=_count(snapshot, admitted, RELATION)[found],
        chunks=_count(snapshot, admitted, MENTION)[found],
    )


def pagerank(matrix: Any, restart: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of its time that a walk spends at each node; sums to one.

    Args:
        matrix: Symmetric CSR matrix of weights, every row with a positive sum.
        restart: Where the walk starts over; sums to one.
    """
    if not len(restart):
        return restart
    scale = _DAMPING / np.asarray(matrix.sum(axis=1)).ravel()
    share = restart
    for _ in range(_ITERATIONS):
        after: NDArray[np.float64] = matrix @ (share * scale) + (1 - _DAMPING) * restart
        if np.abs(after - share).sum() < _TOLERANCE:
            return after
        share = after
    return share


def _count(snapshot: Snapshot, admitted: Mask, kind: int) -> NDArray[np.int64]:
    rows = np.flatnonzero(admitted & (snapshot.edges.kind == kind))
    sources, targets = snapshot.edges.source[rows], snapshot.edges.target[rows]
    ends = np.concatenate([sources, targets[sources != targets]])  # a loop is one relation, not two
    counts: NDArray[np.int64] = np.bincount(ends, minlength=snapshot.size)
    return counts
