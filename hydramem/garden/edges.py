"""Relations as claims about the rest of the graph, and wrong ones drawn to be told from them. Pure.

Whoever learns from stored relations alone learns that everything is true: wrong ones must be drawn. Half
are any two things under any type, half take one end of a relation and put another there that occurs at that
end of the type, the kind of error that extraction makes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.snapshot import RELATION, STATES, Snapshot
from hydramem.verification.first_stage.graph_features import NAMES, topology
from hydramem.verification.first_stage.likeness import Learned, learned
from hydramem.verification.first_stage.relation_arrays import (
    Claims,
    Facts,
    Floats,
    Ints,
    joined,
    lay_out,
    taken,
)

_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeScores:
    """How spurious each relation looks to a scorer.

    Attributes:
        rows: The relations, by their rows in the snapshot's edges.
        spurious: Probability that each is wrong, shape (rows,).
        scorer: Which one it was.
        auc: Chance that a held-out relation looks better than a drawn wrong one.
        calibration: Mean squared distance of the probabilities from the truth on those (Brier score).
        labels: How many relations that people judged it learned from.
        notes: What else there is to say of it; a sentence each.
    """

    rows: NDArray[np.int64]
    spurious: Floats
    scorer: str
    auc: float
    calibration: float
    labels: int = 0
    notes: tuple[str, ...] = ()


def relations_of(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the rows of the active relations between two different things."""
    edges = snapshot.edges
    active = (edges.kind == RELATION) & (edges.state == STATES.index("active"))
    return np.flatnonzero(active & (edges.source != edges.target))


def stated_of(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the rows of those that something states: whoever learns from guesses learns to guess alike."""
    rows = relations_of(snapshot)
    return rows[~snapshot.edges.supposed[rows]]


def claims_of(snapshot: Snapshot, rows: NDArray[np.int64]) -> Claims:
    """Return relations as claims."""
    edges, kinds = snapshot.edges, snapshot.nodes.type.astype(np.int64)
    subject, object = edges.source[rows].astype(np.int64), edges.target[rows].astype(np.int64)
    return Claims(
        subject=subject,
        type=edges.type[rows].astype(np.int64),
        object=object,
        subject_kind=kinds[subject],
        object_kind=kinds[object],
    )


def wrong_claims(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    """Draw claims that the graph does not hold: half at random, half of ends that fit their type."""
    return joined([_at_random(facts, count - count // 2, draw), _of_its_kind(facts, count // 2, draw)])


def _at_random(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    ends = np.unique(np.concatenate([facts.subject, facts.object]))

    def some(size: int) -> tuple[Ints, Ints, Ints]:
        return draw.choice(ends, size), draw.choice(facts.type, size), draw.choice(ends, size)

    return _not_stored(facts, count, some)


def _of_its_kind(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    by_type = np.argsort(facts.type, kind="stable")
    starts = np.searchsorted(facts.type[by_type], np.arange(facts.types + 1))

    def some(size: int) -> tuple[Ints, Ints, Ints]:
        rows = draw.integers(0, len(facts.type), size)
        type = facts.type[rows]
        other = by_type[starts[type] + draw.integers(0, 2**31, size) % (starts[type + 1] - starts[type])]
        turned = draw.random(size) < 0.5
        return (
            np.where(turned, facts.subject[other], facts.subject[rows]),
            type,
            np.where(turned, facts.object[rows], facts.object[other]),
        )

    return _not_stored(facts, count, some)


def _not_stored(facts: Facts, count: int, some: Callable[[int], tuple[Ints, Ints, Ints]]) -> Claims:
    found: list[Claims] = []
    missing = count
    for _ in range(_TRIES):
        subject, type, object = some(2 * missing + 8)
        claims = facts.claims(subject, type, object)
        fits = np.flatnonzero((subject != object) & ~facts.stored(claims))[:missing]
        found.append(taken(claims, fits))
        missing -= len(fits)
        if missing <= 0:
            break
    return joined(found)


def known_of(snapshot: Snapshot) -> Learned:
    """Return what the graph teaches, of this very snapshot."""
    known = learned(snapshot)
    if known.edges == int(np.count_nonzero(snapshot.edges.kind == RELATION)):
        return known
    return Learned(facts=lay_out(snapshot), rules=known.rules, profiles=known.profiles, edges=known.edges)


def features(known: Learned, claims: Claims) -> Floats:
    """Return what the graph says of claims, each left out of what is counted where it is stored.

    What verification looks at (`verification.features`), and how often each end is at its side of the type
    and of any: where two ends have no neighbour in common, these alone tell. How large the type is, is said
    as it is: one less for every claim that is stored would tell those from drawn ones, and nothing else.
    """
    facts = known.facts
    own = facts.stored(claims).astype(np.int64)
    heads = facts.heads.of(claims.type * facts.size + claims.subject) - own
    tails = facts.tails.of(claims.type * facts.size + claims.object) - own
    leaving, arriving = facts.leaving[claims.subject] - own, facts.arriving[claims.object] - own
    total = facts.per_type[claims.type] - own
    counts = (heads, tails, leaving, facts.arriving[claims.subject], facts.leaving[claims.object], arriving)
    shares = (
        heads / np.maximum(leaving, 1),
        tails / np.maximum(arriving, 1),
        tails / np.maximum(total, 1),
        heads == 0,
        tails == 0,
    )
    logs = [np.log1p(np.maximum(each, 0)) for each in (*counts, facts.per_type[claims.type])]
    around = topology(known, claims)
    if np.count_nonzero(facts.per_type) < 2:
        # With one type there is no other to be usual for, and what is left of a lift is that one less.
        around[:, [NAMES.index("head_lift"), NAMES.index("tail_lift")]] = 0
    return np.column_stack([around, *logs, *shares])
