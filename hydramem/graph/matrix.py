"""The graph as one symmetric sparse matrix: what looks at all of it at once multiplies by this."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hydramem.graph.view import Mask, Nodes, Snapshot

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
