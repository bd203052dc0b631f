"""Communities: groups of nodes with more edges inside than chance would put there.

Leiden: Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities"
(2019), maximising modularity. Nodes go in by the order of their ids and the seed is fixed, so that the
same graph gives the same communities on every machine.
"""

import numpy as np

from hydramem.graph.centrality import weight_matrix
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import Nodes, Snapshot

_SEED = 1


def communities(
    snapshot: Snapshot, *, edges: Mask, nodes: Mask, resolution: float = 1.0
) -> tuple[Nodes, ...]:
    """Partition the nodes that edges join into communities, largest first.

    Args:
        edges, nodes: What to admit.
        resolution: Above 1 for more and smaller communities, below 1 for fewer and larger.

    Returns:
        The nodes of each, in the order of their ids; nodes that no edge joins are in none.
    """
    joined, matrix = weight_matrix(snapshot, edges=edges, nodes=nodes)
    if not len(joined):
        return ()  # the library cannot partition a graph without edges
    from graspologic_native import leiden_csr

    _, community = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        len(joined),
        resolution=resolution,
        seed=_SEED,
    )
    labels = np.array([community[place] for place in range(len(joined))])
    order = np.argsort(labels, kind="stable")
    groups = np.split(joined[order], np.flatnonzero(np.diff(labels[order])) + 1)
    ids = snapshot.nodes.ids
    return tuple(sorted(groups, key=lambda group: (-len(group), ids[group[0]])))
