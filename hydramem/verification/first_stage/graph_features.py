"""Features of the graph around claims, computed for many claims at once.

Every function leaves the claim itself out where the graph holds it already, so that a stored claim is no
evidence for itself.
"""

import numpy as np

from hydramem.verification.first_stage import path_features, similar_entities
from hydramem.verification.first_stage.path_features import Common
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, Ints, taken
from hydramem.verification.first_stage.similar_entities import Learned

NAMES = (
    "topology",
    "isolated",
    "jaccard",
    "adamic_adar",
    "head_prior",
    "tail_prior",
    "head_share",
    "tail_share",
    "tail_rarity",
    "head_lift",
    "tail_lift",
    "occupied",
    "claimed",
    "signature",
    *path_features.NAMES,
    *similar_entities.NAMES,
)


def topology(known: Learned, claims: Claims) -> Floats:
    """Return the features of claims.

    Args:
        known: The graph and what was learned of it.

    Returns:
        Shape (claims, `NAMES`); all zero but `isolated` where nothing joins an end to the graph, and all
        zero where the graph has no relations.
    """
    facts = known.facts
    result = np.zeros((len(claims.subject), len(NAMES)))
    if not len(facts.subject):
        return result
    own = facts.stored(claims).astype(np.int64)
    alone = isolated(facts, claims, own)
    result[:, NAMES.index("isolated")] = alone
    joined = np.flatnonzero(alone == 0)
    claims, own = taken(claims, joined), own[joined]
    shared = path_features.common(facts, claims.subject, claims.object)
    result[joined] = np.column_stack(
        [
            np.ones(len(own)),
            np.zeros(len(own)),
            jaccard(facts, claims, shared),
            adamic_adar(facts, shared, len(own)),
            *priors(facts, claims, own),
            *lifts(facts, claims, own),
            *rivals(facts, claims, own),
            signature(facts, claims, own),
            path_features.evidence(facts, known.rules, claims, path_features.between(facts, claims, shared)),
            similar_entities.likeness(facts, known.profiles, claims),
        ]
    )
    return result


def jaccard(facts: Facts, claims: Claims, between: Common) -> Floats:
    """Return the share of the neighbours of either end, without the ends, that are neighbours of both."""
    shared = np.bincount(between.claim, minlength=len(claims.subject))
    joined = facts.pairs(claims.subject, claims.object) >= 0
    either = facts.degrees(claims.subject) + facts.degrees(claims.object) - 2 * joined - shared
    return np.asarray(shared / np.maximum(either, 1))


def adamic_adar(facts: Facts, between: Common, size: int) -> Floats:
    """Return the sum, over common neighbours, of one by the logarithm of how many neighbours they have."""
    weights = 1 / np.log(np.maximum(facts.degrees(between.node), 2))
    return np.asarray(np.bincount(between.claim, weights=weights, minlength=size))


def isolated(facts: Facts, claims: Claims, own: Ints) -> Floats:
    """Return how many ends nothing but the claim itself joins to anything, 0 to 2; unknown ones are such."""
    alone = np.zeros(len(claims.subject))
    pair = facts.pairs(claims.subject, claims.object)
    only = (own > 0) & (facts.label_starts[pair + 1] - facts.label_starts[pair] == 1)
    for end in (claims.subject, claims.object):
        alone += (end < 0) | (facts.degrees(np.maximum(end, 0)) - only <= 0)
    return alone


def priors(facts: Facts, claims: Claims, own: Ints) -> tuple[Floats, ...]:
    """Return how usual the ends are at their side of the type.

    Returns:
        Logarithm of how often the subject is a subject of the type, and the object an object; the logarithm
        of their smoothed share of the type, the object's also squared.
    """
    total = facts.per_type[claims.type] - own
    heads, tails = _seen(facts, claims, own)
    head_share = (heads + 0.5) / (total + 0.5 * np.maximum(facts.heads_per_type[claims.type], 1))
    tail_share = np.log((tails + 0.5) / (total + 0.5 * np.maximum(facts.tails_per_type[claims.type], 1)))
    return np.log1p(heads), np.log1p(tails), np.log(head_share), tail_share, tail_share**2


def lifts(facts: Facts, claims: Claims, own: Ints) -> tuple[Floats, ...]:
    """Return how much oftener each end is at its side of this type than of any: logarithms of the ratio."""
    share = (facts.per_type[claims.type] - own) / np.maximum(len(facts.subject) - own, 1)
    heads, tails = _seen(facts, claims, own)
    leaving = (facts.leaving[claims.subject] - own) * share
    arriving = (facts.arriving[claims.object] - own) * share
    return np.log((heads + 0.5) / (leaving + 0.5)), np.log((tails + 0.5) / (arriving + 0.5))


def rivals(facts: Facts, claims: Claims, own: Ints) -> tuple[Floats, ...]:
    """Return how far the subject's other objects speak against the claim, and the object's other subjects.

    Returns:
        0 where there is none, else how near the type is to having one object a subject (one subject an
        object), 0 to 1.
    """
    total = np.maximum(facts.per_type[claims.type], 1)
    heads, tails = _seen(facts, claims, own)
    one_object = facts.heads_per_type[claims.type] / total
    one_subject = facts.tails_per_type[claims.type] / total
    return (heads > 0) * one_object, (tails > 0) * one_subject


def _seen(facts: Facts, claims: Claims, own: Ints) -> tuple[Ints, Ints]:
    """Return how often the subject is a subject of the type, the object an object of it."""
    heads = facts.heads.of(claims.type * facts.size + claims.subject) - own
    return heads, facts.tails.of(claims.type * facts.size + claims.object) - own


def signature(facts: Facts, claims: Claims, own: Ints) -> Floats:
    """Return how much oftener than any type this one joins these kinds of ends: logarithm of the ratio."""
    known = (claims.subject_kind >= 0) & (claims.object_kind >= 0)
    couple = facts.couple(claims.subject_kind, claims.object_kind)
    usual = (facts.couples.of(couple) - own) / np.maximum(len(facts.subject) - own, 1)
    here = facts.signatures.of(claims.type * facts.kinds * facts.kinds + couple) - own
    total = facts.per_type[claims.type] - own
    # With few triples of the type, or kinds that none joins, the ratio is near one.
    return np.where(known, np.log((here + 1.0) / (usual * total + 1.0)), 0.0)
