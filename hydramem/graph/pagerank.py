"""Personalized PageRank: how often a walk that keeps returning to its seeds visits each node.

Jeh and Widom, "Scaling Personalized Web Search" (2003); seeded by a question's entities over a graph of
entities and passages: Gutierrez et al., "HippoRAG" (2024). A small graph is solved whole by power
iteration. On a large one forward push touches only what matters: Andersen, Chung and Lang, "Local Graph
Partitioning using PageRank Vectors" (2006). Probability that is too little to push further is not dropped:
a walk that has gone so far has forgotten where it began, and is next at a node in proportion to the node's
edges.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import ABOUT
from hydramem.graph.snapshot.adjacency import Adjacency, Expansion, Ints, Mask, Rows

Floats = NDArray[np.float32]
Product = Callable[[Floats], Floats]
"""Multiplies a matrix by a vector."""

SOLVED_WHOLE = 10_000
_PRECISION = 1e-5

# Up to so many entries of a matrix, all its products together take less time than importing scipy.
_FEW_ENTRIES = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Nodes and their probability, which is zero everywhere else."""

    nodes: Ints
    probability: Floats


def personalized_pagerank(
    graph: Adjacency,
    seeds: Ints,
    mass: Floats,
    *,
    weights: Floats,
    damping: float = 0.7,
    iterations: int = 15,
    edges: Mask | None = None,
    nodes: Mask | None = None,
    rarity: Floats | None = None,
    whole: int = SOLVED_WHOLE,
) -> Ranked:
    """Spread probability from seeds along edges, returning to the seeds with probability 1 - damping.

    Args:
        seeds: Nodes to start from, shape (seeds,).
        mass: Their share of the restart, same shape; need not sum to one, not negative.
        weights: Weight of each edge, shape (edges,); counted as `strengths` says.
        damping: Probability that the walk goes on rather than restarts.
        iterations: Steps of power iteration, or rounds of pushing.
        edges, nodes: What the walk may use.
        rarity: Of each node, 0 to 1, shape (nodes,): an edge counts as far as both ends are rare; None counts
            all alike.
        whole: Largest graph, in nodes, to be solved whole; on a larger one the result is close.

    Returns:
        Probability of each node reached; it sums to one, and is empty where there is no mass.
    """
    mass = np.asarray(mass, dtype=np.float64)
    if not mass.sum() > 0:
        return Ranked(nodes=np.zeros(0, dtype=np.int32), probability=np.zeros(0, dtype=np.float32))
    share = mass / mass.sum()
    if graph.size > whole:
        by_node = np.bincount(seeds, weights=share, minlength=graph.size).astype(np.float64)
        return push(
            graph,
            by_node,
            weights=weights,
            damping=damping,
            rounds=iterations,
            edges=edges,
            nodes=nodes,
            rarity=rarity,
        )
    starts, which = np.unique(seeds, return_inverse=True)
    inside, product, strength = _reachable(graph, starts, weights, edges, nodes, rarity)
    restart = np.zeros(len(inside), dtype=np.float32)
    restart[: len(starts)] = np.bincount(which, weights=share)  # the seeds come first
    return Ranked(nodes=inside, probability=_iterate(product, strength, restart, damping, iterations))


def strengths(weights: Floats) -> Floats:
    """Return how strongly a walk follows edges of these weights: a claim or link as far as it is believed.

    A mention counts once, however often the name comes; but the way from a thing to the passages about it,
    as their headings say, is broader than the way to those that only name it.
    """
    return np.where(weights > ABOUT, np.float32(ABOUT), np.minimum(weights, np.float32(1.0)))


def _strengths_along(out: Expansion, expanded: Ints, weights: Floats, rarity: Floats | None) -> Floats:
    """Return how strongly a walk follows each half-edge that leaves some nodes."""
    strength = strengths(weights[out.halves >> 1])
    if rarity is None:
        return strength
    return strength * rarity[expanded][out.origins] * rarity[out.neighbors]


def _iterate(product: Product, strength: Floats, restart: Floats, damping: float, iterations: int) -> Floats:
    """Solve a weight matrix of shape (nodes, nodes) with row sums `strength` by power iteration."""
    # A node without edges gives its probability back to the seeds, so that none is lost.
    dangling = strength == 0
    scale = np.divide(damping, strength, out=np.zeros_like(strength), where=~dangling)
    probability = restart
    for _ in range(iterations):
        lost = damping * float(probability[dangling].sum())
        probability = product(probability * scale) + restart * (1 - damping + lost)
    return probability


def _reachable(
    graph: Adjacency,
    frontier: Ints,
    weights: Floats,
    edges: Mask | None,
    nodes: Mask | None,
    rarity: Floats | None,
) -> tuple[Ints, Product, Floats]:
    """Gather the nodes that some nodes lead to, and the edges between them, each node expanded once.

    Returns:
        The nodes; the product with their symmetric weight matrix, shape (nodes, nodes); its row sums.
    """
    place = np.full(graph.size, -1, dtype=np.int32)
    total = 0
    inside: list[Ints] = []
    levels: list[tuple[Rows, Ints, Floats]] = []
    while len(frontier):
        place[frontier] = np.arange(total, total + len(frontier), dtype=np.int32)
        inside.append(frontier)
        out = graph.expand(frontier).admitted(edges, None)
        levels.append((out.origins + total, out.neighbors, _strengths_along(out, frontier, weights, rarity)))
        total += len(frontier)
        fresh = np.zeros(graph.size, dtype=np.bool_)
        fresh[out.neighbors] = True
        fresh &= place < 0
        if nodes is not None:
            fresh &= nodes
        frontier = np.flatnonzero(fresh).astype(np.int32)
    origins, ends, values = (np.concatenate(column) for column in zip(*levels, strict=True))
    columns = place[ends]
    within = np.flatnonzero(columns >= 0)
    if len(graph.extra_nodes):
        # Later edges follow the base's; a row's entries must be contiguous.
        within = within[np.argsort(origins[within], kind="stable")]
    product, strength = _weight_product(origins[within], columns[within], values[within], total)
    return np.concatenate(inside), product, strength


def _weight_product(rows: Rows, columns: Ints, values: Floats, size: int) -> tuple[Product, Floats]:
    """Return the product with a matrix of shape (size, size), its entries sorted by row, and its row sums."""

    def sums(of: Floats) -> Floats:
        found: Floats = np.bincount(rows, weights=of, minlength=size).astype(np.float32)
        return found

    if len(rows) <= _FEW_ENTRIES:
        return lambda vector: sums(values * vector[columns]), sums(values)
    from scipy.sparse import csr_matrix

    row_ends = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=size), out=row_ends[1:])
    matrix = csr_matrix((values, columns, row_ends), shape=(size, size))
    return lambda vector: matrix @ vector, sums(values)


def push(
    graph: Adjacency,
    restart: NDArray[np.float64],
    *,
    weights: Floats,
    damping: float,
    rounds: int,
    edges: Mask | None = None,
    nodes: Mask | None = None,
    rarity: Floats | None = None,
    precision: float = _PRECISION,
) -> Ranked:
    """Push probability outward from where a walk restarts until little is left to push; nodes are ascending.

    Args:
        restart: Where the walk restarts, shape (nodes,); sums to one.
        weights, damping, edges, rarity: As for `personalized_pagerank`.
        nodes: What the walk may pass; where it restarts it always may.
        precision: Probability per edge of a node, below which what waits at the node stays there.
    """
    passable = None if nodes is None else nodes | (restart > 0)
    share, waiting = np.zeros(graph.size), restart.copy()
    active = np.flatnonzero(restart)
    for _ in range(rounds):
        pushed = waiting[active]
        waiting[active] = 0
        share[active] += (1 - damping) * pushed
        out = graph.expand(active)
        flow = _strengths_along(out, active.astype(np.int32), weights, rarity).astype(np.float64)
        flow *= _admitted(out, edges, passable)
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
    return Ranked(
        nodes=found.astype(np.int32), probability=(probability / probability.sum()).astype(np.float32)
    )


def _admitted(out: Expansion, edges: Mask | None, passable: Mask | None) -> Mask:
    """Say for each half-edge whether the walk may follow it."""
    admitted = np.ones(len(out.halves), dtype=np.bool_)
    if edges is not None:
        admitted &= edges[out.halves >> 1]
    if passable is not None:
        admitted &= passable[out.neighbors]
    return admitted
