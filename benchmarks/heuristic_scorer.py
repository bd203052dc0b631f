"""The heuristic scorer of edges: neighbours in common, degrees, and how far an edge is a bridge.

Fitted to nothing, and measured beside those that are to see what fitting is worth; no ground to prune on.
Betweenness is counted on the shortest paths from a sample of nodes (Brandes and Pich, 2007).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.garden.edges.labelled_relations import claims_of, known_of
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.graph_features import adamic_adar, jaccard
from hydramem.verification.first_stage.path_features import common
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats

NAME = "heuristic"

_SOURCES = 32


def spurious(snapshot: Snapshot, rows: NDArray[np.int64], *, seed: int = 0) -> Floats:
    """Return how spurious relations look, 0 to 1: the mean of their ranks in each of four respects.

    Args:
        snapshot: The graph.
        rows: The relations, by their rows in the snapshot's edges.
        seed: Of the sample.
    """
    facts, claims = known_of(snapshot).facts, claims_of(snapshot, rows)
    shared = common(facts, claims.subject, claims.object)
    degrees = facts.degrees(claims.subject) * facts.degrees(claims.object)
    respects = (
        -jaccard(facts, claims, shared),
        -adamic_adar(facts, shared, len(rows)),
        -degrees.astype(np.float64),
        betweenness(facts, claims, seed=seed),
    )
    return np.asarray(np.mean([_ranks(one) for one in respects], axis=0))


def _ranks(values: Floats) -> Floats:
    """Return places from 0 to 1; equal values share their middle."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - counts / 2) / max(len(values), 1))[inverse])


def betweenness(facts: Facts, claims: Claims, *, seed: int = 0) -> Floats:
    """Return how many shortest paths from a sample of nodes lead over each claim's pair, for one sampled."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    ones, others = facts.pair_keys // facts.size, facts.neighbors
    matrix: Any = csr_matrix((np.ones(len(ones)), (ones, others)), shape=(facts.size, facts.size))
    used = np.unique(ones)
    sources = np.random.default_rng(seed).choice(used, min(_SOURCES, len(used)), replace=False)
    carried = np.zeros(len(ones))
    for source in sources:
        far, before = dijkstra(matrix, unweighted=True, indices=source, return_predecessors=True)
        below = np.isfinite(far).astype(np.float64)
        for level in range(int(far[np.isfinite(far)].max()), 0, -1):
            nodes = np.flatnonzero(far == level)
            parents = before[nodes].astype(np.int64)
            np.add.at(below, parents, below[nodes])
            np.add.at(carried, facts.pairs(parents, nodes.astype(np.int64)), below[nodes])
    forward = facts.pairs(claims.subject, claims.object)
    backward = facts.pairs(claims.object, claims.subject)
    return np.asarray((carried[forward] + carried[backward]) / max(len(sources), 1))
