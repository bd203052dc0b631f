"""Personalized PageRank on a large graph, at a cost that follows what it touches and not the graph.

Forward push: Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors" (2006). What is
not worth pushing any further is not dropped: a walk that has gone so far has forgotten where it began, and
is next at a node in proportion to the node's edges.
"""

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import ABOUT
from hydramem.graph.snapshot.adjacency import Adjacency, Ints

_PRECISION = 1e-5


def strengths(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Say how strongly a walk follows edges of some weights: a claim or link as far as it is believed.

    A mention counts once, however often the name comes; but from a thing to the passages about it, as
    their headings say, leads a broader way than to those that only name it.
    """
    return np.where(weights > ABOUT, np.float32(ABOUT), np.minimum(weights, np.float32(1.0)))


def push(
    graph: Adjacency,
    restart: NDArray[np.float64],
    *,
    weights: NDArray[np.float32],
    damping: float,
    rounds: int,
    edges: NDArray[np.bool_] | None = None,
    nodes: NDArray[np.bool_] | None = None,
    precision: float = _PRECISION,
) -> tuple[Ints, NDArray[np.float32]]:
    """Push probability outward from where a walk restarts until what is left to push is small.

    Args:
        graph: Who is next to whom.
        restart: Where the walk starts over, shape (nodes,); sums to one.
        weights: Weight of each edge, shape (edges,); counted as `strengths` says.
        damping: Probability that the walk goes on rather than restarts.
        rounds: Most times to push.
        edges, nodes: What may be walked; where the walk restarts it always may.
        precision: Probability for each edge of a node, below which what waits at the node stays there.

    Returns:
        The nodes reached, ascending, and their probability, which sums to one.
    """
    passable = None if nodes is None else nodes | (restart > 0)
    share, waiting = np.zeros(graph.size), restart.copy()
    active = np.flatnonzero(restart)
    for _ in range(rounds):
        pushed = waiting[active]
        waiting[active] = 0
        share[active] += (1 - damping) * pushed
        out = graph.expand(active)
        rows = out.halves >> 1
        flow = strengths(weights[rows]).astype(np.float64)
        if edges is not None:
            flow *= edges[rows]
        if passable is not None:
            flow *= passable[out.neighbors]
        strength = np.bincount(out.origins, weights=flow, minlength=len(active))
        # A node without edges gives its probability back to the seeds, so that none is lost.
        lost = damping * pushed[strength == 0].sum()
        each = np.divide(damping * pushed, strength, out=np.zeros(len(active)), where=strength > 0)
        np.add.at(waiting, out.neighbors, flow * each[out.origins])
        if lost > 0:
            waiting += lost * restart
        active = np.flatnonzero(waiting > precision)
        active = active[waiting[active] > precision * graph.degrees(active)]
        if not len(active):
            break
    found = np.flatnonzero(share + waiting)
    halves = len(graph.halves) + len(graph.extra_halves)
    afar = damping * waiting.sum() * graph.degrees(found) / max(halves, 1)
    probability = share[found] + (1 - damping) * waiting[found] + afar
    return found.astype(np.int32), (probability / probability.sum()).astype(np.float32)
