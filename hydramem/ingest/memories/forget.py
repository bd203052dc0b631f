"""Forget and revive: chunks are archived and come back, with their links and the relations they support.

A relation stays active while at least one of its evidence chunks is. Its evidence list is never cut, so that
reviving a chunk can bring back the relations that it supports.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.write_results import Forgotten
from hydramem.core.row_types import Chunk, ChunkKind, Document, Link, Relation, State
from hydramem.core.time import now
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.knowledge.end_validity import is_version, may_return, returned
from hydramem.ingest.knowledge.graph_rows import graph_rows, relate
from hydramem.ingest.knowledge.support import (
    document_chunks,
    find_changed_relation,
    in_state,
    lowered,
    matching_chunks,
    recounted_by,
    relations_on,
    unsupported,
)
from hydramem.ingest.memories.memory_input import MEMORIES
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches
from hydramem.storage.writing.answers import answered

_Row = Chunk | Document | Relation
_BATCH = 500


def forget(ids: Sequence[str], *, graph: GraphStore, mirror: Mirror, dry_run: bool = False) -> Forgotten:
    """Archive chunks and documents, and the relations that nothing else supports.

    Args:
        ids: What is archived.
        dry_run: Only return which chunks that would be.

    Raises:
        NotFoundError: An id is neither a chunk's nor a document's; nothing is written.
    """
    if dry_run:
        chunks, _ = _chunks_and_documents(ids, graph)
        return Forgotten(chunks=tuple(row.id for row in chunks if row.state == "active"), dry_run=True)
    return _move("forget", "active", "archived", ids, graph, mirror)


def revive(
    ids: Sequence[str],
    *,
    graph: GraphStore,
    mirror: Mirror,
    re_extract: Callable[[Sequence[Chunk]], None] = lambda released: None,
) -> Forgotten:
    """Restore archived chunks and documents, and the archived relations that they support.

    A relation comes back by its own id too: one that was taken out on purpose, only so. A quarantined chunk
    goes free by its own id.

    Args:
        ids: What is restored.
        re_extract: Adds the entities and relations of chunks that were quarantined: they had none.

    Raises:
        NotFoundError: An id is no chunk's, document's or withdrawn relation's; nothing is written.
    """
    with mirror.one_writer.of(_projects(ids, graph)):
        released = [row.id for row in graph.chunks(ids) if _is_released(row, ids, "active")]
        done = _move("revive", "archived", "active", ids, graph, mirror)
        if released:
            answered(done)  # a later part reads what is restored
            re_extract(graph.chunks(released))
        return done


def _move(
    operation: str, before: State, after: State, ids: Sequence[str], graph: GraphStore, mirror: Mirror
) -> Forgotten:
    at = now() if after == "archived" else None
    with mirror.one_writer.of(_projects(ids, graph)):
        named = _relations(ids, graph) if after == "active" else ()
        named_ids = {relation.id for relation in named}
        found, owners = _chunks_and_documents([id for id in ids if id not in named_ids], graph)
        chunks = [
            (row, in_state(row, after, at))
            for row in found
            if row.state == before or _is_released(row, ids, after)
        ]
        documents = [(row, in_state(row, after, at)) for row in owners if row.state == before]
        moved = [row.id for row, _ in chunks]
        if after == "archived":
            relations = [(row, in_state(row, "archived", at)) for row in unsupported(moved, graph)]
            fallen = list(lowered(moved, graph))
        else:
            fallen = []
            supported = (row for row in _supported(moved, graph) if row.id not in named_ids)
            archived = (row for row in named if row.state == "archived")
            relations = [(row, returned(row)) for row in (*archived, *supported)]
        rows: list[tuple[_Row, _Row]] = [*documents, *chunks, *relations, *fallen]
        entities = recounted_by(moved, 1 if after == "active" else -1, graph)
        write = Write(
            changes=tuple(
                record(operation, project=old.project, target=old.id, before=old, after=new)
                for old, new in rows
            ),
            documents=tuple(new for _, new in documents),
            chunks=tuple(new for _, new in chunks),
            entities=entities,
            relations=tuple(new for _, new in (*relations, *fallen)),
            links=_moved_links(moved, after, at, graph),
        )
        if write.changes:
            # Names that become worth a vector again have lost theirs; the others keep what they have.
            worth = {row.id: row.name for row in entities if worth_a_vector(row.mention_count)}
            mirror.commit(write, mirror.embed_by_id(worth) if after == "active" else None)
    return Forgotten(chunks=tuple(moved), relations=len(relations))


def _projects(ids: Sequence[str], graph: GraphStore) -> list[str]:
    """Return the projects of what is named; unknown ids have none."""
    rows: tuple[_Row, ...] = (*graph.chunks(ids), *graph.documents(ids), *_relations(ids, graph))
    return sorted({row.project for row in rows})


def _supported(revived: Sequence[str], graph: GraphStore) -> list[Relation]:
    """Return the relations that come back with chunks."""
    ids = set(revived)
    on_them = relations_on(revived, graph)
    return [row for row in on_them if may_return(row) and ids.intersection(row.evidence)]


def _moved_links(
    chunks: Sequence[str], after: State, at: datetime | None, graph: GraphStore
) -> tuple[Link, ...]:
    """Return the links that go with chunks, or come back because both of their ends are there again."""
    before: State = "archived" if after == "active" else "active"
    links = [link for link in graph.links(chunks) if link.state == before] if chunks else []
    if after == "active":
        others = sorted({end for link in links for end in (link.source, link.target)} - set(chunks))
        there = {*chunks, *(row.id for row in graph.chunks(others) if row.state != "archived")}
        links = [link for link in links if {link.source, link.target} <= there]
    return tuple(in_state(link, after, at) for link in links)


def _is_released(chunk: Chunk, ids: Sequence[str], after: State) -> bool:
    """Say whether a quarantined chunk is released: only where it is named itself, not with its document."""
    return after == "active" and chunk.state == "quarantined" and chunk.id in ids


def _relations(ids: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    found = (find_changed_relation(id, graph) for id in dict.fromkeys(ids) if id.startswith("r_"))
    return tuple(row for row in found if row is not None and not is_version(row))


def _chunks_and_documents(
    ids: Sequence[str], graph: GraphStore
) -> tuple[tuple[Chunk, ...], tuple[Document, ...]]:
    """Return the documents that are named, and the chunks that are named or belong to these documents."""
    wanted = tuple(dict.fromkeys(ids))
    chunks, documents = graph.chunks(wanted), graph.documents(wanted)
    unknown = set(wanted) - {chunk.id for chunk in chunks} - {document.id for document in documents}
    if unknown:
        raise NotFoundError(
            f"{', '.join(sorted(id[:80] for id in unknown))}: no chunk or document has this id"
        )
    owned = (chunk for document in documents for chunk in document_chunks(document.id, graph))
    return tuple({chunk.id: chunk for chunk in (*chunks, *owned)}.values()), documents


def re_extract(chunks: Sequence[Chunk], *, target: Target, operation: str) -> None:
    """Add the entities and relations of chunks that have none yet; the writer lock is held.

    Args:
        chunks: Stored, active, of the target's project.
        operation: On whose behalf, for the audit.
    """
    at, project = now(), target.project
    found = extract([Passage(text=chunk.text, author=chunk.author) for chunk in chunks])
    rows = graph_rows(
        [(chunk.id, each) for chunk, each in zip(chunks, found, strict=True)], target=target, at=at
    )
    related = relate(rows, target=target, chunks={chunk.id: chunk for chunk in chunks})
    if not (rows.entities or related.kept or related.refused):
        return
    why = "what it names and states was found"
    write = Write(
        changes=(
            *(
                record(operation, project=project, target=row.id, before=row, after=row, reason=why)
                for row in chunks
            ),
            *(each.change(operation) for each in related.refused),
        ),
        entities=rows.entities,
        mentions=rows.mentions,
        relations=related.kept,
    )
    target.commit(write, target.embed_by_id(rows.names_to_embed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """The active memories of a project that match every given field; fields as in `Memory.forget`."""

    project: str
    scope: str | None = None
    kinds: tuple[ChunkKind, ...] = MEMORIES
    categories: tuple[str, ...] = ()
    before: datetime | None = None
    expect: int | None = None


def forget_matching(sweep: Sweep, *, graph: GraphStore, mirror: Mirror, dry_run: bool = False) -> Forgotten:
    """Archive the memories that are meant, in batches, with the relations that nothing else supports.

    Raises:
        InvalidInputError: They are not as many as was expected; nothing is written.
    """
    with mirror.one_writer.of([sweep.project]):
        ids = _matching_ids(sweep, graph)
        if dry_run:
            return Forgotten(chunks=tuple(ids), dry_run=True)
        if sweep.expect != len(ids):
            asked = "" if sweep.expect is None else f", not {sweep.expect:,}"
            raise InvalidInputError(
                f"expect: {len(ids):,} memories match{asked}; see them with dry_run, and give their number"
            )
        done = [forget(batch, graph=graph, mirror=mirror) for batch in batches(ids, _BATCH)]
    return Forgotten(
        chunks=tuple(id for part in done for id in part.chunks),
        relations=sum(part.relations for part in done),
    )


def _matching_ids(sweep: Sweep, graph: GraphStore) -> list[str]:
    """Return the ids of the memories that are meant, newest first."""
    where = ChunkFilter(
        projects=(sweep.project,), kinds=sweep.kinds, scope=sweep.scope, categories=sweep.categories
    )
    rows = matching_chunks(where, graph)
    return [row.id for row in rows if sweep.before is None or row.times.recorded_at < sweep.before]
