"""Conflicting pairs: two relations of which only one can hold, where only a person can say which.

Pairs that the phase `supersede` can order are left to it. An answer to one of the others becomes a verdict,
an end, or a mark that both hold.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import Chunk, Relation
from hydramem.core.time import not_ahead
from hydramem.garden.phases.supersede.supersede_relations import (
    SlotRelation,
    ends_by,
    evidence_of,
    in_order,
    slot_relation,
    why_open,
)
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import can_coexist, closed, is_version, revised
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.storage.store import GraphStore
from hydramem.verification.conflicts.sentence_clashes import rivals

_MOST_PAIRS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingPair:
    """Two relations that cannot both hold, in the order in which they began or were stated."""

    older: SlotRelation
    newer: SlotRelation

    @property
    def rows(self) -> tuple[Relation, Relation]:
        """Both relations, as they are stored."""
        return self.older.row, self.newer.row

    @property
    def reason(self) -> str:
        """Why only a person can decide."""
        return f"Of {self.older.row.type} there is one at a time. {why_open(self.older, self.newer)}"


def conflicting_pairs(
    graph: GraphStore, snapshot: Snapshot, functional: Collection[str]
) -> list[ConflictingPair]:
    """Return the pairs of a project that only a person can decide on, the most believed first.

    Args:
        graph: Where relations and their evidence are stored.
        functional: Types with one object at a time.
    """
    pairs, _ = rivals(snapshot, functional, limit=_MOST_PAIRS) if functional else ((), False)
    ends = sorted({end for pair in pairs for end in pair.ends})
    stored = {row.id: row for row in (graph.relations(ends) if ends else ())}
    known = [[stored[id] for id in pair.ids if id in stored] for pair in pairs]
    chunks = evidence_of([row for rows in known for row in rows], graph)
    found = [
        _ordered(rows[0], rows[1], snapshot.nodes.ids[pair.subject], chunks)
        for pair, rows in zip(pairs, known, strict=True)
        if len(rows) == 2 and all(map(_is_open, rows)) and not can_coexist(*rows)
    ]
    return [pair for pair in found if ends_by(pair.older, pair.newer) is None]


def conflicting_pair(one: Relation, other: Relation, graph: GraphStore) -> ConflictingPair | None:
    """Return two relations as they conflict now; None where one of them no longer holds.

    Args:
        one, other: The rows as they were read before.
        graph: Where they are read again.
    """
    stored = {row.id: row for row in graph.relations(sorted({one.subject, other.subject}))}
    rows = [stored[id] for id in (one.id, other.id) if id in stored]
    if len(rows) < 2 or not all(map(_is_believed, rows)) or can_coexist(*rows):
        return None
    shared = {one.subject, one.object} & {other.subject, other.object}
    subject = one.subject if one.subject in shared else min(shared)
    return _ordered(rows[0], rows[1], subject, evidence_of(rows, graph))


def _is_open(row: Relation) -> bool:
    """Say whether a relation is believed; a deferred one is a question of its own."""
    return _is_believed(row) and (row.verdict != "deferred" or is_given(row))


def _is_believed(row: Relation) -> bool:
    return row.state == "active" and not is_version(row)


def _ordered(one: Relation, other: Relation, subject: str, chunks: Mapping[str, Chunk]) -> ConflictingPair:
    older, newer = in_order(slot_relation(row, subject, chunks) for row in (one, other))
    return ConflictingPair(older=older, newer=newer)


def ended(pair: ConflictingPair, at: datetime) -> Sequence[tuple[Relation, Relation | None]]:
    """Return the rows by which the newer relation ends the older, each with the row before it.

    The older ends when the newer begins; where that is not after its own beginning, it ends now.

    Args:
        pair: The relations as they are stored.
    """
    older, newer = pair.older, pair.newer
    if newer.fact.begins <= older.fact.begins:
        current, version = closed(older.row, until=not_ahead(at), at=at, by=newer.row.id)
        return ((current, older.row), (version, None))
    until = newer.fact.ends_others
    current, version = closed(older.row, until=until, at=at, by=newer.row.id)
    rows: list[tuple[Relation, Relation | None]] = [(current, older.row), (version, None)]
    if newer.row.times.valid_from is None:
        begun, before = revised(newer.row, valid_from=until, valid_to=newer.row.times.valid_to, at=at)
        rows += [(begun, newer.row), (before, None)]
    return rows
