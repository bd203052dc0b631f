"""Lists and counts: what a store holds, as a person asks for it."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.config import LimitsConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import document_id, is_short_id, session_id
from hydramem.core.results.upkeep_results import Stats
from hydramem.core.results.write_results import DocumentView, Related, RelationView
from hydramem.core.row_types import Chunk, Entity, Relation, State
from hydramem.core.time import clock
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.contracts import Embedder
from hydramem.storage.chunk_filter import LIVE, ChunkFilter, RowFilter, holds
from hydramem.storage.quotas import usage, uses
from hydramem.storage.schema import CHUNK, SCHEMA_VERSION
from hydramem.storage.store import GraphStore, Listing

if TYPE_CHECKING:
    from hydramem.ingest.knowledge.relations import Asserted

# Folders and files of a store, also those that were moved aside, such as `vectors.damaged-…`.
_PART = re.compile(
    r"(graph|vectors|curated|models|garden|backups|hooks|lost|owner|telemetry)([.-].*)?|config\.yml"
)
_PAGE = 1000


def document(
    graph: GraphStore,
    source: str,
    *,
    project: str,
    states: tuple[State, ...] = LIVE,
    at: datetime | None = None,
    known_at: datetime | None = None,
) -> DocumentView:
    """Return a document, by id or source, with the chunks that hold and are believed at a time, in order.

    Raises:
        NotFoundError: There is none.
    """
    found = graph.documents(possible_document_ids(project, source))
    if not found:
        raise NotFoundError(f"{source[:80]!r}: no document of project {project!r} has this id or source")
    where = ChunkFilter(documents=(found[0].id,), states=states, at=at, known_at=known_at)
    chunks = list(graph.list_chunks(where, Listing(limit=_PAGE)))
    while len(chunks) % _PAGE == 0 and (
        more := graph.list_chunks(where, Listing(limit=_PAGE, offset=len(chunks)))
    ):
        chunks.extend(more)
    return DocumentView(document=found[0], chunks=tuple(chunks))


def chunk_by_short_id(id: str, graph: GraphStore) -> Chunk | None:
    """Return the chunk whose id begins so; None where none does, or it is no beginning of one.

    Raises:
        InvalidInputError: Several do.
    """
    if not is_short_id(id):
        return None
    found: Sequence[Chunk] = graph.select(
        CHUNK, RowFilter(starts={"id": id}), Listing(limit=2), order=("id",)
    )
    if len(found) > 1:
        raise InvalidInputError(f"id: {id} is the beginning of several ids; give more of the one you mean")
    return next(iter(found), None)


def possible_document_ids(project: str, source: str) -> tuple[str, ...]:
    """Return the ids that a document can have that is named by its id, its source, or a relative path."""
    return source, document_id(project, source), _resolved(project, source)


def _resolved(project: str, source: str) -> str:
    """Address the file that a relative path names, as ingest does."""
    try:
        return document_id(project, str(Path(source).resolve()))
    except (OSError, ValueError):
        return ""  # not a path; the other two ways of naming a document remain


def session_key(project: str, session: str) -> str:
    """Return the id of a session given by name or by id."""
    return session if session.startswith("s_") and len(session) == 34 else session_id(project, session)


def relation_subject(id: str, snapshot: Snapshot) -> str | None:
    """Return the subject of a relation of the project by the relation's id; None where there is none."""
    rows = (snapshot.edges.ids == id.encode("utf-8", "surrogatepass")).nonzero()[0]
    return snapshot.nodes.ids[int(snapshot.edges.source[rows[0]])] if len(rows) else None


def relations(
    entity: str | None,
    *,
    project: str,
    type: str | None,
    states: Sequence[State],
    at: datetime | None,
    known_at: datetime | None,
    page: Listing,
    graph: GraphStore,
    snapshots: Snapshots,
) -> tuple[RelationView, ...]:
    """List relations of a project, or of one entity in it, that hold at a time or at any, newest first.

    Raises:
        NotFoundError: No entity has that name.
    """
    if entity is None:
        rows = graph.list_relations(project, page, type=type, states=states, at=at, known_at=known_at)
    else:
        snapshot = snapshots.of(project)
        around = graph.relations([snapshot.nodes.ids[snapshot.entity_named(entity)]])
        holding = (
            row
            for row in sorted(around, key=lambda row: (row.times.recorded_at, row.id), reverse=True)
            if row.state in states and (type is None or row.type == type) and holds(row.times, at, known_at)
        )
        rows = tuple(islice(holding, page.offset, page.offset + page.limit))
    return named(rows, graph)


def named(
    rows: Sequence[Relation], graph: GraphStore, *, known: Sequence[Entity] = ()
) -> tuple[RelationView, ...]:
    """Return relations with their ends named, in the same order; `known` entities are not looked up."""
    names = {entity.id: entity.name for entity in known}
    ends = {end for row in rows for end in (row.subject, row.object)} - names.keys()
    names |= {entity.id: entity.name for entity in graph.entities(sorted(ends))}
    return tuple(_view(row, names) for row in rows)


def related(done: "Asserted", graph: GraphStore) -> Related:
    """Return what relating did, with every end named."""
    (relation,) = named([done.relation], graph, known=done.ends)
    return Related(
        relation=relation,
        created=done.created,
        stored=done.kept,
        explanation="" if done.verdict is None else done.verdict.explanation,
        superseded=named(done.superseded, graph, known=done.ends),
        conflicts=named(done.clashing, graph, known=done.ends),
        notes=done.notes,
    )


def _view(row: Relation, names: Mapping[str, str]) -> RelationView:
    fields_of_row = (each.name for each in fields(RelationView))
    values = {name: getattr(row if hasattr(row, name) else row.times, name) for name in fields_of_row}
    return RelationView(**{**values, "subject": names[row.subject], "object": names[row.object]})


def stats(
    path: Path, graph: GraphStore, embedder: Embedder, *, generator: str | None, limits: LimitsConfig
) -> Stats:
    """Count what the store holds, against its limits, and what it takes on disk."""
    projects = graph.projects()
    counted = usage(limits, graph=graph, memories={row.name: row.memories for row in projects}, at=clock())
    return Stats(
        path=str(path),
        engine=graph.engine,
        schema_version=SCHEMA_VERSION,
        embedder=embedder.fingerprint,
        dimension=embedder.dimension,
        generator=generator,
        counts=graph.counts(),
        projects=projects,
        pending=sum(len(row.chunks) + len(row.entities) for row in graph.outbox()),
        disk_bytes={part.name: _size(part) for part in _parts(path)},
        expired=counted.past.expired,
        limits=uses(limits, counted),
    )


def _parts(folder: Path) -> list[Path]:
    """Return the files and folders of a store; its folder may hold others, such as documents."""
    return sorted(part for part in folder.iterdir() if _PART.fullmatch(part.name)) if folder.is_dir() else []


def _size(path: Path) -> int:
    """Sum the bytes of a file or folder; what goes while the store works on it counts for nothing."""
    files = [path] if path.is_file() else [Path(at, name) for at, _, names in os.walk(path) for name in names]
    total = 0
    for file in files:
        with suppress(FileNotFoundError):
            total += file.stat().st_size
    return total
