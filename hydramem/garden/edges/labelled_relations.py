"""The training data of the edge scorers: labelled and drawn relations, their features, and the scores.

A label is a verdict that a person gave, by `review` or in a file that `calibrate` read. It is stored on the
relation itself, so an undone verdict is no label.
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
from hydramem.verification.first_stage.relation_arrays import (
    Claims,
    Facts,
    Floats,
    Ints,
    joined,
    lay_out,
    taken,
)
from hydramem.verification.first_stage.similar_entities import Learned, learned

LEAST = 20
"""Fewer labels reflect which questions were asked more than the graph."""

MOST = 10_000
_AT_ONCE = 500
_LABEL_WEIGHT = 25.0
_MOST_SHARE = 0.2
"""How many other examples a label counts for, and the largest share of all labels together."""

_TRIES = 4
"""Rounds in which wrong claims are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Claims that people judged.

    Attributes:
        true: Whether each is true, shape (claims,).
    """

    claims: Claims
    true: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.true)

    def share(self, examples: int) -> float:
        """Return the weight of all labels relative to so many unlabelled examples of total weight 1."""
        return min(_MOST_SHARE, _LABEL_WEIGHT * len(self) / max(examples, 1))


def labels(graph: GraphStore, snapshot: Snapshot) -> Labels:
    """Return the verdicts of people on a project's relations; none where there are too few.

    Args:
        graph: Where the verdicts are stored.
        snapshot: The project's graph; relations with unknown ends or types are left out.
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
    subject, type, object, true = np.array(found, dtype=np.int64).reshape(-1, 4).T
    return Labels(claims=_claims(snapshot, subject, type, object), true=true > 0)


def no_labels(snapshot: Snapshot) -> Labels:
    """Return an empty set of labels."""
    return _labels([], snapshot)


def _rejected(graph: GraphStore, snapshot: Snapshot) -> Iterator[Relation]:
    page = Listing(limit=MOST)
    yield from _by_people(graph.list_relations(snapshot.project, page, states=(), verdicts=("rejected",)))


def _confirmed(graph: GraphStore, snapshot: Snapshot) -> Iterator[Relation]:
    """Yield relations that people accepted; these are `verified` in the snapshot, so few rows are read."""
    edges, ids = snapshot.edges, snapshot.nodes.ids
    verified = (edges.kind == RELATION) & (edges.layer == LAYERS.index("verified"))
    rows = np.flatnonzero(verified & (edges.state == STATES.index("active")))[:MOST]
    pairs = sorted({(ids[edges.source[row]], ids[edges.target[row]]) for row in rows})
    for start in range(0, len(pairs), _AT_ONCE):
        rows_between = graph.relations_between(pairs[start : start + _AT_ONCE])
        yield from (
            row for row in _by_people(rows_between) if row.verdict == "accepted" and row.state == "active"
        )


def _by_people(rows: Iterable[Relation]) -> Iterator[Relation]:
    return (row for row in rows if (row.verifier or "").startswith(PERSON))


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeScores:
    """The scores of relations by an edge scorer.

    Attributes:
        rows: The relations, as rows of the snapshot's edges.
        spurious: Probability that each is wrong, shape (rows,).
        scorer: Name of the scorer.
        auc: Probability that a held-out relation scores better than a drawn wrong one.
        calibration: Brier score: mean squared error of the probabilities on those.
        labels: How many labels the scorer learned from.
        notes: What else a person should know; a sentence each.
    """

    rows: NDArray[np.int64]
    spurious: Floats
    scorer: str
    auc: float
    calibration: float
    labels: int = 0
    notes: tuple[str, ...] = ()


def relations_of(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the rows of the active relations between two different entities, without likely-same links."""
    edges = snapshot.edges
    active = (edges.kind == RELATION) & (edges.state == STATES.index("active"))
    rows = np.flatnonzero(active & (edges.source != edges.target))
    return rows[~snapshot.is_likely_same(rows)]


def stated_of(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the rows of those that are stated and not doubted: only they are learned from."""
    rows = relations_of(snapshot)
    return rows[~snapshot.edges.supposed[rows] & snapshot.believed()[rows]]


def claims_of(snapshot: Snapshot, rows: NDArray[np.int64]) -> Claims:
    """Return relations as claims."""
    edges = snapshot.edges
    subject, type, object = (each[rows].astype(np.int64) for each in (edges.source, edges.type, edges.target))
    return _claims(snapshot, subject, type, object)


def _claims(snapshot: Snapshot, subject: Ints, type: Ints, object: Ints) -> Claims:
    kinds = snapshot.nodes.type.astype(np.int64)
    return Claims(
        subject=subject, type=type, object=object, subject_kind=kinds[subject], object_kind=kinds[object]
    )


def wrong_claims(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    """Draw claims that are not in the graph: half at random, half with ends that fit their type."""
    return joined([_at_random(facts, count - count // 2, draw), _of_fitting_ends(facts, count // 2, draw)])


def _at_random(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    ends = np.unique(np.concatenate([facts.subject, facts.object]))

    def draw_ends(size: int) -> tuple[Ints, Ints, Ints]:
        return draw.choice(ends, size), draw.choice(facts.type, size), draw.choice(ends, size)

    return _not_stored(facts, count, draw_ends)


def _of_fitting_ends(facts: Facts, count: int, draw: np.random.Generator) -> Claims:
    by_type = np.argsort(facts.type, kind="stable")
    starts = np.searchsorted(facts.type[by_type], np.arange(facts.types + 1))

    def draw_ends(size: int) -> tuple[Ints, Ints, Ints]:
        rows = draw.integers(0, len(facts.type), size)
        type = facts.type[rows]
        other = by_type[starts[type] + draw.integers(0, 2**31, size) % (starts[type + 1] - starts[type])]
        turned = draw.random(size) < 0.5
        return (
            np.where(turned, facts.subject[other], facts.subject[rows]),
            type,
            np.where(turned, facts.object[rows], facts.object[other]),
        )

    return _not_stored(facts, count, draw_ends)


def _not_stored(facts: Facts, count: int, draw_ends: Callable[[int], tuple[Ints, Ints, Ints]]) -> Claims:
    found: list[Claims] = []
    missing = count
    for _ in range(_TRIES):
        subject, type, object = draw_ends(2 * missing + 8)
        claims = facts.claims(subject, type, object)
        fits = np.flatnonzero((subject != object) & ~facts.stored(claims))[:missing]
        found.append(taken(claims, fits))
        missing -= len(fits)
        if missing <= 0:
            break
    return joined(found)


def known_of(snapshot: Snapshot) -> Learned:
    """Return what verification learned from the graph, with the relations of exactly this snapshot."""
    known = learned(snapshot)
    if known.edges == int(np.count_nonzero(snapshot.edges.kind == RELATION)):
        return known
    return Learned(facts=lay_out(snapshot), rules=known.rules, profiles=known.profiles, edges=known.edges)


def features(known: Learned, claims: Claims) -> Floats:
    """Return the features of claims, computed without the claim itself where it is stored.

    These are the features of verification (`graph_features`), and counts of how often each end occurs on its
    side of the type and of any type: they alone tell where two ends have no common neighbour. The size of the
    type is given as it is: one less for stored claims would only distinguish stored from drawn ones.
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
    by_topology = topology(known, claims)
    if np.count_nonzero(facts.per_type) < 2:
        # With a single type a lift would only show whether the claim itself is stored.
        by_topology[:, [NAMES.index("head_lift"), NAMES.index("tail_lift")]] = 0
    return np.column_stack([by_topology, *logs, *shares])
