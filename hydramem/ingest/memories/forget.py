"""Forget and revive: chunks go to the archive and come back, with their links and what only they support.

A relation is believed while at least one of its evidence chunks is active. Its evidence list is never
cut, so that what brings a chunk back can bring back what rested on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.write_results import Forgotten
from hydramem.core.row_types import Change, Chunk, ChunkKind, Document, Link, Relation, State
from hydramem.core.time import now
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.knowledge.end_validity import is_version, may_return, returned
from hydramem.ingest.knowledge.graph_rows import graph_rows, relate
from hydramem.ingest.knowledge.support import (
    _recounted,
    _relations_on,
    document_chunks,
    find_changed_relation,
    in_state,
    unsupported,
)
from hydramem.ingest.memories.memory_input import MEMORIES
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

_Row = TypeVar("_Row", Chunk, Document, Relation)


def forget(ids: Sequence[str], *, graph: GraphStore, mirror: Mirror, dry_run: bool = False) -> Forgotten:
    """Archive chunks and documents, and the relations that nothing else supports.

    Args:
        ids: What is archived.
        graph, mirror: Where it is.
        dry_run: Only tell which chunks that would be.

    Raises:
        NotFoundError: An id is neither a chunk's nor a document's; nothing is written.
    """
    if dry_run:
        chunks, _ = _find(ids, graph)
        return Forgotten(chunks=tuple(row.id for row in chunks if row.state == "active"), dry_run=True)
    return _move("forget", "active", "archived", ids, graph, mirror)


def revive(
    ids: Sequence[str],
    *,
    graph: GraphStore,
    mirror: Mirror,
    regrow: Callable[[Sequence[Chunk]], None] = lambda released: None,
) -> Forgotten:
    """Bring archived chunks and documents back, and the archived relations that they support.

    A relation comes back by its own id too: one that was taken out on purpose, only so. A quarantined chunk
    goes free by its own id.

    Args:
        ids: What is brought back.
        graph, mirror: Where it is.
        regrow: Makes the entities and relations of chunks that were quarantined: they had none.

    Raises:
        NotFoundError: An id is no chunk's, document's or withdrawn relation's; nothing is written.
    """
    with mirror.one_writer:
        held = [row.id for row in graph.chunks(ids) if _released(row, ids, "active")]
        done = _move("revive", "archived", "active", ids, graph, mirror)
        if held:
            regrow(graph.chunks(held))
        return done


def _supported(revived: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    back = set(revived)
    return tuple(
        relation
        for relation in _relations_on(revived, graph)
        if may_return(relation) and back.intersection(relation.evidence)
    )


def _moved_relation(relation: Relation, at: datetime | None) -> Relation:
    return returned(relation) if at is None else in_state(relation, "archived", at)


def _move(
    operation: str, before: State, after: State, ids: Sequence[str], graph: GraphStore, mirror: Mirror
) -> Forgotten:
    with mirror.one_writer:
        named = _relations(ids, graph) if after == "active" else ()
        taken = {relation.id for relation in named}
        chunks, documents = _find([id for id in ids if id not in taken], graph)
        moving = tuple(chunk for chunk in chunks if chunk.state == before or _released(chunk, ids, after))
        owners = tuple(document for document in documents if document.state == before)
        touched = [chunk.id for chunk in moving]
        if after == "archived":
            relations = unsupported(touched, graph)
        else:
            back = tuple(row for row in named if row.state == "archived")
            relations = (*back, *(row for row in _supported(touched, graph) if row.id not in taken))
        at = now() if after == "archived" else None
        entities = _recounted(touched, 1 if after == "active" else -1, graph)
        links = _moved_links(touched, after, at, graph)
        write = Write(
            changes=(
                *_changes(operation, owners, lambda row: _moved_document(row, after, at)),
                *_changes(operation, moving, lambda row: in_state(row, after, at)),
                *_changes(operation, relations, lambda row: _moved_relation(row, at)),
            ),
            documents=tuple(_moved_document(row, after, at) for row in owners),
            chunks=tuple(in_state(row, after, at) for row in moving),
            entities=entities,
            relations=tuple(_moved_relation(row, at) for row in relations),
            links=links,
        )
        if write.changes:
            # Names that become worth a vector again have lost theirs; the others keep what they have.
            worth = {row.id: row.name for row in entities if worth_a_vector(row.mention_count)}
            mirror.commit(write, mirror.embed_by_id(worth) if after == "active" else None)
    return Forgotten(chunks=tuple(touched), relations=len(relations))


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
    return tuple(replace(link, state=after, times=replace(link.times, retired_at=at)) for link in links)


def _released(chunk: Chunk, ids: Sequence[str], after: State) -> bool:
    """Say whether a quarantined chunk goes free: only where it is named itself, not with its document."""
    return after == "active" and chunk.state == "quarantined" and chunk.id in ids


def _relations(ids: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    found = (find_changed_relation(id, graph) for id in dict.fromkeys(ids) if id.startswith("r_"))
    return tuple(row for row in found if row is not None and not is_version(row))


def _find(ids: Sequence[str], graph: GraphStore) -> tuple[tuple[Chunk, ...], tuple[Document, ...]]:
    wanted = tuple(dict.fromkeys(ids))
    chunks, documents = graph.chunks(wanted), graph.documents(wanted)
    unknown = set(wanted) - {chunk.id for chunk in chunks} - {document.id for document in documents}
    if unknown:
        raise NotFoundError(
            f"{', '.join(sorted(id[:80] for id in unknown))}: no chunk or document has this id"
        )
    held = (chunk for document in documents for chunk in document_chunks(document.id, graph))
    return tuple({chunk.id: chunk for chunk in (*chunks, *held)}.values()), documents


def _moved_document(document: Document, state: State, at: datetime | None) -> Document:
    return replace(document, state=state, times=replace(document.times, retired_at=at))


def _changes(operation: str, rows: Sequence[_Row], moved: Callable[[_Row], _Row]) -> tuple[Change, ...]:
    return tuple(
        record(operation, project=row.project, target=row.id, before=row, after=moved(row)) for row in rows
    )


def re_extract(chunks: Sequence[Chunk], *, target: Target, operation: str) -> None:
    """Add the entities and relations of chunks that have none yet; the writer lock is held.

    Args:
        chunks: Stored, active, of the target's project.
        target: Where they are.
        operation: On whose behalf, for the audit.
    """
    at, project = now(), target.project
    found = extract([Passage(text=chunk.text, author=chunk.author) for chunk in chunks])
    woven = graph_rows(
        [(chunk.id, each) for chunk, each in zip(chunks, found, strict=True)], target=target, at=at
    )
    related = relate(
        woven.stated,
        target=target,
        before=woven.before,
        at=at,
        chunks={chunk.id: chunk for chunk in chunks},
        entities=woven.entities,
    )
    if not (woven.entities or related.kept or related.refused):
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
        entities=woven.entities,
        mentions=woven.mentions,
        relations=related.kept,
    )
    worth = {row.id: row.name for row in woven.crossing(worth_a_vector)}
    target.commit(write, target.embed_by_id(worth))


_PAGE = 5000

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Which active memories of a project are meant; all that is given must hold.

    Attributes:
        scope: At or under this path: whole segments, and never what is above.
        kinds: Of these kinds.
        categories: With one of these labels.
        before: Recorded before then.
        expect: How many they are, as a look at them told; None where nobody looked.
    """

    project: str
    scope: str | None = None
    kinds: tuple[ChunkKind, ...] = MEMORIES
    categories: tuple[str, ...] = ()
    before: datetime | None = None
    expect: int | None = None


def matching(sweep: Sweep, graph: GraphStore) -> list[str]:
    """Return the ids of the memories that are meant, newest first."""
    where = ChunkFilter(
        projects=(sweep.project,), kinds=sweep.kinds, scope=sweep.scope, categories=sweep.categories
    )
    ids: list[str] = []
    offset = 0
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=offset)):
        offset += len(page)
        ids.extend(row.id for row in page if sweep.before is None or row.times.recorded_at < sweep.before)
    return ids


def forget_matching(sweep: Sweep, *, graph: GraphStore, mirror: Mirror, dry_run: bool = False) -> Forgotten:
    """Archive the memories that are meant, in batches, with the relations that nothing else supports.

    Raises:
        InvalidInputError: They are not as many as was expected; nothing is written.
    """
    with mirror.one_writer:
        ids = matching(sweep, graph)
        if dry_run:
            return Forgotten(chunks=tuple(ids), dry_run=True)
        if sweep.expect != len(ids):
            asked = "" if sweep.expect is None else f", not {sweep.expect:,}"
            raise InvalidInputError(
                f"expect: {len(ids):,} memories match{asked}; see them with dry_run, and give their number"
            )
        done = [forget(batch, graph=graph, mirror=mirror) for batch in batches(ids, _BATCH)]
    return _summed(done)


def _summed(done: Sequence[Forgotten]) -> Forgotten:
    return Forgotten(
        chunks=tuple(id for part in done for id in part.chunks),
        relations=sum(part.relations for part in done),
    )
