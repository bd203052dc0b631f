"""What the graph around a claim says of it: numbers for many claims at once, none of them decided alone.

Every function leaves the claim itself out where the graph has it already, so that what is stored does not
vote for itself.
"""

import numpy as np

from hydramem.verification import paths
from hydramem.verification.facts import Claims, Facts, Floats, Ints
from hydramem.verification.paths import Common, Rules

NAMES = (
    "topology",
    "isolated",
    "jaccard",
    "adamic_adar",
    "head_prior",
    "tail_prior",
    "head_share",
    "tail_share",
    "occupied",
    "claimed",
    "signature",
    "best_path",
    "all_paths",
)


def topology(facts: Facts, rules: Rules, claims: Claims) -> Floats:
    """Return what the graph says of claims.

    Args:
        facts, rules: The graph and what was learned of it.
        claims: The claims.

    Returns:
        Shape (claims, `NAMES`); all zero where the graph knows neither end, nor the type.
    """
    result = np.zeros((len(claims.subject), len(NAMES)))
    known = np.flatnonzero((claims.subject >= 0) & (claims.object >= 0) & (claims.type >= 0))
    if not len(known):
        return result
    claims = Claims(
        subject=claims.subject[known],
        type=claims.type[known],
        object=claims.object[known],
        subject_kind=claims.subject_kind[known],
        object_kind=claims.object_kind[known],
    )
    own = facts.stored(claims).astype(np.int64)
    between = paths.common(facts, claims.subject, claims.object)
    best_one, all_one = paths.confidence(facts, rules, claims, paths.one_step(facts, claims))
    best_two, all_two = paths.confidence(facts, rules, claims, paths.two_steps(facts, between))
    result[known] = np.stack(
        [
            np.ones(len(known)),
            isolated(facts, claims, own),
            jaccard(facts, claims, between),
            adamic_adar(facts, between, len(known)),
            *priors(facts, claims, own),
            signature(facts, claims, own),
            np.maximum(best_one, best_two),
            1 - (1 - all_one) * (1 - all_two),
        ],
        axis=1,
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
    """Return how many ends nothing but the claim itself joins to anything, 0 to 2."""
    alone = np.zeros(len(claims.subject))
    pair = facts.pairs(claims.subject, claims.object)
    only = (own > 0) & (facts.label_starts[pair + 1] - facts.label_starts[pair] == 1)
    for end in (claims.subject, claims.object):
        alone += facts.degrees(end) - only <= 0
    return alone


def priors(facts: Facts, claims: Claims, own: Ints) -> tuple[Floats, ...]:
    """Return how usual the ends are at their side of the type.

    Returns:
        Logarithm of how often the subject is a subject of the type, and the object an object; the logarithm
        of their smoothed share of the type; how far another object of the subject speaks against the claim
        where subjects have one object (0 to 1); and the same of another subject of the object.
    """
    total = facts.per_type[claims.type] - own
    heads = facts.heads.of(claims.type * facts.size + claims.subject) - own
    tails = facts.tails.of(claims.type * facts.size + claims.object) - own
    head_kinds, tail_kinds = facts.heads_per_type[claims.type], facts.tails_per_type[claims.type]
    one_object = head_kinds / np.maximum(facts.per_type[claims.type], 1)
    one_subject = tail_kinds / np.maximum(facts.per_type[claims.type], 1)
    return (
        np.log1p(heads),
        np.log1p(tails),
        np.log((heads + 0.5) / (total + 0.5 * np.maximum(head_kinds, 1))),
        np.log((tails + 0.5) / (total + 0.5 * np.maximum(tail_kinds, 1))),
        (heads > 0) * one_object,
        (tails > 0) * one_subject,
    )


def signature(facts: Facts, claims: Claims, own: Ints) -> Floats:
    """Return how much oftener than any type this one joins these kinds of ends: logarithm of the ratio."""
    known = (claims.subject_kind >= 0) & (claims.object_kind >= 0)
    couple = facts.couple(claims.subject_kind, claims.object_kind)
    usual = (facts.couples.of(couple) - own + 1) / (len(facts.subject) + facts.kinds)
    here = facts.signatures.of(claims.type * facts.kinds * facts.kinds + couple) - own
    share = (here + 2 * usual) / (facts.per_type[claims.type] - own + 2)
    return np.where(known, np.log(share / usual), 0.0)
