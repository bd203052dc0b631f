"""How two things that nothing relates may be related: the types that join such things, likeliest first."""

from dataclasses import dataclass

import numpy as np

from hydramem.garden.pairs import Pairs
from hydramem.verification.first_stage import graph_features
from hydramem.verification.first_stage.likeness import Learned
from hydramem.verification.first_stage.relation_arrays import Facts, Floats, Ints, found
from hydramem.verification.first_stage.weights import Weights

_LEAST_SEEN = 2
"""Relations of a type between such things, without which it joins none."""

_TYPES_EACH = 8

_GUESSES_EACH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Triples that may hold, the likeliest first.

    Attributes:
        pair: Place of each triple's pair.
        subject, type, object: Nodes and codes of types.
        odds: What the graph says for it, as a logarithm, up to a constant.
    """

    pair: Ints
    subject: Ints
    type: Ints
    object: Ints
    odds: Floats


def guesses(known: Learned, near: Pairs, *, weights: Weights, full: Ints) -> Guesses:
    """Return the likeliest triples of each pair, by the graph alone.

    Args:
        known: The graph and what was learned of it.
        near: The pairs.
        weights: Of verification's first stage.
        full: Slots that have what they can have, as `type * nodes + subject` in nodes of `known`, ascending:
            of a type with one object at a time, a subject that has one gets no other.
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
    """Return which pairs each type may join, by the types of their ends: (pair, type), the commonest each."""
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
