"""The one write that a batch of memories comes to: rows that are new, rows that end, and what joins them."""

from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.ids import link_id
from hydramem.core.row_types import Chunk, Job, Link, LinkType, Relation, Session, Times
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.knowledge.end_validity import closed, superseded
from hydramem.ingest.knowledge.graph_rows import GraphRows, JudgedRelationRows, graph_rows, relate
from hydramem.ingest.knowledge.support import moved_relation, unsupported
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write


@dataclass(slots=True, kw_only=True)
class MemoryWrite:
    """Gathers the rows of one write of memories; the writer lock is held for as long as it lives.

    Attributes:
        operation: On whose behalf, for the audit.
        at: The time of the write.
        deferred: Whether vectors can wait: none is made here.
        rows: Memories that are new or change, by id, as they become.
        entities: Names of what each new memory mentions, by id; known once it is written.
    """

    operation: str
    target: Target
    at: datetime
    deferred: bool = False
    rows: dict[str, Chunk] = field(default_factory=dict)
    entities: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _before: dict[str, Chunk | None] = field(default_factory=dict)
    _reasons: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, Chunk] = field(default_factory=dict)
    _ended: dict[str, datetime | None] = field(default_factory=dict)
    _found: dict[str, Found] = field(default_factory=dict)
    _links: dict[str, Link] = field(default_factory=dict)
    _sessions: dict[str, Session] = field(default_factory=dict)
    _jobs: list[Job] = field(default_factory=list)
    _vectors: dict[str, Vector] = field(default_factory=dict)

    def insert(self, row: Chunk, found: Found, vector: Vector | None, *, reason: str = "") -> None:
        """Add a new memory."""
        self._put(None, row, reason)
        self._found[row.id] = found
        if vector is not None:
            self._vectors[row.id] = vector

    def change(self, before: Chunk, row: Chunk, *, reason: str = "") -> None:
        """Replace a stored memory; what it mentions and states stays."""
        self._put(self.rows.get(before.id, before), row, reason)

    def refile(self, before: Chunk | None, row: Chunk, vector: Vector | None, *, reason: str) -> None:
        """Replace a memory that was stored before it was encoded; nothing where it stays as it is."""
        if before is None or before == row:
            return
        self.change(before, row, reason=reason)
        if vector is not None:
            self._vectors[row.id] = vector

    def supersede(self, old: Chunk, *, until: datetime, by: str, reason: str, vector: Vector | None) -> None:
        """End a memory whose place another takes from a time on, keeping what was believed until now.

        Args:
            old: As it is believed.
            until: When the other begins.
            by: Id of the other.
            reason: Why, for the history.
            vector: Of the old one, where it is at hand.
        """
        begun_here = old.id in self.rows and self._before[old.id] is None
        current, version = superseded(old, until=until, at=self.at, by=by)
        self._put(old, current, reason)
        if not begun_here:
            self._versions[version.id] = version
        if vector is not None:
            self._vectors |= {current.id: vector, version.id: vector}
        if current.state != "active":
            self._take_out(old.id, until)

    def withdraw(self, old: Chunk, row: Chunk, *, reason: str) -> None:
        """Replace a memory by a row that is believed no longer, with what only it supported."""
        self._put(old, row, reason)
        self._take_out(old.id, None)

    def _take_out(self, id: str, until: datetime | None) -> None:
        self._ended[id] = until
        self._found.pop(id, None)  # what begins and ends in one write is counted nowhere

    def link(self, source: str, target: str, type: LinkType, *, weight: float, reason: str) -> None:
        """Join two memories."""
        id = link_id(self.target.project, source, type, target)
        times = Times(recorded_at=self.at)
        self._links[id] = Link(
            id=id, source=source, target=target, type=type, weight=weight, reason=reason, times=times
        )

    def said_in(self, session: Session) -> None:
        """Add a session's row."""
        self._sessions[session.id] = session

    def later(self, job: Job) -> None:
        """Leave something to the queue of jobs."""
        self._jobs.append(job)

    def linked(self, source: str) -> tuple[str, ...]:
        """Return what a memory of this write is linked to."""
        return tuple(dict.fromkeys(link.target for link in self._links.values() if link.source == source))

    def _put(self, before: Chunk | None, row: Chunk, reason: str) -> None:
        self._before.setdefault(row.id, before)
        self.rows[row.id] = row
        if reason:
            self._reasons[row.id] = reason

    def commit(self) -> None:
        """Commit what was gathered; nothing where there is nothing."""
        if not self.rows:
            return
        woven = graph_rows(
            list(self._found.items()),
            target=self.target,
            at=self.at,
            retired=[id for id in self._ended if self._before[id] is not None],
        )
        self.entities = _names(woven)
        related = relate(
            woven.stated,
            target=self.target,
            before=woven.before,
            at=self.at,
            chunks=self.rows,
            entities=woven.entities,
        )
        named = {} if self.deferred else self._named(woven)
        self.target.commit(self._write(woven, related), self._vectors | named)

    def _named(self, woven: GraphRows) -> dict[str, Vector]:
        return self.target.embed_by_id({row.id: row.name for row in woven.crossing(worth_a_vector)})

    def _write(self, woven: GraphRows, related: JudgedRelationRows) -> Write:
        project = self.target.project
        lost = self._lost({row.id for row in related.kept})
        memories = (
            record(
                self.operation,
                project=project,
                target=id,
                before=self._before[id],
                after=row,
                reason=self._reasons.get(id),
            )
            for id, row in self.rows.items()
        )
        ends = (
            record(self.operation, project=project, target=old.id, before=old, after=row)
            for old, (row, *_) in lost
        )
        return Write(
            changes=(*memories, *ends, *(each.change(self.operation) for each in related.refused)),
            sessions=tuple(self._sessions.values()),
            chunks=(*self.rows.values(), *self._versions.values()),
            entities=woven.entities,
            mentions=woven.mentions,
            relations=(*related.kept, *(row for _, rows in lost for row in rows)),
            links=tuple(self._links.values()),
            jobs=tuple(self._jobs),
            deferred=self.deferred,
        )

    def _lost(self, stated_again: set[str]) -> list[tuple[Relation, tuple[Relation, ...]]]:
        """Return the relations that only ended memories state, with the rows that they become."""
        gone = [id for id in self._ended if self._before[id] is not None]
        resting = unsupported(gone, self.target.graph) if gone else ()
        return [
            (row, self._after(row)) for row in resting if row.id not in stated_again and row.state == "active"
        ]

    def _after(self, relation: Relation) -> tuple[Relation, ...]:
        """Let a relation end with the last memory that stated it; it goes with one that never held."""
        ends = [end for id in relation.evidence if (end := self._ended.get(id)) is not None]
        begins = relation.times.valid_from
        if not ends or (begins is not None and max(ends) <= begins):
            return (moved_relation(relation, "archived", self.at),)
        return closed(relation, until=max(ends), at=self.at)


def _names(woven: GraphRows) -> dict[str, tuple[str, ...]]:
    names = {row.id: row.name for row in woven.entities}
    found: dict[str, list[str]] = {}
    for mention in woven.mentions:
        found.setdefault(mention.chunk, []).append(names[mention.entity])
    return {id: tuple(each) for id, each in found.items()}
