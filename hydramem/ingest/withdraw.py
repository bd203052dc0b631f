"""Forget and revive: chunks go to the archive and come back, with their links and what only they support.

A relation is believed while at least one of its evidence chunks is active. Its evidence list is never
cut, so that what brings a chunk back can bring back what rested on it.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.errors import NotFoundError
from hydramem.core.results.write_results import Forgotten
from hydramem.core.row_types import Change, Chunk, Document, Entity, Link, Relation, State
from hydramem.core.time import now
from hydramem.ingest.supersede import is_version, may_return, returned
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write

_PAGE = 1000

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


def unsupported(retired: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations whose evidence would all be inactive once these chunks are retired."""
    gone = set(retired)
    resting = [
        relation
        for relation in _relations_on(retired, graph)
        if relation.state in ("active", "superseded") and gone.intersection(relation.evidence)
    ]
    others = sorted({chunk for relation in resting for chunk in relation.evidence} - gone)
    active = {chunk.id for chunk in graph.chunks(others) if chunk.state == "active"}
    return tuple(relation for relation in resting if active.isdisjoint(relation.evidence))


def _supported(revived: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    back = set(revived)
    return tuple(
        relation
        for relation in _relations_on(revived, graph)
        if may_return(relation) and back.intersection(relation.evidence)
    )


def _relations_on(chunks: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    # A chunk mentions both ends of any relation that it is evidence for, so this finds them all.
    mentioned = sorted({mention.entity for mention in graph.mentions(chunks)})
    return graph.relations(mentioned)


def moved_relation(relation: Relation, state: State, at: datetime | None) -> Relation:
    """Return a relation in another state, retired at a time or no longer retired."""
    return replace(relation, state=state, times=replace(relation.times, retired_at=at))


def _moved_relation(relation: Relation, at: datetime | None) -> Relation:
    return returned(relation) if at is None else moved_relation(relation, "archived", at)


def moved_chunk(chunk: Chunk, state: State, at: datetime | None) -> Chunk:
    """Return a chunk in another state, retired at a time or no longer retired."""
    return replace(chunk, state=state, times=replace(chunk.times, retired_at=at))


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
                *_changes(operation, moving, lambda row: moved_chunk(row, after, at)),
                *_changes(operation, relations, lambda row: _moved_relation(row, at)),
            ),
            documents=tuple(_moved_document(row, after, at) for row in owners),
            chunks=tuple(moved_chunk(row, after, at) for row in moving),
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


def find_changed_relation(id: str, graph: GraphStore) -> Relation | None:
    """Return a relation by its id alone, where a Change of its own tells its ends; None where none does."""
    for change in reversed(graph.changes(target=id)):
        row = json.loads(change.after or change.before or "{}")
        if subject := row.get("subject"):
            return next((one for one in graph.relations([subject]) if one.id == id), None)
    return None


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


def document_chunks(document: str, graph: GraphStore) -> tuple[Chunk, ...]:
    """Return every chunk of a document, of any state."""
    where, found = ChunkFilter(documents=(document,), states=()), list[Chunk]()
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=len(found))):
        found.extend(page)
    return tuple(found)


def _recounted(chunks: Sequence[str], by: int, graph: GraphStore) -> tuple[Entity, ...]:
    """Return the entities that chunks mention, their count of active mentions raised or lowered."""
    named = Counter(mention.entity for mention in graph.mentions(chunks))
    return tuple(
        replace(row, mention_count=max(0, row.mention_count + by * named[row.id]))
        for row in graph.entities(sorted(named))
    )


def _moved_document(document: Document, state: State, at: datetime | None) -> Document:
    return replace(document, state=state, times=replace(document.times, retired_at=at))


def _changes(operation: str, rows: Sequence[_Row], moved: Callable[[_Row], _Row]) -> tuple[Change, ...]:
    return tuple(
        record(operation, project=row.project, target=row.id, before=row, after=moved(row)) for row in rows
    )
