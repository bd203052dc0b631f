"""How central each entity is: PageRank, and plain counts of relations and of chunks.

PageRank: Page, Brin, Motwani and Winograd, "The PageRank Citation Ranking" (1999). The walk follows
relations, mentions and links both ways and restarts at entities alone, so that entities with many passages
and well-connected neighbours rank first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Nodes, Snapshot

# Weights are rounded to whole millionths: whole numbers add up to the same sum in any order, fractions not.
_UNIT = 1e6
_DAMPING = 0.85
_ITERATIONS = 100
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Centrality:
    """How central each entity is that some edge joins; arrays of shape (entities,).

    Attributes:
        pagerank: Share of the walk's time among entities; sums to one. Hubs have none.
        relations, chunks: Relations at it, and chunks that mention it.
    """

    nodes: Nodes
    pagerank: NDArray[np.float64]
    relations: NDArray[np.int64]
    chunks: NDArray[np.int64]


def centrality(snapshot: Snapshot, *, edges: Mask, nodes: Mask, hubs: Mask) -> Centrality:
    """Measure every entity that an admitted edge joins to an admitted node.

    Args:
        edges, nodes: What the walk may use.
        hubs: Entities that it does not pass; their edges are counted.
    """
    joined, matrix = weight_matrix(snapshot, edges=edges, nodes=nodes & ~hubs)
    places = np.flatnonzero(~snapshot.nodes.is_chunk[joined])
    restart = np.zeros(len(joined))
    restart[places] = 1 / max(len(places), 1)
    share = pagerank(matrix, restart)[places]
    admitted = edges & nodes[snapshot.edges.source] & nodes[snapshot.edges.target]
    relations, chunks = (_edges_at_nodes(snapshot, admitted, kind) for kind in (RELATION, MENTION))
    apart = np.flatnonzero(hubs & (relations + chunks > 0)).astype(np.int32)
    entities = np.concatenate([joined[places], apart])
    share = np.concatenate([share / (share.sum() or 1), np.zeros(len(apart))])
    return Centrality(
        nodes=entities,
        pagerank=share,
        relations=relations[entities],
        chunks=chunks[entities],
    )


def weight_matrix(snapshot: Snapshot, *, edges: Mask, nodes: Mask) -> tuple[Nodes, Any]:
    """Return the nodes that admitted edges join, and how strongly; weights above 1 count as 1.

    Args:
        edges, nodes: What to admit.

    Returns:
        The nodes in the order of their ids, so that the same graph gives the same matrix however it was
        loaded; a symmetric CSR matrix of shape (nodes, nodes), parallel edges summed, loops left out.
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
    weights = np.maximum(np.round(np.minimum(snapshot.edges.weight[rows[keep]], 1.0) * _UNIT), 1.0)
    values = np.concatenate([weights, weights]).astype(np.float64)
    ends = place[sources], place[targets]
    entries = (values, (np.concatenate(ends), np.concatenate(ends[::-1])))
    matrix = csr_matrix(entries, shape=(len(ordered), len(ordered)))
    matrix.sort_indices()
    return ordered.astype(np.int32), matrix


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


def _edges_at_nodes(snapshot: Snapshot, admitted: Mask, kind: int) -> NDArray[np.int64]:
    """Count the admitted edges of a kind at each node; shape (nodes,)."""
    rows = np.flatnonzero(admitted & (snapshot.edges.kind == kind))
    sources, targets = snapshot.edges.source[rows], snapshot.edges.target[rows]
    ends = np.concatenate([sources, targets[sources != targets]])  # a loop is one relation, not two
    counts: NDArray[np.int64] = np.bincount(ends, minlength=snapshot.size)
    return counts
