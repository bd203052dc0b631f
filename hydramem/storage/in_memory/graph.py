"""A graph store of plain dictionaries: the meaning that the engines are tested against."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import Chunk, Relation
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.in_memory import counts as row_counts
from hydramem.storage.in_memory import snapshot_tables
from hydramem.storage.in_memory.tables import Tables, normalised
from hydramem.storage.row_codec import column_value
from hydramem.storage.schema import (
    ITEM,
    LINKS,
    MENTIONS,
    RECALLED,
    RELATES,
    SCHEMA_VERSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.store import (
    End,
    EndedRun,
    GraphStore,
    ItemPlace,
    Listing,
    RunFilter,
    RunRow,
    Stretch,
    entities_by_key,
    newest_recorded,
)
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches, check_page, edge_order, plan_write

if TYPE_CHECKING:
    import pyarrow as pa

Row = TypeVar("Row")


class InMemoryGraph(GraphStore):
    """A `GraphStore` that lives as long as the object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._tables = Tables()
        self._meta: dict[str, str] = {"schema_version": str(SCHEMA_VERSION)}
        self._closed = False

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return "memory"

    @contextmanager
    def _open(self) -> Iterator[Tables]:
        """Hold the rows for one call.

        Raises:
            StorageError: The store is closed.
        """
        with self._lock:
            if self._closed:
                raise StorageError("the store in memory is closed; connect again")
            yield self._tables

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, if any."""
        plan = normalised(plan_write(write))
        with self._open() as tables:
            tables.write(plan)
        return plan.outbox

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows of a node table by id."""
        with self._open() as tables:
            rows = tables.nodes[table.name]
            return tuple(rows[id] for id in dict.fromkeys(ids) if id in rows)

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end."""
        with self._open() as tables:
            if table is not RECALLED:
                return tables.edges[table.name].at(ids, 0 if end == "source" else 1)
            column, wanted = table.ends[0 if end == "source" else 1], set(ids)
            return [row for row in tables.recalled if getattr(row, column) in wanted]

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation from the first to the second of each pair, newest first."""
        wanted = set(pairs)
        with self._open() as tables:
            rows = tables.edges[RELATES.name].at({source for source, _ in wanted}, 0)
        return newest_recorded(RELATES, (row for row in rows if (row.subject, row.object) in wanted))

    def select(
        self,
        table: Table,
        where: RowFilter,
        page: Listing | None = None,
        *,
        order: Sequence[str],
        newest: bool = False,
    ) -> tuple[Any, ...]:
        """Return rows of a table that a filter admits."""

        def moment(row: Any) -> Any:
            values = (column_value(row, name) for name in order)
            return next(value for value in values if value is not None)

        ends = table.ends if isinstance(table, EdgeTable) else ()
        with self._open() as tables:
            rows = [row for row in tables.rows(table) if where.admits(row)]
        rows.sort(key=attrgetter("id", *ends))
        rows.sort(key=moment, reverse=newest)
        return tuple(rows) if page is None else _page(rows, page)

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:
        """Return a page of runs, the last one first."""
        with self._open() as tables:
            return _page(row_counts.runs(tables.changes.values(), where), page)

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
        with self._open() as tables:
            return row_counts.ended_runs(tables.changes.values(), project, before, most=most)

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""
        with self._open() as tables:
            return tuple(sorted({row.project for row in tables.changes.values() if row.at < before}))

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
        with self._open() as tables:
            named = None if mentioning is None else {row.chunk for row in self.mentioned([mentioning])}
            rows = [
                row
                for row in _equal(tables.chunks, event_type=event_type)
                if where.admits(row)
                and (named is None or row.id in named)
                and (expired_by is None or (row.expires_at is not None and row.expires_at <= expired_by))
            ]
        rows.sort(key=attrgetter("position", "id"))
        if by_time:
            dated = [(row.happened_at, row) for row in rows if row.happened_at is not None]
            rows = [row for _, row in sorted(dated, key=itemgetter(0))]
        elif len(where.documents) != 1 and len(where.sessions) != 1:
            rows.sort(key=attrgetter("times.recorded_at"), reverse=True)
        return _page(rows, page)

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, of every state, in order of stretch, position and id."""
        with self._open() as tables:
            rows = sorted(tables.chunks.values(), key=attrgetter("position", "id"))
        found = [row for one in stretches for row in rows if _in_stretch(row, one)]
        return tuple({row.id: row for row in found}.values())

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""
        with self._open() as tables:
            own = _equal(tables.entities, project=project)
            return entities_by_key(keys, ((row.id, row.key, row.aliases) for row in own))

    def aliases(self, project: str) -> Iterable[tuple[str, Sequence[str]]]:
        """Return the id and the aliases of each entity of a project that has aliases."""
        with self._open() as tables:
            return [(row.id, row.aliases) for row in _equal(tables.entities, project=project) if row.aliases]

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        with self._open() as tables:
            rows = _equal(tables.chunks, session=session)
            return max((row.position for row in rows), default=-1)

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a document, chunk, entity, session or item, by name."""
        with self._open() as tables:
            held = (
                *(tables.documents, tables.chunks, tables.entities, tables.sessions),
                tables.nodes[ITEM.name],
            )
            names = {row.project for rows in held for row in rows.values()}
            return tuple(self._project(name) for name in sorted(names))

    def _project(self, name: str) -> ProjectView:
        counts = self.counts(name)
        shown = {item.name: getattr(counts, item.name) for item in fields(ProjectView) if item.name != "name"}
        return ProjectView(name=name, **shown)

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""
        with self._open() as tables:
            owned = {row.id for row in _equal(tables.chunks, project=project)}
            chunks = _equal(tables.chunks, project=project, state="active")
            return Counts(
                documents=len(_equal(tables.documents, project=project, state="active")),
                chunks=len(chunks),
                memories=sum(row.kind != "passage" for row in chunks),
                entities=len(_equal(tables.entities, project=project)),
                relations=len(_equal(tables.relations, project=project, state="active")),
                mentions=sum(row.chunk in owned for row in tables.edges[MENTIONS.name].rows.values()),
                links=sum(row.source in owned for row in tables.edges[LINKS.name].rows.values()),
                sessions=len(_equal(tables.sessions, project=project)),
                changes=len(_equal(tables.changes, project=project)),
            )

    def count_chunks(self) -> int:
        """Count the chunks of every state in every project."""
        with self._open() as tables:
            return len(tables.chunks)

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories."""
        with self._open() as tables:
            return row_counts.scopes(_equal(tables.chunks, project=project), prefix)

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, of every state."""
        with self._open() as tables:
            return row_counts.document_bytes(tables.chunks.values())

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""
        with self._open() as tables:
            chunks = tables.chunks.values()
            return Past(
                expired=row_counts.expired(chunks, cutoffs.at),
                archived=sum(
                    row_counts.retired(rows.values(), cutoffs.archived)
                    for rows in (tables.documents, tables.chunks, tables.relations)
                ),
                changes=row_counts.made(tables.changes.values(), cutoffs.changes),
                sessions=row_counts.idle(tables.sessions.values(), chunks, cutoffs.sessions),
            )

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:
        """Yield every row of a table in the order of its key."""
        if isinstance(table, EdgeTable):
            with self._open() as tables:
                rows = sorted(tables.rows(table), key=edge_order(table))
            yield from map(tuple, batches(rows, batch))
            return
        with self._open() as tables:
            every = sorted(tables.nodes[table.name])
        for ids in batches(every, batch):
            if found := self.nodes(table, ids):
                yield found

    def item_places(self) -> Iterable[ItemPlace]:
        """Return where every item is, without values."""
        with self._open() as tables:
            return [
                ItemPlace(**{field.name: getattr(row, field.name) for field in fields(ItemPlace)})
                for row in tables.rows(ITEM)
            ]

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Delete outbox rows that are replicated to the vector store."""
        with self._open() as tables:
            for id in ids:
                tables.outbox.pop(id, None)

    def drop_requests(self, before: datetime) -> None:
        """Delete the answers of requests that were carried out before a moment."""
        with self._open() as tables:
            for row in [row for row in tables.requests.values() if row.at < before]:
                del tables.requests[row.id]

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot."""
        with self._open() as tables:
            entities = _equal(tables.entities, project=project)
            chunks = _equal(tables.chunks, project=project)
            edges = [row for index in tables.edges.values() for row in index.rows.values()]
        within = {row.id for row in entities} | {row.id for row in chunks}
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
        with self._open() as tables:
            return max((row.at for row in tables.changes.values()), default=None)

    def checkpoint(self, *, least: int = 0) -> bool:
        """Do nothing: there is no log."""
        with self._open():
            return False

    def save(self, folder: Path) -> None:
        """Refuse: there are no files."""
        raise InvalidInputError(
            f"{folder}: a memory without files has no backup; `dump` writes what it holds"
        )

    def take_over(self, other: "InMemoryGraph") -> None:
        """Hold the rows of another graph from now on, in place of its own."""
        with self._open(), other._open() as tables:
            self._tables, self._meta = tables, dict(other._meta)

    def close(self) -> None:
        """Refuse further use; harmless when repeated."""
        with self._lock:
            self._closed = True


def _in_stretch(row: Chunk, stretch: Stretch) -> bool:
    held = row.document if stretch.session is None else row.session
    return held == (stretch.session or stretch.document) and stretch.first <= row.position <= stretch.last


def _equal(rows: Mapping[Any, Row], **wanted: object) -> list[Row]:
    """Return the rows whose fields have these values; None does not restrict."""
    given = [(name, value) for name, value in wanted.items() if value is not None]
    return [row for row in rows.values() if all(getattr(row, name) == value for name, value in given)]


def _page(rows: Sequence[Row], page: Listing) -> tuple[Row, ...]:
    check_page(page)
    return tuple(rows[page.offset : page.offset + page.limit])
