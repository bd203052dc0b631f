"""What the paths between two ends say of a claim: rules "who is joined so is also joined by this type".

A rule is a path of one or two edges and a type; its confidence is the share of such paths, anywhere in the
graph, whose ends the type joins as well (the body and support of Galarraga et al., "AMIE", 2013, counted by
path). The claim itself, where it is stored already, is left out of its own rules.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.verification.facts import Claims, Counted, Facts, Floats, Ints, counted, found, ragged

_MOST_NEIGHBORS = 256
_BLOCK = 20_000
_SAMPLED = 200_000
_DOUBT = 3.0
"""Paths that a rule is held to have failed on before any was seen."""


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
    """What was learned of paths.

    Attributes:
        bodies: How often each path occurs.
        supports: How often it occurs between ends that a type joins; key `path * types + type`.
        scale: What to multiply counted supports by, where only a sample was counted.
    """

    bodies: Counted
    supports: Counted
    scale: float


def common(facts: Facts, subject: Ints, object: Ints) -> Common:
    """Find the nodes next to both ends, from the end that has fewer neighbours.

    Args:
        facts: The graph.
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


def one_step(facts: Facts, claims: Claims) -> Between:
    """Return the edges that join the ends of each claim, but the claim itself."""
    pairs = facts.pairs(claims.subject, claims.object)
    joined = np.flatnonzero(pairs >= 0)
    which, rows = ragged(facts.label_starts[pairs[joined]], facts.label_starts[pairs[joined] + 1])
    claim, label = joined[which], facts.labels[rows]
    other = label != claims.type[claim] * 2
    return Between(claim=claim[other], path=label[other])


def two_steps(facts: Facts, between: Common) -> Between:
    """Return the paths of two edges through nodes next to both ends."""
    labels = 2 * facts.types
    one, rows = ragged(facts.label_starts[between.first], facts.label_starts[between.first + 1])
    second = between.second[one]
    two, more = ragged(facts.label_starts[second], facts.label_starts[second + 1])
    path = facts.labels[rows[two]] * labels + facts.labels[more]
    return Between(claim=between.claim[one[two]], path=path + labels)


def learn(facts: Facts) -> Rules:
    """Count, for every path, how often it occurs and which types join its ends."""
    total = len(facts.subject)
    step = max(1, -(-total // _SAMPLED))
    chosen = np.arange(0, total, step)
    supports = [np.zeros(0, dtype=np.int64)]
    for begin in range(0, len(chosen), _BLOCK):
        rows = chosen[begin : begin + _BLOCK]
        claims = _claims(facts, rows)
        steps = one_step(facts, claims), two_steps(facts, common(facts, claims.subject, claims.object))
        supports += [each.path * facts.types + claims.type[each.claim] for each in steps]
    return Rules(
        bodies=_bodies(facts), supports=counted(np.concatenate(supports)), scale=total / max(len(chosen), 1)
    )


def _claims(facts: Facts, rows: NDArray[np.int64]) -> Claims:
    subject, object = facts.subject[rows], facts.object[rows]
    return Claims(
        subject=subject,
        type=facts.type[rows],
        object=object,
        subject_kind=facts.kind[subject],
        object_kind=facts.kind[object],
    )


def _bodies(facts: Facts) -> Counted:
    """Count paths by the labels along them: those through a node are the ways in times the ways out."""
    from scipy.sparse import csr_matrix

    labels = 2 * facts.types
    nodes = np.concatenate([facts.subject, facts.object])
    out = np.concatenate([facts.type * 2, facts.type * 2 + 1])
    ones = np.ones(len(nodes), dtype=np.int64)
    leaving = csr_matrix((ones, (nodes, out)), shape=(facts.size, labels))
    arriving = csr_matrix((ones, (nodes, out ^ 1)), shape=(facts.size, labels))
    through = (arriving.T @ leaving).tocoo()
    keys = through.row.astype(np.int64) * labels + through.col + labels
    counts = through.data.astype(np.int64)
    # A way in and straight back joins nothing.
    straight = np.bincount(facts.type, minlength=facts.types)
    back = np.arange(labels) * labels + (np.arange(labels) ^ 1) + labels
    places = found(keys_sorted := np.sort(keys), back)
    order = np.argsort(keys)
    counts = counts[order]
    np.subtract.at(counts, places[places >= 0], np.repeat(straight, 2)[places >= 0])
    single = np.bincount(out, minlength=labels)
    return Counted(
        keys=np.concatenate([np.arange(labels), keys_sorted]), counts=np.concatenate([single, counts])
    )


def confidence(facts: Facts, rules: Rules, claims: Claims, between: Between) -> tuple[Floats, Floats]:
    """Return how far paths speak for claims: the best rule's confidence, and that of all together.

    Args:
        facts, rules: The graph and what was learned of it.
        claims: The claims.
        between: Paths between their ends.

    Returns:
        Two arrays of shape (claims,), 0 to 1: the best confidence, and one less the product of doubts.
    """
    size, labels = len(claims.subject), 2 * facts.types
    # Equal paths between the same ends count once, and are left out of their rule where the claim is stored.
    distinct, count = np.unique(between.claim * (labels + labels * labels) + between.path, return_counts=True)
    claim, path = distinct // (labels + labels * labels), distinct % (labels + labels * labels)
    own = np.where(facts.stored(claims)[claim], count, 0)
    body = np.maximum(rules.bodies.of(path) - own, 0)
    support = np.maximum(rules.supports.of(path * facts.types + claims.type[claim]) * rules.scale - own, 0)
    share = np.minimum(support / (body + _DOUBT), 0.99)
    best = np.zeros(size)
    np.maximum.at(best, claim, share)
    doubt = np.bincount(claim, weights=np.log1p(-share), minlength=size)
    return best, 1 - np.exp(doubt)
