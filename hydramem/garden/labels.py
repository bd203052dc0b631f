"""What people said of relations, for the edge scorers to learn from: true ones and false ones.

A label is a verdict that a person gave, by `review` or a file that `calibrate` read; it stands on the
relation itself, so that what was undone is none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Relation
from hydramem.graph.snapshot.snapshot import LAYERS, RELATION, STATES, Snapshot
from hydramem.storage.store import GraphStore, Listing
from hydramem.verification.calibration.labels import PERSON
from hydramem.verification.first_stage.relation_arrays import Claims

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
