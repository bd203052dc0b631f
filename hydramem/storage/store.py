"""The contract of a graph store, which is authoritative; `vector_rows` has that of the vector store.

Four graph stores ship: LadybugDB and Kuzu through `storage.cypher`, PostgreSQL in `storage.postgres`, and
`storage.in_memory`. Each is safe to use from many threads.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hydramem.core.errors import HydraMemError, StorageError
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
from hydramem.storage.chunk_filter import LIVE, ChunkFilter, RowFilter
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    JOB,
    LINKS,
    MENTIONS,
    OUTBOX,
    RECALLED,
    RELATES,
    REQUEST,
    SESSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.write import OutboxRow, RequestRow, Write
from hydramem.text.normalize import entity_key

if TYPE_CHECKING:
    import pyarrow as pa

End = Literal["source", "target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRun:
    """A run whose changes are all older than some moment.

    Attributes:
        id: Of the run; of the change where that belongs to none.
        ended_at: When its last change was made.
        changes: Ids of all of its changes, oldest first.
    """

    id: str
    ended_at: datetime
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs a list has: those with a change that has all of these. None does not restrict.

    Attributes:
        since, until: The run's last change was made in this time; `until` is not included.
    """

    run: str | None = None
    project: str | None = None
    actor: str | None = None
    operation: str | None = None
    request: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """What one run changed, in short.

    Attributes:
        id: Of the run; of the change where that belongs to none.
        began_at, ended_at: When its first and its last change were made.
        changes: How many changes it has.
        first: Its first change, without its image.
    """

    id: str
    began_at: datetime
    ended_at: datetime
    changes: int
    actors: tuple[str, ...]
    operations: tuple[str, ...]
    projects: tuple[str, ...]
    first: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPlace:
    """Where an item is, and until when; fields as in `Item`."""

    id: str
    project: str
    namespace: tuple[str, ...]
    session: str | None
    position: int
    updated_at: datetime
    expires_at: datetime | None


def item_places_of(rows: Iterable[Sequence[Any]]) -> Iterator[ItemPlace]:
    """Yield places from rows of a database, with the columns in the order of the fields."""
    for id, project, namespace, session, position, updated_at, expires_at in rows:
        yield ItemPlace(
            id=id,
            project=project,
            namespace=tuple(namespace or ()),
            session=session,
            position=position,
            updated_at=updated_at.replace(tzinfo=UTC),
            expires_at=None if expires_at is None else expires_at.replace(tzinfo=UTC),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of a list: at most `limit` rows from `offset`."""

    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Chunks of a session, or else of a document, from one position to another, both included."""

    session: str | None = None
    document: str | None = None
    first: int
    last: int


class GraphStore(Protocol):
    """The authoritative store: chunks, entities, relations, sessions, changes and jobs.

    Rows are returned in the order of the ids asked for, unknown ids left out; lists are newest first
    (entities: most mentioned first), ties by id. Backend failures raise `StorageError`. Reads of one table
    are implemented here for every store, over `nodes`, `edges` and `select`.
    """

    @property
    def engine(self) -> str:
        """Name of the engine: `ladybug`, `kuzu`, `postgres` or `memory`."""

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, None where no vectors are concerned.

        Raises:
            InvalidInputError: A row names a document, session, chunk or entity that does not exist.
        """

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows of a node table by id."""

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end, in any order."""

    def select(
        self,
        table: Table,
        where: RowFilter,
        page: Listing | None = None,
        *,
        order: Sequence[str],
        newest: bool = False,
    ) -> tuple[Any, ...]:
        """Return rows of a table that a filter admits.

        Args:
            table: Of nodes, or of edges that have an id.
            page: Which page of them; None returns all.
            order: Columns to order by: each row by the first that is not null, ties by id and ends.
            newest: Whether the greatest comes first.
        """

    def documents(self, ids: Sequence[str]) -> tuple[Document, ...]:
        """Return documents by id."""
        return self.nodes(DOCUMENT, ids)

    def chunks(self, ids: Sequence[str]) -> tuple[Chunk, ...]:
        """Return chunks by id."""
        return self.nodes(CHUNK, ids)

    def entities(self, ids: Sequence[str]) -> tuple[Entity, ...]:
        """Return entities by id."""
        return self.nodes(ENTITY, ids)

    def sessions(self, ids: Sequence[str]) -> tuple[Session, ...]:
        """Return sessions by id."""
        return self.nodes(SESSION, ids)

    def relations(self, entities: Sequence[str]) -> tuple[Relation, ...]:
        """Return every relation, of any state, that has one of these entities at either end."""
        return newest_recorded(RELATES, self._edges_around(RELATES, entities))

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation, of any state, from the first to the second of each pair of entities."""

    def mentions(self, chunks: Sequence[str]) -> tuple[Mention, ...]:
        """Return what these chunks mention, in the order of the chunks."""
        place = {id: number for number, id in enumerate(dict.fromkeys(chunks))}
        rows: list[Mention] = self.edges(MENTIONS, chunks, end="source")
        return tuple(sorted(rows, key=lambda row: (place[row.chunk], row.entity)))

    def mentioned(self, entities: Sequence[str]) -> tuple[Mention, ...]:
        """Return which chunks mention these entities, in the order of the entities."""
        place = {id: number for number, id in enumerate(dict.fromkeys(entities))}
        rows: list[Mention] = self.edges(MENTIONS, entities, end="target")
        return tuple(sorted(rows, key=lambda row: (place[row.entity], row.chunk)))

    def links(self, chunks: Sequence[str]) -> tuple[Link, ...]:
        """Return every link, of any state, that has one of these chunks at either end."""
        return newest_recorded(LINKS, self._edges_around(LINKS, chunks))

    def recalled(self, *, chunks: Sequence[str] = (), sessions: Sequence[str] = ()) -> tuple[Recalled, ...]:
        """Return which of these chunks were recalled, or what was in these sessions; oldest first."""
        rows = (
            *self.edges(RECALLED, sessions, end="source"),
            *self.edges(RECALLED, chunks, end="target"),
        )
        return tuple(sorted(dict.fromkeys(rows), key=attrgetter("at", "session", "rank", "chunk")))

    def _edges_around(self, table: EdgeTable, ids: Sequence[str]) -> Iterable[Any]:
        """Return the edges that have one of these nodes at either end, each once."""
        rows = (*self.edges(table, ids, end="source"), *self.edges(table, ids, end="target"))
        return {table.key_of(row): row for row in rows}.values()

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
        """Return changes, oldest first; all that is given must match.

        Args:
            target: Id of what they changed.
            run, request: What they belong to.
            project: Namespace that they were made in.
            kind: Letter that the id of what they changed begins with, such as `r` for relations.
            operation: What made them, such as `undo`.
        """
        where = RowFilter(
            equal={
                "id": id,
                "target": target,
                "run": run,
                "request": request,
                "project": project,
                "operation": operation,
            },
            starts={"target": kind and f"{kind}_"},
        )
        return self.select(CHANGE, where, order=("at",))

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:
        """Return a page of runs, the last one first."""

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first.

        Args:
            project: Namespace; a run that wrote to others too is returned with all of its changes.
            most: How many changes they have in all at most; the first run may have more.
        """

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""

    def list_documents(
        self,
        project: str,
        page: Listing,
        *,
        states: Sequence[State] = LIVE,
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return a page of a project's documents; `at` and `known_at` as in `ChunkFilter`."""
        where = RowFilter(equal={"project": project}, one_of={"state": states}, at=at, known_at=known_at)
        return self.select(DOCUMENT, where, page, order=("recorded_at",), newest=True)

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
        """Return a page of chunks: newest recorded first, within one document or session by position.

        Args:
            where: What they must be.
            page: Which of them.
            event_type: Only events of this type.
            mentioning: Only those that mention the entity of this id.
            expired_by: Only those that had expired at that moment.
            by_time: Only those that have `happened_at`, and in its order, earliest first.
        """

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, of every state, each once: in order of stretch, position and id."""

    def list_entities(
        self, project: str, page: Listing, *, containing: str | None = None, type: str | None = None
    ) -> tuple[Entity, ...]:
        """Return a page of a project's entities, most mentioned first.

        Args:
            containing: Only those whose name or an alias contains it, all normalised as keys are, or that
                have it as id.
        """
        key = entity_key(containing or "")
        by_alias = [id for id, aliases in self.aliases(project) if _any_contains(aliases, key)] if key else []
        named = frozenset(by_alias if containing is None else (*by_alias, containing))
        where = RowFilter(equal={"project": project, "type": type}, contains={"key": key}, contained=named)
        return self.select(ENTITY, where, page, order=("mention_count",), newest=True)

    def aliases(self, project: str) -> Iterable[tuple[str, Sequence[str]]]:
        """Return the id and the aliases of each entity of a project that has aliases."""

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""

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
        """Return a page of a project's relations; `at` and `known_at` as in `ChunkFilter`.

        Where verdicts are given, those that were verified longest ago come first: the list is a queue.
        """
        where = RowFilter(
            equal={"project": project, "type": type},
            one_of={"state": states, "verdict": verdicts},
            at=at,
            known_at=known_at,
        )
        order = ("verified_at", "recorded_at") if verdicts else ("recorded_at",)
        return self.select(RELATES, where, page, order=order, newest=not verdicts)

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""

    def list_sessions(self, project: str, page: Listing) -> tuple[Session, ...]:
        """Return a page of a project's sessions, last active first."""
        where = RowFilter(equal={"project": project})
        return self.select(SESSION, where, page, order=("last_at",), newest=True)

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a row, by name; counts are of active rows."""

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""

    def count_chunks(self) -> int:
        """Count the chunks of every state in every project."""

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories, in that order."""

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, as UTF-8, of every state."""

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:
        """Yield every row of a table: nodes by id, edges by ends and id, recalls also by time.

        No transaction stays open between two batches.
        """

    def item_places(self) -> Iterable[ItemPlace]:
        """Return where every item is, without values; in any order."""

    def jobs(
        self, page: Listing, *, states: Sequence[JobState] = (), project: str | None = None
    ) -> tuple[Job, ...]:
        """Return a page of jobs, oldest first; of every state where none is named."""
        where = RowFilter(equal={"project": project}, one_of={"state": states})
        return self.select(JOB, where, page, order=("created_at",))

    def outbox(self) -> tuple[OutboxRow, ...]:
        """Return the rows of writes that may not be replicated to the vector store, oldest first."""
        return self.select(OUTBOX, RowFilter(), order=("at",))

    @property
    def has_vectors(self) -> bool:
        """Whether the vector store's rows are here too, and `write_with` commits both together."""
        return False

    def write_with(
        self, write: Write, put_vectors: Callable[[], None], *, last: bool
    ) -> tuple[str | None, HydraMemError | None]:
        """Commit a write and, in the same transaction, its vectors; without them where these fail.

        Args:
            put_vectors: Puts them.
            last: Whether this thread needs what keeps others out no more once it is committed.

        Returns:
            The id of the outbox row that is left, and why it is.
        """
        raise StorageError("the vectors are in another store")

    def writing_alone(self, projects: Collection[str] | None) -> AbstractContextManager[None]:
        """Keep writers of other processes out of some projects while this lasts; None for all projects."""
        return nullcontext()

    def tending(self, projects: Sequence[str]) -> AbstractContextManager[bool]:
        """Keep gardeners of other processes from some projects while this lasts.

        Where that ends before, as by a lost connection, `writing_alone` refuses the calls of this thread.

        Returns:
            Whether none of them is at one of the projects now.
        """
        return nullcontext(enter_result=True)

    def moving_vectors(self) -> AbstractContextManager[bool]:
        """Keep other processes from moving to other vectors while this lasts, and from deleting any.

        Returns:
            Whether none of them does now.
        """
        return nullcontext(enter_result=True)

    def claim_jobs(self, rows: Sequence[Job]) -> list[Job]:
        """Claim jobs for this process until `release_jobs`, or until it ends.

        Returns:
            Those that no other process has claimed or done.
        """
        return list(rows)

    def release_jobs(self, rows: Sequence[Job]) -> None:
        """Give up the claims of jobs."""
        return

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Delete outbox rows that are replicated to the vector store."""

    def request(self, id: str) -> RequestRow | None:
        """Return the answer of a request; None where it was not carried out, or is too old."""
        return next(iter(self.nodes(REQUEST, [id])), None)

    def drop_requests(self, before: datetime) -> None:
        """Delete the answers of requests that were carried out before a moment."""

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot, as `storage.schema` describes them."""

    def meta(self) -> Mapping[str, str]:
        """Return the store's own facts: schema version, embedder fingerprint and dimension."""

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of the store's own facts."""

    def last_change_at(self) -> datetime | None:
        """Return the time of the newest change."""

    def checkpoint(self, *, least: int = 0) -> bool:
        """Write the content of the write-ahead log into the main file.

        Args:
            least: Bytes of a log below which nothing is done.

        Returns:
            Whether there was such a log.
        """

    def save(self, folder: Path) -> None:
        """Write into an empty folder what the graph can be opened from, as it is at one moment.

        Raises:
            InvalidInputError: The store lives in memory and has no files.
        """

    def close(self) -> None:
        """Release the store; harmless when repeated."""


def newest_recorded(table: EdgeTable, edges: Iterable[Any]) -> tuple[Any, ...]:
    """Return edges that have an id, newest recorded first, ties by id and ends."""
    by_id = sorted(edges, key=attrgetter("id", *table.ends))
    return tuple(sorted(by_id, key=attrgetter("times.recorded_at"), reverse=True))


def _any_contains(names: Sequence[str], key: str) -> bool:
    """Say whether one of several names contains a text, when both are normalised."""
    return any(key in entity_key(name) for name in names)


def entities_by_key(keys: Sequence[str], entities: Iterable[Sequence[Any]]) -> Mapping[str, str]:
    """Return the id of the entity that each key names: an own key goes before an alias.

    Args:
        keys: Normalised names; those that name no entity are left out.
        entities: Id, key and aliases of the candidates, in the order they are stored.
    """
    wanted = set(keys)
    by_key: dict[str, str] = {}
    by_alias: dict[str, str] = {}
    for id, key, aliases in entities:
        if key in wanted:
            by_key[key] = id
        for alias in aliases or ():
            if (normalised := entity_key(alias)) in wanted:
                by_alias.setdefault(normalised, id)
    found = by_alias | by_key
    return {key: found[key] for key in keys if key in found}
