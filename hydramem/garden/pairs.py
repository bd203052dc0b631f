"""Which things may be related that nothing relates yet: named together, and near in the graph. Pure.

Pairs come from the passages that name both, never from all pairs, and are ranked by the neighbours that both
have (Adamic and Adar, "Friends and neighbors on the Web", 2003).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.verification.first_stage.graph_features import adamic_adar
from hydramem.verification.first_stage.path_features import common
from hydramem.verification.first_stage.relation_arrays import Facts, Floats, Ints, found

_MOST_NAMED = 24
"""Things that a passage may name: a list or a table relates nothing."""

_MOST_PAIRS = 4_000_000

_MOST_RANKED = 300_000

_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of entities that passages name together, `one` before `other`.

    Attributes:
        one, other: Nodes, shape (pairs,).
        passages: How many name both, shape (pairs,).
        score: Adamic-Adar of both, shape (pairs,); pairs come by it, the nearest first.
        seen: How many pairs there were before the nearest were taken.
    """

    one: Ints
    other: Ints
    passages: Ints
    score: Floats
    seen: int


def pairs(snapshot: Snapshot, facts: Facts, *, most: int) -> Pairs:
    """Return the nearest pairs that passages name together and no relation of any state joins.

    Args:
        snapshot: A project's graph.
        facts: Its relations, laid out.
        most: How many to return.
    """
    one, other, passages = _together(snapshot)
    seen = len(one)
    if seen > _MOST_RANKED:
        chosen = np.sort(np.argsort(-passages, kind="stable")[:_MOST_RANKED])
        one, other, passages = one[chosen], other[chosen], passages[chosen]
    shared = np.zeros(len(one))
    for begin in range(0, len(one), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        known = (one[part] < facts.size) & (other[part] < facts.size)
        ends = one[part][known], other[part][known]
        shared[part][known] = adamic_adar(facts, common(facts, *ends), len(ends[0]))
    near = np.flatnonzero(shared > 0)
    best = near[np.lexsort((other[near], one[near], -shared[near]))][:most]
    return Pairs(one=one[best], other=other[best], passages=passages[best], score=shared[best], seen=seen)


def _together(snapshot: Snapshot) -> tuple[Ints, Ints, Ints]:
    """Return each pair that an active passage names and nothing relates, and how many name it."""
    edges, size = snapshot.edges, snapshot.size
    rows = np.flatnonzero((edges.kind == MENTION) & snapshot.node_mask()[edges.source])
    chunks, things = edges.source[rows].astype(np.int64), edges.target[rows].astype(np.int64)
    order = np.lexsort((things, chunks))
    chunks, things = chunks[order], things[order]
    _, counts = np.unique(chunks, return_counts=True)
    few = np.repeat(counts <= _MOST_NAMED, counts)
    chunks, things = chunks[few], things[few]
    keys: list[Ints] = []
    total = 0
    for apart in range(1, min(_MOST_NAMED, len(chunks))):
        together = np.flatnonzero(chunks[:-apart] == chunks[apart:])
        if not len(together) or total > _MOST_PAIRS:
            break
        keys.append(things[together] * size + things[together + apart])
        total += len(together)
    named, passages = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *keys]), return_counts=True)
    free = found(_related(snapshot), named) < 0
    named, passages = named[free], passages[free]
    return named // max(size, 1), named % max(size, 1), passages.astype(np.int64)


def _related(snapshot: Snapshot) -> Ints:
    """Return a key for each pair that a relation joins, or ever joined: what was withdrawn stays so."""
    edges = snapshot.edges
    rows = np.flatnonzero(edges.kind == RELATION)
    source, target = edges.source[rows].astype(np.int64), edges.target[rows].astype(np.int64)
    return np.unique(np.minimum(source, target) * snapshot.size + np.maximum(source, target))


def passages_of(snapshot: Snapshot, one: int, other: int, *, most: int) -> tuple[str, ...]:
    """Return the ids of the newest active passages that name both of two things.

    Args:
        snapshot: A project's graph.
        one, other: Their nodes.
        most: How many to return.
    """
    both = np.intersect1d(_naming(snapshot, one), _naming(snapshot, other))
    return tuple(snapshot.nodes.ids[node] for node in both[::-1][:most].tolist())


def _naming(snapshot: Snapshot, node: int) -> NDArray[np.integer]:
    out = snapshot.adjacency.expand(np.array([node]))
    mentions = snapshot.edges.kind[out.halves >> 1] == MENTION
    chunks = out.neighbors[mentions]
    return np.unique(chunks[snapshot.node_mask()[chunks]])
