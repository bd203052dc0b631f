"""Features of the paths between the ends of claims, weighed by what the graph itself shows.

For each relation type, the paths of one or two edges between its ends are compared with those between ends
that are shuffled within the type: the ratio of their frequencies is the evidence of a path (rules of
Galarraga et al., "AMIE", 2013, weighed by likelihood ratio instead of confidence, which paths through hubs
dominate).
A stored claim is left out of its own count.
"""

from dataclasses import dataclass

import numpy as np

from hydramem.graph.snapshot.adjacency import ragged
from hydramem.verification.first_stage.relation_arrays import (
    Claims,
    Counted,
    Facts,
    Floats,
    Ints,
    counted,
    distinct,
    taken,
)

NAMES = ("paths", "best_path", "worst_path", "mean_path")
_MOST_NEIGHBORS = 256
_SAMPLED = 50_000
_DOUBT = 1.0
"""Smoothing: occurrences of a path that are assumed on either side."""
_FAR = 5.0
"""Largest weight of a path, as a logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Paths that join the ends of claims, each a row.

    Attributes:
        claim: Which claim.
        path: A number for the labels along it.
    """

    claim: Ints
    path: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Nodes next to both ends of claims, each a row.

    Attributes:
        claim: Which claim.
        node: The node in between.
        first, second: Pairs (subject, node) and (node, object).
    """

    claim: Ints
    node: Ints
    first: Ints
    second: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How often paths join ends that a type joins, and shuffled ones; keys are `path * types + type`.

    Attributes:
        holds, shuffled: Claims that each path was seen at.
        held, tried: Claims of each type that were looked at, shape (types,).
        every: Whether all triples were looked at, rather than a sample.
    """

    holds: Counted
    shuffled: Counted
    held: Ints
    tried: Ints
    every: bool


def common(facts: Facts, subject: Ints, object: Ints) -> Common:
    """Find the nodes next to both ends, from the end that has fewer neighbours.

    Args:
        subject, object: Nodes, shape (claims,); all known.
    """
    swap = facts.degrees(subject) > facts.degrees(object)
    near, far = np.where(swap, object, subject), np.where(swap, subject, object)
    begins = facts.starts[near]
    ends = np.minimum(facts.starts[near + 1], begins + _MOST_NEIGHBORS)
    claim, rows = ragged(begins, ends)
    nodes = facts.neighbors[rows]
    others = facts.pairs(nodes, far[claim])
    keep = (others >= 0) & (nodes != far[claim])
    claim, nodes = claim[keep], nodes[keep]
    return Common(
        claim=claim,
        node=nodes,
        first=facts.pairs(subject[claim], nodes),
        second=facts.pairs(nodes, object[claim]),
    )


def between(facts: Facts, claims: Claims, shared: Common) -> Between:
    """Return the distinct paths between the ends of each claim; having none of two edges counts as one."""
    labels = 2 * facts.types
    short, long = _one_step(facts, claims), _two_steps(facts, shared)
    none = np.setdiff1d(np.arange(len(claims.subject)), long.claim)
    paths = labels * (labels + 1) + 1
    keys = distinct(
        np.concatenate([short.claim, long.claim, none]) * paths
        + np.concatenate([short.path, long.path, np.full(len(none), paths - 1)])
    )
    return Between(claim=keys // paths, path=keys % paths)


def _one_step(facts: Facts, claims: Claims) -> Between:
    """Return the edges that join the ends of each claim, but the claim itself."""
    pairs = facts.pairs(claims.subject, claims.object)
    joined = np.flatnonzero(pairs >= 0)
    which, rows = ragged(facts.label_starts[pairs[joined]], facts.label_starts[pairs[joined] + 1])
    claim, label = joined[which], facts.labels[rows]
    other = label != claims.type[claim] * 2
    return Between(claim=claim[other], path=label[other])


def _two_steps(facts: Facts, shared: Common) -> Between:
    """Return the paths of two edges through nodes next to both ends."""
    labels = 2 * facts.types
    one, rows = ragged(facts.label_starts[shared.first], facts.label_starts[shared.first + 1])
    second = shared.second[one]
    two, more = ragged(facts.label_starts[second], facts.label_starts[second + 1])
    path = facts.labels[rows[two]] * labels + facts.labels[more]
    return Between(claim=shared.claim[one[two]], path=path + labels)


def learn(facts: Facts) -> Rules:
    """Count the paths between the ends of triples, or of an even sample of them, and of shuffled ones."""
    total = len(facts.subject)
    step = max(1, -(-total // _SAMPLED))
    rows = np.arange(0, total, step)
    held = facts.claims(facts.subject[rows], facts.type[rows], facts.object[rows])
    tried = _shuffled(facts, held)
    return Rules(
        holds=_seen(facts, held),
        shuffled=_seen(facts, tried),
        held=np.bincount(held.type, minlength=facts.types),
        tried=np.bincount(tried.type, minlength=facts.types),
        every=step == 1,
    )


def _shuffled(facts: Facts, claims: Claims) -> Claims:
    """Give each claim another end, drawn from the ends of its type: once each side."""
    draw = np.random.default_rng(0)
    first = np.searchsorted(facts.type, claims.type)
    drawn = first + (draw.random((2, len(first))) * facts.per_type[claims.type]).astype(np.int64)
    subject = np.concatenate([facts.subject[drawn[0]], claims.subject])
    object = np.concatenate([claims.object, facts.object[drawn[1]]])
    both = facts.claims(subject, np.tile(claims.type, 2), object)
    return taken(both, ~facts.stored(both) & (subject != object))


def _seen(facts: Facts, claims: Claims) -> Counted:
    found = between(facts, claims, common(facts, claims.subject, claims.object))
    return counted(found.path * facts.types + claims.type[found.claim])


def evidence(facts: Facts, rules: Rules, claims: Claims, found: Between) -> Floats:
    """Return the evidence of paths for and against claims, as logarithms of likelihood ratios.

    Args:
        facts, rules: The graph and what was learned of it.
        found: The paths between their ends.

    Returns:
        Shape (claims, `NAMES`): their sum, the greatest, the least, and the sum by the root of their number.
    """
    size, type = len(claims.subject), claims.type[found.claim]
    # A stored claim was looked at itself, for certain only where all were.
    own = (facts.stored(claims) & rules.every)[found.claim].astype(np.int64)
    key = found.path * facts.types + type
    scale = (rules.held[type] - own) / np.maximum(rules.tried[type], 1)
    holds = np.maximum(rules.holds.of(key) - own, 0)
    ratio = np.log((holds + _DOUBT) / (rules.shuffled.of(key) * scale + _DOUBT))
    ratio = np.clip(ratio, -_FAR, _FAR)
    total = np.bincount(found.claim, weights=ratio, minlength=size)
    number = np.bincount(found.claim, minlength=size)
    most, least = np.full(size, -_FAR), np.full(size, _FAR)
    np.maximum.at(most, found.claim, ratio)
    np.minimum.at(least, found.claim, ratio)
    some = number > 0
    return np.stack(
        [total, np.where(some, most, 0), np.where(some, least, 0), total / np.sqrt(np.maximum(number, 1))],
        axis=1,
    )
