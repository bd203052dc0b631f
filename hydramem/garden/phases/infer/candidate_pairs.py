"""Which unrelated entities may be related, and by which relation: computed from the graph alone.

Pairs come from passages that name both entities, and are ranked by their common neighbours (Adamic and Adar,
"Friends and neighbors on the Web", 2003). Relations are guessed from the types that join similar entities.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.verification.first_stage import graph_features
from hydramem.verification.first_stage.graph_features import adamic_adar
from hydramem.verification.first_stage.path_features import common
from hydramem.verification.first_stage.relation_arrays import Facts, Floats, Ints, found
from hydramem.verification.first_stage.similar_entities import Learned
from hydramem.verification.first_stage.weights import Weights

_MOST_NAMED = 24
"""Entities that a passage may name: a list or a table relates nothing."""

_MOST_PAIRS = 4_000_000
_MOST_RANKED = 300_000
_AT_ONCE = 20_000
_LEAST_SEEN = 2
"""Relations of a type between entities of these types, below which it is not guessed for them."""

_TYPES_EACH = 8
_GUESSES_EACH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of entities that passages name together, `one` before `other`.

    Attributes:
        one, other: Nodes, shape (pairs,).
        score: Adamic-Adar score, shape (pairs,), descending.
        seen: How many pairs there were before the nearest were chosen.
    """

    one: Ints
    other: Ints
    score: Floats
    seen: int


def pairs(snapshot: Snapshot, facts: Facts, *, most: int) -> Pairs:
    """Return the nearest pairs that passages name together and no relation of any state joins.

    Args:
        facts: Its relations as arrays.
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
    return Pairs(one=one[best], other=other[best], score=shared[best], seen=seen)


def _together(snapshot: Snapshot) -> tuple[Ints, Ints, Ints]:
    """Return each unrelated pair that active passages name, and how many passages name it."""
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
    """Return a key for each pair that a relation joins or joined: none is inferred again."""
    edges = snapshot.edges
    rows = np.flatnonzero(edges.kind == RELATION)
    source, target = edges.source[rows].astype(np.int64), edges.target[rows].astype(np.int64)
    return np.unique(np.minimum(source, target) * snapshot.size + np.maximum(source, target))


def passages_of(snapshot: Snapshot, one: int, other: int, *, most: int) -> tuple[str, ...]:
    """Return the ids of the newest active passages that name two entities.

    Args:
        one, other: Their nodes.
        most: How many to return.
    """
    both = np.intersect1d(_passages_naming(snapshot, one), _passages_naming(snapshot, other))
    return tuple(snapshot.nodes.ids[node] for node in both[::-1][:most].tolist())


def _passages_naming(snapshot: Snapshot, node: int) -> NDArray[np.integer]:
    out = snapshot.adjacency.expand(np.array([node]))
    mentions = snapshot.edges.kind[out.halves >> 1] == MENTION
    chunks = out.neighbors[mentions]
    return np.unique(chunks[snapshot.node_mask()[chunks]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Triples that may hold, the likeliest first.

    Attributes:
        pair: Place of each triple's pair.
        subject, type, object: Nodes and codes of types.
        odds: Log odds from the graph, up to a constant.
    """

    pair: Ints
    subject: Ints
    type: Ints
    object: Ints
    odds: Floats


def guesses(known: Learned, near: Pairs, *, weights: Weights, full: Ints) -> Guesses:
    """Return the likeliest triples of each pair.

    Args:
        known: The graph and what was learned from it.
        near: The pairs.
        weights: Of verification's first stage.
        full: Filled slots of types with one object at a time, as `type * nodes + subject`, ascending; these
            get no other object.
    """
    facts = known.facts
    pair = np.tile(np.arange(len(near.one)), 2)
    subject, object = np.concatenate([near.one, near.other]), np.concatenate([near.other, near.one])
    place, type = _fitting(facts, subject, object)
    pair, subject, object = pair[place], subject[place], object[place]
    occupied = found(full, type * facts.size + subject) >= 0
    pair, subject, type, object = (each[~occupied] for each in (pair, subject, type, object))
    claims = facts.claims(subject, type, object)
    odds = graph_features.topology(known, claims) @ weights.for_names(graph_features.NAMES)
    order = np.lexsort((object, subject, type, -odds, pair))
    rank = np.arange(len(order)) - np.searchsorted(pair[order], pair[order])
    best = order[rank < _GUESSES_EACH]
    best = best[np.lexsort((object[best], subject[best], type[best], -odds[best]))]
    return Guesses(
        pair=pair[best], subject=subject[best], type=type[best], object=object[best], odds=odds[best]
    )


def _fitting(facts: Facts, subject: Ints, object: Ints) -> tuple[Ints, Ints]:
    """Return (pair, type) for the commonest types that join entities of the pair's types."""
    types = np.arange(facts.types - 1)
    couple = facts.couple(facts.kind[subject], facts.kind[object])
    keys = types[None, :] * facts.kinds * facts.kinds + couple[:, None]
    seen = facts.signatures.of(keys.ravel()).reshape(keys.shape)
    size = facts.size
    heads = facts.heads.of((types[None, :] * size + subject[:, None]).ravel()).reshape(keys.shape)
    tails = facts.tails.of((types[None, :] * size + object[:, None]).ravel()).reshape(keys.shape)
    usual = np.where(seen >= _LEAST_SEEN, np.log1p(heads) + np.log1p(tails) + 0.1 * np.log1p(seen), -np.inf)
    commonest = np.argsort(-usual, axis=1, kind="stable")[:, :_TYPES_EACH]
    place = np.repeat(np.arange(len(subject)), commonest.shape[1])
    type = commonest.ravel()
    fits = np.isfinite(usual[place, type])
    return place[fits], type[fits]
