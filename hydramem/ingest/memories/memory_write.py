"""The one write of a batch of memories: where each goes, its row, the rows that end, and their links."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count

from hydramem.core.ids import link_id, memory_id, session_id, turn_id
from hydramem.core.results.write_results import RememberAction, Remembered
from hydramem.core.row_types import Chunk, Job, Link, LinkType, Relation, Session, Times
from hydramem.core.time import now
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.knowledge.end_validity import closed, superseded
from hydramem.ingest.knowledge.graph_rows import GraphRows, JudgedRelationRows, graph_rows, relate
from hydramem.ingest.knowledge.support import in_state, unsupported
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, record
from hydramem.storage.chunk_filter import covers
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

# Generations of one text that are looked up at once; nearly always the first is the answer.
_LOOK_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedWrite:
    """A write that is ready to be committed.

    Attributes:
        vectors: Of its memories, by id.
        names_to_embed: Names, by id, of the entities that it makes worth a vector.
    """

    write: Write
    vectors: Mapping[str, Vector]
    names_to_embed: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class MemoryWrite:
    """Gathers the rows of one write of memories, while the writer lock is held.

    Attributes:
        operation: Its name in the history.
        at: The time of the write.
        deferred: Whether vectors are made later; none is made here.
        rows: Memories that are new or change, by id, as they become.
        entities: Names of what each new memory mentions, by id; known once it is written.
        entity_names: Names of all entities that it writes.
    """

    operation: str
    target: Target
    at: datetime
    deferred: bool = False
    rows: dict[str, Chunk] = field(default_factory=dict)
    entities: dict[str, tuple[str, ...]] = field(default_factory=dict)
    entity_names: tuple[str, ...] = ()
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
        """Replace a memory that was stored before it was encoded; an equal row is no change."""
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
            self._retire(old.id, until)

    def withdraw(self, old: Chunk, row: Chunk, *, reason: str) -> None:
        """Replace a memory by a row that is no longer active; relations that only it supports go too."""
        self._put(old, row, reason)
        self._retire(old.id, None)

    def _retire(self, id: str, until: datetime | None) -> None:
        self._ended[id] = until
        self._found.pop(id, None)  # what begins and ends in one write is counted nowhere

    def link(self, source: str, target: str, type: LinkType, *, weight: float, reason: str) -> None:
        """Join two memories."""
        id = link_id(self.target.project, source, type, target)
        times = Times(recorded_at=self.at)
        self._links[id] = Link(
            id=id, source=source, target=target, type=type, weight=weight, reason=reason, times=times
        )

    def add_session(self, session: Session) -> None:
        """Add a session's row."""
        self._sessions[session.id] = session

    def add_job(self, job: Job) -> None:
        """Add a job to the queue."""
        self._jobs.append(job)

    def _linked(self, source: str) -> tuple[str, ...]:
        """Return what a memory of this write is linked to."""
        return tuple(dict.fromkeys(link.target for link in self._links.values() if link.source == source))

    def completed(self, done: Remembered) -> Remembered:
        """Return a result with what is known of its memory once the write is committed."""
        return replace(
            done,
            linked=self._linked(done.id),
            entities=self.entities.get(done.id, ()),
            run=current_run() if self.rows else None,
        )

    def _put(self, before: Chunk | None, row: Chunk, reason: str) -> None:
        self._before.setdefault(row.id, before)
        self.rows[row.id] = row
        if reason:
            self._reasons[row.id] = reason

    def commit(self) -> None:
        """Commit the gathered rows; without any, nothing is written."""
        ready = self.prepare()
        if ready is not None:
            names = self.target.embed_by_id(ready.names_to_embed)
            self.target.commit(ready.write, {**ready.vectors, **names})

    def prepare(self) -> "PreparedWrite | None":
        """Return the write of the gathered rows and of what they add to the graph; None without any."""
        if not self.rows:
            return None
        graph = graph_rows(
            list(self._found.items()),
            target=self.target,
            at=self.at,
            retired=[id for id in self._ended if self._before[id] is not None],
        )
        self.entities = _mentioned_names(graph)
        self.entity_names = tuple(row.name for row in graph.entities)
        related = relate(graph, target=self.target, chunks=self.rows)
        return PreparedWrite(
            write=self._write(graph, related),
            vectors=self._vectors,
            names_to_embed={} if self.deferred else graph.names_to_embed,
        )

    def _write(self, graph: GraphRows, related: JudgedRelationRows) -> Write:
        project = self.target.project
        ended = self._ended_relations({row.id for row in related.kept})
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
        relations = (
            record(self.operation, project=project, target=old.id, before=old, after=row)
            for old, (row, *_) in ended
        )
        return Write(
            changes=(*memories, *relations, *(each.change(self.operation) for each in related.refused)),
            sessions=tuple(self._sessions.values()),
            chunks=(*self.rows.values(), *self._versions.values()),
            entities=graph.entities,
            mentions=graph.mentions,
            relations=(*_begun(related.kept, ended, self.at), *(row for _, rows in ended for row in rows)),
            links=tuple(self._links.values()),
            jobs=tuple(self._jobs),
            deferred=self.deferred,
        )

    def _ended_relations(self, stated_again: set[str]) -> list[tuple[Relation, tuple[Relation, ...]]]:
        """Return the relations that only ended memories state, each with the rows that replace it."""
        stored = [id for id in self._ended if self._before[id] is not None]
        lost = unsupported(stored, self.target.graph) if stored else ()
        return [
            (row, self._ended_relation(row))
            for row in lost
            if row.id not in stated_again and row.state == "active"
        ]

    def _ended_relation(self, relation: Relation) -> tuple[Relation, ...]:
        """End a relation with the last memory that stated it; archive one that never held."""
        ends = [end for id in relation.evidence if (end := self._ended.get(id)) is not None]
        begins = relation.times.valid_from
        if not ends or (begins is not None and max(ends) <= begins):
            return (in_state(relation, "archived", self.at),)
        return closed(relation, until=max(ends), at=self.at)


def _begun(
    new: Iterable[Relation], ended: Iterable[tuple[Relation, tuple[Relation, ...]]], at: datetime
) -> Iterator[Relation]:
    """Let relations of this write begin where the ended ones of the same subject and type end.

    Otherwise both would hold until then: two employers at once.
    """
    ends = {
        (old.subject, old.type): current.times.valid_to
        for old, (current, *_) in ended
        if current.times.valid_to
    }
    for row in new:
        begins = ends.get((row.subject, row.type))
        fresh = row.times.recorded_at == at and row.times.valid_from is None
        yield replace(row, times=replace(row.times, valid_from=begins)) if fresh and begins else row


def remembered(row: Chunk, *, created: bool, action: RememberAction) -> Remembered:
    """Return the result for a memory as it is stored; `MemoryWrite.completed` adds to it after the commit."""
    return Remembered(
        id=row.id,
        created=created,
        action=action,
        scope=row.scope,
        categories=row.categories,
        importance=row.importance,
        state=row.state,
    )


def _mentioned_names(graph: GraphRows) -> dict[str, tuple[str, ...]]:
    names = {row.id: row.name for row in graph.entities}
    found: dict[str, list[str]] = {}
    for mention in graph.mentions:
        found.setdefault(mention.chunk, []).append(names[mention.entity])
    return {id: tuple(each) for id, each in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIdentity:
    """Where a memory goes.

    Attributes:
        position: In its session.
        known: The row that is there, where the same is current.
    """

    id: str
    position: int = 0
    known: Chunk | None = None


def memory_identity(row: Chunk, session: str | None, write: MemoryWrite) -> MemoryIdentity:
    """Find where a memory goes; a turn is always new.

    Args:
        row: The memory, its scope found.
        session: Name of its session.
        write: The write that stores it; ids of its rows are taken.
    """
    project, graph = write.target.project, write.target.graph
    if row.kind != "turn" or session is None:
        place = current_generation(row, project, graph)
        return replace(place, known=write.rows.get(place.id, place.known))
    id = session_id(project, session)
    position = graph.last_position(id) + 1
    while turn_id(id, position) in write.rows:
        position += 1
    return MemoryIdentity(id=turn_id(id, position), position=position)


def current_generation(
    row: Chunk, project: str, graph: GraphStore, *, always_next: bool = False
) -> MemoryIdentity:
    """Find a text's current generation where it has one, else the next.

    What was forgotten, or has expired, stays in the history when it is asserted again.

    Args:
        row: What is asserted.
        project: Where it goes.
        graph: Where earlier generations are.
        always_next: Take the next generation even where one is current.
    """
    generations, at = _generation_ids(row, project), now()
    while True:
        ids = [next(generations) for _ in range(_LOOK_AHEAD)]
        stored = {chunk.id: chunk for chunk in graph.chunks(ids)}
        for id in ids:
            if id not in stored or (not always_next and _is_current(stored[id], at)):
                return MemoryIdentity(id=id, known=stored.get(id))


def _is_current(row: Chunk, at: datetime) -> bool:
    return row.state in ("active", "quarantined") and covers(None, row.expires_at, at)


def _generation_ids(row: Chunk, project: str) -> Iterator[str]:
    when = row.happened_at or row.times.valid_from
    for generation in count():
        yield memory_id(project, row.scope, row.kind, row.text, when, generation)


def session_row(name: str, project: str, at: datetime, graph: GraphStore) -> Session:
    """Return a session's row after something was said in it at a time."""
    id = session_id(project, name)
    stored = next(iter(graph.sessions([id])), None)
    if stored is not None:
        return replace(stored, last_at=max(stored.last_at, at))
    return Session(id=id, project=project, name=name, started_at=at, last_at=at)
