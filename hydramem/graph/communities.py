"""Communities: groups of nodes with more edges inside than chance would put there.

Leiden: Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities"
(2019), maximising modularity. Nodes go in by the order of their ids and the seed is fixed, so that the
same graph falls apart the same way on every machine.
"""

import numpy as np

from hydramem.graph.centrality import weighted
from hydramem.graph.snapshot.snapshot import Mask, Nodes, Snapshot

_SEED = 1


def communities(
    snapshot: Snapshot, *, edges: Mask, nodes: Mask, resolution: float = 1.0
) -> tuple[Nodes, ...]:
    """Part the nodes that edges join into communities, largest first.

    Args:
        snapshot: The graph.
        edges, nodes: What to look at.
        resolution: Above 1 for more and smaller communities, below 1 for fewer and larger.

    Returns:
        The nodes of each, in the order of their ids; nodes that no edge joins are in none.
    """
    graph = weighted(snapshot, edges=edges, nodes=nodes)
    if not len(graph.nodes):
        return ()  # the library cannot part a graph without edges
    from graspologic_native import leiden_csr

    matrix = graph.matrix
    _, community = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        len(graph.nodes),
        resolution=resolution,
        seed=_SEED,
    )
    labels = np.array([community[place] for place in range(len(graph.nodes))])
    order = np.argsort(labels, kind="stable")
    groups = np.split(graph.nodes[order], np.flatnonzero(np.diff(labels[order])) + 1)
    ids = snapshot.nodes.ids
    return tuple(sorted(groups, key=lambda group: (-len(group), ids[group[0]])))
