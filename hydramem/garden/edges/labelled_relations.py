"""What people said of relations, for the edge scorers to learn from: true ones and false ones.

A label is a verdict that a person gave, by `review` or a file that `calibrate` read; it stands on the
relation itself, so that what was undone is none.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Relation
from hydramem.graph.snapshot.snapshot import LAYERS, RELATION, STATES, Snapshot
from hydramem.storage.store import GraphStore, Listing
from hydramem.verification.calibration.labels import PERSON
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

LEAST = 20
"""Fewer labels say more of what was asked than of the graph."""

MOST = 10_000

_AT_ONCE = 500

_EACH = 25.0

_TOGETHER = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Claims that people judged.

    Attributes:
        claims: The claims.
        true: What was said of each, shape (claims,).
    """

    claims: Claims
    true: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.true)

    def share(self, examples: int) -> float:
        """Return how much the labels count beside so many examples that nobody judged, all of those being 1.

        Each label counts for many, and all of them together for no more than a fifth.
        """
        return min(_TOGETHER, _EACH * len(self) / max(examples, 1))


def labels(graph: GraphStore, snapshot: Snapshot) -> Labels:
    """Return what people said of a project's relations; nothing where they said too little.

    Args:
        graph: Where the verdicts are.
        snapshot: The project's graph; relations of ends or types that it does not know are left out.
    """
    rows = [*_confirmed(graph, snapshot), *_rejected(graph, snapshot)]
    types = {name: code for code, name in enumerate(snapshot.edges.types)}
    found = [
        (subject, types[row.type], object, row.verdict == "accepted")
        for row in rows
        if (subject := snapshot.node(row.subject)) is not None
        and (object := snapshot.node(row.object)) is not None
        and row.type in types
        and subject != object
    ]
    return _labels(found if len(found) >= LEAST else [], snapshot)


def _labels(found: list[tuple[int, int, int, bool]], snapshot: Snapshot) -> Labels:
    given = np.array(found, dtype=np.int64).reshape(-1, 4)
    kinds = snapshot.nodes.type.astype(np.int64)
    return Labels(
        claims=Claims(
            subject=given[:, 0],
            type=given[:, 1],
            object=given[:, 2],
            subject_kind=kinds[given[:, 0]],
            object_kind=kinds[given[:, 2]],
        ),
        true=given[:, 3] > 0,
    )


def no_labels(snapshot: Snapshot) -> Labels:
    """Return labels of nothing."""
    return _labels([], snapshot)


def _rejected(graph: GraphStore, snapshot: Snapshot) -> Iterator[Relation]:
    page = Listing(limit=MOST)
    yield from _by_people(graph.list_relations(snapshot.project, page, states=(), verdicts=("rejected",)))


def _confirmed(graph: GraphStore, snapshot: Snapshot) -> Iterator[Relation]:
    """Yield what people confirmed: it is `verified`, which the snapshot tells, so that few rows are read."""
    edges, ids = snapshot.edges, snapshot.nodes.ids
    verified = (edges.kind == RELATION) & (edges.layer == LAYERS.index("verified"))
    rows = np.flatnonzero(verified & (edges.state == STATES.index("active")))[:MOST]
    pairs = sorted({(ids[edges.source[row]], ids[edges.target[row]]) for row in rows})
    for start in range(0, len(pairs), _AT_ONCE):
        held = graph.relations_between(pairs[start : start + _AT_ONCE])
        yield from (row for row in _by_people(held) if row.verdict == "accepted" and row.state == "active")


def _by_people(rows: Iterable[Relation]) -> Iterator[Relation]:
    return (row for row in rows if (row.verifier or "").startswith(PERSON))


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
