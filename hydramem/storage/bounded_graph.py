"""A view of a graph store that has some projects alone, for a call that may touch no other.

It is row-level security for stores that have none: an operation that forgets to filter by project finds
nothing of another one here, neither by id nor in a list, and what it writes is checked (`check_write`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from datetime import datetime
from heapq import merge
from itertools import count, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import HydraMemError, NotFoundError, StorageError
from hydramem.core.project_bounds import bounds, in_bounds
from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import Chunk, Job, Relation
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.schema import (
    CHUNK,
    ENTITY,
    LINKS,
    MENTIONS,
    OUTBOX,
    RECALLED,
    REQUEST,
    SESSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.store import (
    EndedRun,
    GraphStore,
    ItemPlace,
    Listing,
    RunFilter,
    RunRow,
    Stretch,
)
from hydramem.storage.write import Write

if TYPE_CHECKING:
    import pyarrow as pa

_END_TABLES: Mapping[str, tuple[NodeTable, NodeTable]] = {
    MENTIONS.name: (CHUNK, ENTITY),
    LINKS.name: (CHUNK, CHUNK),
    RECALLED.name: (SESSION, CHUNK),
}
"""The tables of both ends of edges that have no project of their own."""

_WITHOUT_PROJECT = (OUTBOX.name, REQUEST.name)
"""Tables of the store itself, which no operation of a project reads."""

_LEAST_RUNS, _MOST_RUNS = 20, 500
"""Runs of one project that are read at once: each read groups the audit, and a run can have many changes."""


def check_write(write: Write) -> None:
    """Check that a write holds rows of the projects of this context alone.

    Raises:
        StorageError: It holds another one: an operation has forgotten to check its arguments.
    """
    allowed = bounds()
    if allowed is None:
        return
    for one in (write, *write.parts):
        for field in fields(one):
            rows = getattr(one, field.name)
            if not isinstance(rows, tuple):
                continue
            if any(getattr(row, "project", None) not in (None, *allowed) for row in rows):
                raise StorageError("a write to another project than those of the call was stopped")


class BoundedGraph(GraphStore):
    """A graph store as a call sees it that may touch some projects only; methods as in `GraphStore`.

    Args:
        whole: The store with every project.
        projects: Those that are seen.
    """

    def __init__(self, whole: GraphStore, projects: frozenset[str]) -> None:
        self._whole = whole
        self._projects = projects

    @property
    def engine(self) -> str:  # noqa: D102 - as in GraphStore
        return self._whole.engine

    def write(self, write: Write) -> str | None:  # noqa: D102
        check_write(write)
        return self._whole.write(write)

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:  # noqa: D102
        _refuse_store_tables(table)
        return self._own(self._whole.nodes(table, ids))

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: str) -> list[Any]:  # noqa: D102
        return self._own_edges(table, self._whole.edges(table, ids, end=end))  # type: ignore[arg-type]

    def select(  # noqa: D102
        self,
        table: Table,
        where: RowFilter,
        page: Listing | None = None,
        *,
        order: Sequence[str],
        newest: bool = False,
    ) -> tuple[Any, ...]:
        _refuse_store_tables(table)
        if table.name in _END_TABLES:
            if page is not None:
                raise StorageError(f"{table.name}: no page of it can be read for some projects only")
            rows = self._whole.select(table, where, order=order, newest=newest)
            return tuple(self._own_edges(table, rows))  # type: ignore[arg-type]  # of edges
        given = where.one_of.get("project")
        named = self._projects & set(given) if given else self._projects
        if not named:
            return ()
        own = replace(where, one_of={**where.one_of, "project": tuple(sorted(named))})
        rows = self._whole.select(table, own, page, order=order, newest=newest)
        run = where.equal.get("run")
        # A run that wrote to other projects too is not this call's to see or to undo.
        return () if run and rows and self._spans_others(run) else rows

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:  # noqa: D102
        return self._own(self._whole.relations_between(pairs))

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:  # noqa: D102
        names = self._projects if where.project is None else self._projects & {where.project}
        each = [self._runs_of(replace(where, project=name), page.offset + page.limit) for name in names]
        merged = merge(*each, key=lambda row: (row.ended_at, row.id), reverse=True)
        # A run that wrote to several of these projects comes once from each.
        found = (next(rows) for _, rows in groupby(merged, key=lambda row: row.id))
        return tuple(islice(found, page.offset, page.offset + page.limit))

    def _runs_of(self, where: RunFilter, wanted: int) -> Iterator[RunRow]:
        """Yield runs that wrote to these projects alone, the last one first; each read is of one page."""
        size = min(max(wanted, _LEAST_RUNS), _MOST_RUNS)
        for offset in count(0, size):
            rows = self._whole.runs(where, Listing(limit=size, offset=offset))
            yield from (row for row in rows if set(row.projects) <= self._projects)
            if len(rows) < size:
                return

    def ended_runs(  # noqa: D102
        self, project: str, before: datetime, *, most: int
    ) -> tuple[EndedRun, ...]:
        return self._whole.ended_runs(in_bounds(project), before, most=most)

    def changed_before(self, before: datetime) -> tuple[str, ...]:  # noqa: D102
        return tuple(name for name in self._whole.changed_before(before) if name in self._projects)

    def list_chunks(  # noqa: D102
        self, where: ChunkFilter, page: Listing, **options: Any
    ) -> tuple[Chunk, ...]:
        named = self._projects & set(where.projects) if where.projects else self._projects
        if not named:
            return ()
        return self._whole.list_chunks(replace(where, projects=tuple(sorted(named))), page, **options)

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:  # noqa: D102
        return self._own(self._whole.between(stretches))

    def aliases(self, project: str) -> Iterable[tuple[str, Sequence[str]]]:  # noqa: D102
        return self._whole.aliases(in_bounds(project))

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:  # noqa: D102
        return self._whole.entities_called(in_bounds(project), keys)

    def last_position(self, session: str) -> int:  # noqa: D102
        return self._whole.last_position(session) if self.nodes(SESSION, [session]) else -1

    def projects(self) -> tuple[ProjectView, ...]:  # noqa: D102
        return tuple(view for view in self._whole.projects() if view.name in self._projects)

    def counts(self, project: str | None = None) -> Counts:  # noqa: D102
        names = sorted(self._projects) if project is None else [in_bounds(project)]
        every = [self._whole.counts(name) for name in names]
        return Counts(**{each.name: sum(getattr(one, each.name) for one in every) for each in fields(Counts)})

    def count_chunks(self) -> int:  # noqa: D102
        return self._whole.count_chunks()  # of the limit of the store, which is everyone's

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:  # noqa: D102
        return self._whole.scope_counts(in_bounds(project), prefix)

    def document_bytes(self) -> Mapping[str, int]:  # noqa: D102
        held = self._whole.document_bytes()
        return {name: size for name, size in held.items() if name in self._projects}

    def past(self, cutoffs: Cutoffs) -> Past:  # noqa: D102
        return self._whole.past(cutoffs)  # counts of what a night purges, which is the store's

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:  # noqa: D102
        _refuse_store_tables(table)
        for rows in self._whole.scan(table, batch):
            own = self._own_edges(table, rows) if isinstance(table, EdgeTable) else self._own(rows)
            if own:
                yield tuple(own)

    def item_places(self) -> Iterable[ItemPlace]:  # noqa: D102
        return (place for place in self._whole.item_places() if place.project in self._projects)

    @property
    def has_vectors(self) -> bool:  # noqa: D102
        return self._whole.has_vectors

    def write_with(  # noqa: D102
        self, write: Write, put_vectors: Callable[[], None], *, last: bool
    ) -> tuple[str | None, HydraMemError | None]:
        check_write(write)
        return self._whole.write_with(write, put_vectors, last=last)

    def writing_alone(self, projects: Collection[str] | None) -> AbstractContextManager[None]:  # noqa: D102
        return self._whole.writing_alone(projects)

    def tending(self, projects: Sequence[str]) -> AbstractContextManager[bool]:  # noqa: D102
        return self._whole.tending([in_bounds(project) for project in projects])

    def moving_vectors(self) -> AbstractContextManager[bool]:  # noqa: D102
        raise _of_the_store("a change of vectors")

    def claim_jobs(self, rows: Sequence[Job]) -> list[Job]:  # noqa: D102
        raise _of_the_store("a claim of jobs")

    def release_jobs(self, rows: Sequence[Job]) -> None:  # noqa: D102
        raise _of_the_store("a claim of jobs")

    def clear_outbox(self, ids: Sequence[str]) -> None:  # noqa: D102
        raise _of_the_store("the outbox")

    def drop_requests(self, before: datetime) -> None:  # noqa: D102
        raise _of_the_store("requests")

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":  # noqa: D102
        return self._whole.graph_tables(in_bounds(project))

    def meta(self) -> Mapping[str, str]:  # noqa: D102
        return self._whole.meta()

    def set_meta(self, values: Mapping[str, str]) -> None:  # noqa: D102
        raise _of_the_store("what it knows of itself")

    def last_change_at(self) -> datetime | None:  # noqa: D102
        return self._whole.last_change_at()

    def checkpoint(self, *, least: int = 0) -> bool:  # noqa: D102
        return self._whole.checkpoint(least=least)

    def save(self, folder: Path) -> None:  # noqa: D102
        raise _of_the_store("a copy")

    def close(self) -> None:  # noqa: D102
        raise _of_the_store("its end")

    def _own(self, rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(row for row in rows if row.project in self._projects)

    def _own_edges(self, table: EdgeTable, rows: Iterable[Any]) -> list[Any]:
        """Return the edges of these projects; one without a project of its own has that of both ends."""
        tables = _END_TABLES.get(table.name)
        if tables is None:
            return list(self._own(rows))
        edges = list(rows)
        for name, ends in zip(table.ends, tables, strict=True):
            ids = list(dict.fromkeys(getattr(row, name) for row in edges))
            own = {row.id for row in self.nodes(ends, ids)}
            edges = [row for row in edges if getattr(row, name) in own]
        return edges

    def _spans_others(self, run: str) -> bool:
        return any(row.project not in self._projects for row in self._whole.changes(run=run))


def _refuse_store_tables(table: Table) -> None:
    if table.name in _WITHOUT_PROJECT:
        raise _of_the_store(table.name)


def _of_the_store(what: str) -> NotFoundError:
    return NotFoundError(f"{what}: is of the whole store, and this call may use some projects only")


def seen_in_bounds(whole: GraphStore) -> GraphStore:
    """Return a graph store as the projects of this context see it."""
    allowed = bounds()
    return whole if allowed is None else BoundedGraph(whole, allowed)
