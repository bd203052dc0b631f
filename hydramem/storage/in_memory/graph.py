"""A graph store of plain dictionaries: the meaning that the engines are tested against."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import (
    Change,
    Chunk,
    Decision,
    Document,
    Entity,
    Job,
    JobState,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
    State,
)
from hydramem.storage import schema
from hydramem.storage.chunk_filter import LIVE, ChunkFilter, entities_by_key, holds
from hydramem.storage.in_memory import counts as row_counts
from hydramem.storage.in_memory import snapshot_tables
from hydramem.storage.in_memory.edge_index import EdgeIndex
from hydramem.storage.in_memory.undo_image import undo_image
from hydramem.storage.row_codec import normalise
from hydramem.storage.store import EndedRun, Listing, Stretch
from hydramem.storage.write import OutboxRow, Removal, Write
from hydramem.storage.write_validation import (
    PlannedWrite,
    batches,
    check_page,
    check_references,
    edge_order,
    link_order,
    newest_first,
    plan_write,
    relation_order,
    removed_nodes,
)
from hydramem.text.normalize import entity_key

if TYPE_CHECKING:
    import pyarrow as pa

Row = TypeVar("Row")


class InMemoryGraph:
    """A `GraphStore` that lives as long as the object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._documents: dict[str, Document] = {}
        self._chunks: dict[str, Chunk] = {}
        self._entities: dict[str, Entity] = {}
        self._sessions: dict[str, Session] = {}
        self._jobs: dict[str, Job] = {}
        self._changes: dict[str, Change] = {}
        self._relations: EdgeIndex[tuple[str, str, str], Relation] = EdgeIndex()
        self._links: EdgeIndex[tuple[str, str, str], Link] = EdgeIndex()
        self._mentions: EdgeIndex[tuple[str, str], Mention] = EdgeIndex()
        self._recalled: list[Recalled] = []
        self._outbox: dict[str, OutboxRow] = {}
        self._meta: dict[str, str] = {"schema_version": str(schema.SCHEMA_VERSION)}
        self._closed = False
        self._nodes: dict[str, dict[str, Any]] = {
            "Document": self._documents,
            "Chunk": self._chunks,
            "Entity": self._entities,
            "Session": self._sessions,
            "Job": self._jobs,
            "Change": self._changes,
            "Outbox": self._outbox,
        }
        self._edges: dict[str, Callable[[], Iterable[Any]]] = {
            "RELATES": lambda: self._relations.rows.values(),
            "LINKS": lambda: self._links.rows.values(),
            "MENTIONS": lambda: self._mentions.rows.values(),
            "RECALLED": lambda: self._recalled,
        }

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return "memory"

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, if any."""
        plan = _normalised(plan_write(write))
        with self._open():
            gone = removed_nodes(plan.removed)
            check_references(plan.needs, lambda table, id: id in self._nodes[table] and id not in gone[table])
            repeated = self._changes.keys() & plan.changes.keys()
            if repeated and not plan.verbatim:
                raise InvalidInputError(f"write: change {min(repeated)!r} is recorded already")
            self._apply(plan if plan.verbatim else self._with_image(plan))
        return plan.outbox.id if plan.outbox else None

    def _with_image(self, plan: PlannedWrite) -> PlannedWrite:
        if not plan.changes:
            return plan
        edges: dict[str, EdgeIndex[Any, Any]] = {
            "RELATES": self._relations,
            "LINKS": self._links,
            "MENTIONS": self._mentions,
        }
        held: dict[str, Mapping[Any, Any]] = {name: table.rows for name, table in edges.items()}
        ends = (*plan.removed.chunks, *plan.removed.entities)
        detached = {name: table.at(ends) for name, table in edges.items()}
        first = next(iter(plan.changes.values()))
        noted = replace(first, image=undo_image(plan, {**self._nodes, **held}, detached))
        return replace(plan, changes={**plan.changes, first.id: noted})

    def _apply(self, plan: PlannedWrite) -> None:
        self._remove(plan.removed)
        self._documents.update(plan.documents)
        self._chunks.update(plan.chunks)
        held = [self._chunks[id] for id in plan.embedded if id in self._chunks]
        self._chunks.update((row.id, replace(row, vector_state="ready")) for row in held)
        self._entities.update(plan.entities)
        self._sessions.update(plan.sessions)
        self._jobs.update(plan.jobs)
        self._changes.update((id, row) for id, row in plan.changes.items() if id not in self._changes)
        for relation_key, relation in plan.relations.items():
            self._relations.put(relation_key, relation)
        for link_key, link in plan.links.items():
            self._links.put(link_key, link)
        for mention_key, mention in plan.mentions.items():
            self._mentions.put(mention_key, mention)
        if plan.verbatim:
            self._recalled.extend(row for row in plan.recalled if row not in self._recalled)
        else:
            for recalled in plan.recalled:
                self._recall(recalled)
        if plan.outbox:
            self._outbox[plan.outbox.id] = plan.outbox
        for id in plan.heard:
            self._outbox.pop(id, None)

    def _remove(self, removed: Removal) -> None:
        for relation_key in removed.relations:
            self._relations.remove(relation_key)
        for link_key in removed.links:
            self._links.remove(link_key)
        for mention_key in removed.mentions:
            self._mentions.remove(mention_key)
        nodes = removed_nodes(removed)
        for table, held in self._nodes.items():
            for id in nodes.get(table, ()):
                held.pop(id, None)
        self._relations.detach(removed.entities)
        self._links.detach(removed.chunks)
        self._mentions.detach((*removed.chunks, *removed.entities))
        sessions, chunks = set(removed.sessions), set(removed.chunks)
        if sessions or chunks:
            self._recalled[:] = [
                row for row in self._recalled if row.session not in sessions and row.chunk not in chunks
            ]

    def _recall(self, recalled: Recalled) -> None:
        self._recalled.append(recalled)
        chunk = self._chunks[recalled.chunk]
        last = max(filter(None, (chunk.last_recalled_at, recalled.at)))
        self._chunks[chunk.id] = replace(chunk, recall_count=chunk.recall_count + 1, last_recalled_at=last)

    @contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise StorageError("the store in memory is closed; connect again")
            yield

    def documents(self, ids: Sequence[str]) -> tuple[Document, ...]:
        """Return documents by id."""
        with self._open():
            return _pick(self._documents, ids)

    def chunks(self, ids: Sequence[str]) -> tuple[Chunk, ...]:
        """Return chunks by id."""
        with self._open():
            return _pick(self._chunks, ids)

    def entities(self, ids: Sequence[str]) -> tuple[Entity, ...]:
        """Return entities by id."""
        with self._open():
            return _pick(self._entities, ids)

    def sessions(self, ids: Sequence[str]) -> tuple[Session, ...]:
        """Return sessions by id."""
        with self._open():
            return _pick(self._sessions, ids)

    def relations(self, entities: Sequence[str]) -> tuple[Relation, ...]:
        """Return every relation with one of these entities at either end, newest first."""
        with self._open():
            rows = self._relations.touching(entities, 0, 1)
        return tuple(newest_first(rows, moment=_recorded_at, id=relation_order))

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation from the first to the second of each pair, newest first."""
        wanted = set(pairs)
        with self._open():
            near = self._relations.touching({source for source, _ in wanted}, 0)
        rows = [row for row in near if (row.subject, row.object) in wanted]
        return tuple(newest_first(rows, moment=_recorded_at, id=relation_order))

    def mentions(self, chunks: Sequence[str]) -> tuple[Mention, ...]:
        """Return what these chunks mention, in the order of the chunks."""
        place = {id: number for number, id in enumerate(dict.fromkeys(chunks))}
        with self._open():
            rows = self._mentions.touching(chunks, 0)
        return tuple(sorted(rows, key=lambda row: (place[row.chunk], row.entity)))

    def mentioned(self, entities: Sequence[str]) -> tuple[Mention, ...]:
        """Return which chunks mention these entities, in the order of the entities."""
        place = {id: number for number, id in enumerate(dict.fromkeys(entities))}
        with self._open():
            rows = self._mentions.touching(entities, 1)
        return tuple(sorted(rows, key=lambda row: (place[row.entity], row.chunk)))

    def links(self, chunks: Sequence[str]) -> tuple[Link, ...]:
        """Return every link with one of these chunks at either end, newest first."""
        with self._open():
            rows = self._links.touching(chunks, 0, 1)
        return tuple(newest_first(rows, moment=_recorded_at, id=link_order))

    def changes(
        self,
        *,
        id: str | None = None,
        target: str | None = None,
        run: str | None = None,
        request: str | None = None,
        project: str | None = None,
        kind: str | None = None,
        operation: str | None = None,
    ) -> tuple[Change, ...]:
        """Return changes, oldest first; all that is given must match."""
        with self._open():
            rows = [
                row
                for row in self._changes.values()
                if (id is None or row.id == id)
                and (target is None or row.target == target)
                and (run is None or row.run == run)
                and (request is None or row.request == request)
                and (project is None or row.project == project)
                and (kind is None or row.target.startswith(f"{kind}_"))
                and (operation is None or row.operation == operation)
            ]
        return tuple(sorted(rows, key=lambda row: (row.at, row.id)))

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
        with self._open():
            return row_counts.ended_runs(self._changes.values(), project, before, most=most)

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""
        with self._open():
            return tuple(sorted({row.project for row in self._changes.values() if row.at < before}))

    def list_documents(
        self,
        project: str,
        page: Listing,
        *,
        states: Sequence[State] = LIVE,
        known_at: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return a page of a project's documents, newest recorded first."""
        with self._open():
            rows = [
                row
                for row in self._documents.values()
                if row.project == project
                and (not states or row.state in states)
                and holds(row.times, None, known_at)
            ]
        return _page(newest_first(rows, moment=_recorded_at, id=_id), page)

    def list_chunks(
        self,
        where: ChunkFilter,
        page: Listing,
        *,
        event_type: str | None = None,
        mentioning: str | None = None,
        expired_by: datetime | None = None,
        by_time: bool = False,
    ) -> tuple[Chunk, ...]:
        """Return a page of chunks: by time, of one document or session by position, else newest first."""
        with self._open():
            named = None if mentioning is None else {row.chunk for row in self.mentioned([mentioning])}
            rows = [
                row
                for row in self._chunks.values()
                if where.admits(row)
                and (event_type is None or row.event_type == event_type)
                and (named is None or row.id in named)
                and (expired_by is None or (row.expires_at is not None and row.expires_at <= expired_by))
            ]
        rows.sort(key=lambda row: (row.position, row.id))
        if by_time:
            dated = [(row.happened_at, row) for row in rows if row.happened_at is not None]
            rows = [row for _, row in sorted(dated, key=lambda each: each[0])]
        elif len(where.documents) != 1 and len(where.sessions) != 1:
            rows.sort(key=_recorded_at, reverse=True)
        return _page(rows, page)

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, of every state, in order of stretch, position and id."""
        with self._open():
            rows = sorted(self._chunks.values(), key=lambda row: (row.position, row.id))
        found = [row for one in stretches for row in rows if _in_stretch(row, one)]
        return tuple({row.id: row for row in found}.values())

    def list_entities(
        self, project: str, page: Listing, *, containing: str | None = None, type: str | None = None
    ) -> tuple[Entity, ...]:
        """Return a page of a project's entities, most mentioned first."""
        key = entity_key(containing or "")
        with self._open():
            rows = [
                row
                for row in self._entities.values()
                if row.project == project and key in row.key and (type is None or row.type == type)
            ]
        return _page(sorted(rows, key=lambda row: (-row.mention_count, row.id)), page)

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""
        with self._open():
            own = _of(project, self._entities.values())
            return entities_by_key(keys, ((row.id, row.key, row.aliases) for row in own))

    def list_relations(
        self,
        project: str,
        page: Listing,
        *,
        type: str | None = None,
        states: Sequence[State] = LIVE,
        verdicts: Sequence[Decision] = (),
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[Relation, ...]:
        """Return a page of a project's relations, newest recorded first; with verdicts, longest verified."""
        with self._open():
            rows = [
                row
                for row in self._relations.rows.values()
                if row.project == project
                and (type is None or row.type == type)
                and (not states or row.state in states)
                and (not verdicts or row.verdict in verdicts)
                and holds(row.times, at, known_at)
            ]
        if verdicts:
            return _page(sorted(rows, key=lambda row: (_verified_at(row), relation_order(row))), page)
        return _page(newest_first(rows, moment=_recorded_at, id=relation_order), page)

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        with self._open():
            return max((row.position for row in self._chunks.values() if row.session == session), default=-1)

    def list_sessions(self, project: str, page: Listing) -> tuple[Session, ...]:
        """Return a page of a project's sessions, last active first."""
        with self._open():
            rows = [row for row in self._sessions.values() if row.project == project]
        return _page(newest_first(rows, moment=lambda row: row.last_at, id=_id), page)

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a document, chunk, entity or session, by name."""
        with self._open():
            held = (self._documents, self._chunks, self._entities, self._sessions)
            names = {row.project for rows in held for row in rows.values()}
            return tuple(self._project(name) for name in sorted(names))

    def _project(self, name: str) -> ProjectView:
        counts = self.counts(name)
        return ProjectView(
            name=name,
            documents=counts.documents,
            chunks=counts.chunks,
            memories=counts.memories,
            entities=counts.entities,
            relations=counts.relations,
        )

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""
        with self._open():
            owned = {row.id: row for row in _of(project, self._chunks.values())}
            chunks = [row for row in owned.values() if row.state == "active"]
            relations = _of(project, self._relations.rows.values())
            return Counts(
                documents=sum(row.state == "active" for row in _of(project, self._documents.values())),
                chunks=len(chunks),
                memories=sum(row.kind != "passage" for row in chunks),
                entities=len(_of(project, self._entities.values())),
                relations=sum(row.state == "active" for row in relations),
                mentions=sum(row.chunk in owned for row in self._mentions.rows.values()),
                links=sum(row.source in owned for row in self._links.rows.values()),
                sessions=len(_of(project, self._sessions.values())),
                changes=len(_of(project, self._changes.values())),
            )

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories."""
        with self._open():
            return row_counts.scopes(_of(project, self._chunks.values()), prefix)

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, of every state."""
        with self._open():
            return row_counts.document_bytes(self._chunks.values())

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""
        with self._open():
            return Past(
                expired=row_counts.expired(self._chunks.values(), cutoffs.at),
                archived=row_counts.retired(self._documents.values(), cutoffs.archived)
                + row_counts.retired(self._chunks.values(), cutoffs.archived)
                + row_counts.retired(self._relations.rows.values(), cutoffs.archived),
                changes=row_counts.made(self._changes.values(), cutoffs.changes),
                sessions=row_counts.idle(self._sessions.values(), self._chunks.values(), cutoffs.sessions),
            )

    def scan(
        self, table: schema.NodeTable | schema.EdgeTable, batch: int = 1000
    ) -> Iterator[tuple[Any, ...]]:
        """Yield every row of a table in the order of its key."""
        if isinstance(table, schema.EdgeTable):
            with self._open():
                rows = sorted(self._edges[table.name](), key=edge_order(table))
            yield from map(tuple, batches(rows, batch))
            return
        held = self._nodes[table.name]
        for ids in batches(sorted(held), batch):
            with self._open():
                found = _pick(held, ids)
            if found:
                yield found

    def jobs(
        self, page: Listing, *, states: Sequence[JobState] = (), project: str | None = None
    ) -> tuple[Job, ...]:
        """Return a page of jobs, oldest first."""
        with self._open():
            rows = [row for row in _of(project, self._jobs.values()) if not states or row.state in states]
        return _page(sorted(rows, key=lambda row: (row.created_at, row.id)), page)

    def recalled(self, *, chunks: Sequence[str] = (), sessions: Sequence[str] = ()) -> tuple[Recalled, ...]:
        """Return which of these chunks were recalled, or what was in these sessions; oldest first."""
        with self._open():
            rows = [row for row in self._recalled if row.chunk in chunks or row.session in sessions]
        return tuple(sorted(rows, key=attrgetter("at", "session", "rank", "chunk")))

    def outbox(self) -> tuple[OutboxRow, ...]:
        """Return what the vector store may still have to hear, oldest first."""
        with self._open():
            return tuple(sorted(self._outbox.values(), key=lambda row: (row.at, row.id)))

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Forget outbox rows that the vector store has taken."""
        with self._open():
            for id in ids:
                self._outbox.pop(id, None)

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot."""
        with self._open():
            entities = _of(project, self._entities.values())
            chunks = _of(project, self._chunks.values())
            within = {row.id for row in entities} | {row.id for row in chunks}
            edges: list[snapshot_tables.Edge] = [
                *self._relations.rows.values(),
                *self._mentions.rows.values(),
                *self._links.rows.values(),
            ]
        return snapshot_tables.nodes(entities, chunks), snapshot_tables.edges(edges, within)

    def meta(self) -> Mapping[str, str]:
        """Return the store's own facts."""
        with self._open():
            return dict(self._meta)

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of the store's own facts."""
        with self._open():
            self._meta.update(values)

    def last_change_at(self) -> datetime | None:
        """Return the time of the newest change."""
        with self._open():
            return max((row.at for row in self._changes.values()), default=None)

    def checkpoint(self) -> None:
        """Do nothing: there is no log."""
        with self._open():
            pass

    def save(self, folder: Path) -> None:
        """Refuse: there are no files."""
        raise InvalidInputError(
            f"{folder}: a memory without files has no backup; `dump` writes what it holds"
        )

    def close(self) -> None:
        """Refuse further use; harmless when repeated."""
        with self._lock:
            self._closed = True


def _in_stretch(row: Chunk, stretch: Stretch) -> bool:
    held = row.document if stretch.session is None else row.session
    return held == (stretch.session or stretch.document) and stretch.first <= row.position <= stretch.last


def _normalised(plan: PlannedWrite) -> PlannedWrite:
    """Return a plan whose rows are as an engine would give them back."""

    def each(table: schema.NodeTable | schema.EdgeTable, rows: Mapping[Any, Any]) -> dict[Any, Any]:
        return {key: normalise(table, row) for key, row in rows.items()}

    return replace(
        plan,
        changes=each(schema.CHANGE, plan.changes),
        documents=each(schema.DOCUMENT, plan.documents),
        chunks=each(schema.CHUNK, plan.chunks),
        entities=each(schema.ENTITY, plan.entities),
        sessions=each(schema.SESSION, plan.sessions),
        jobs=each(schema.JOB, plan.jobs),
        relations=each(schema.RELATES, plan.relations),
        links=each(schema.LINKS, plan.links),
        mentions=each(schema.MENTIONS, plan.mentions),
        recalled=tuple(normalise(schema.RECALLED, row) for row in plan.recalled),
    )


def _pick(rows: Mapping[str, Row], ids: Sequence[str]) -> tuple[Row, ...]:
    return tuple(rows[id] for id in dict.fromkeys(ids) if id in rows)


def _of(project: str | None, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if project is None or getattr(row, "project", None) == project]


def _page(rows: Sequence[Row], page: Listing) -> tuple[Row, ...]:
    check_page(page)
    return tuple(rows[page.offset : page.offset + page.limit])


def _recorded_at(row: Any) -> datetime:
    moment: datetime = row.times.recorded_at
    return moment


def _verified_at(row: Relation) -> datetime:
    return row.verified_at or row.times.recorded_at


def _id(row: Any) -> str:
    id: str = row.id
    return id
