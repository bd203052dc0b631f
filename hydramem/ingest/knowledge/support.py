"""What depends on which chunks are active: counts of mentions, and relations that lose their evidence."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.row_types import Chunk, Document, Entity, Link, Relation, State
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.ingest.knowledge.trust_layers import sources_of
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write

ONE_SOURCE_LEFT = "only one of the sources that verified it is left"
"""Why a relation falls back, in the history."""

_PAGE = 5000
_Row = TypeVar("_Row", Chunk, Document, Link, Relation)


def recounted(write: Write, before: Mapping[str, Chunk], graph: GraphStore) -> tuple[Entity, ...]:
    """Return the entities that chunks of a write mention, recounted where a chunk becomes active or inactive.

    Entities that the write stores or removes itself are not among them.

    Args:
        write: What is about to be written.
        before: Its chunks and those that it removes as they are stored, by id, without new ones.
        graph: Where mentions are read; the writer lock is held.
    """
    after = {row.id: row.state == "active" for row in write.chunks}
    after |= dict.fromkeys(write.removed.chunks, False)
    moved = {id: active - (before[id].state == "active") for id, active in after.items() if id in before}
    by = {id: step for id, step in moved.items() if step}
    own = {row.id for row in write.entities} | set(write.removed.entities)
    gained: Counter[str] = Counter()
    for mention in graph.mentions(sorted(by)) if by else ():
        gained[mention.entity] += by[mention.chunk]
    wanted = sorted(id for id, count in gained.items() if count and id not in own)
    return tuple(
        replace(row, mention_count=max(0, row.mention_count + gained[row.id]))
        for row in (graph.entities(wanted) if wanted else ())
    )


def unsupported(retired: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations whose evidence would all be inactive once these chunks are retired."""
    gone = set(retired)
    supported = [
        relation
        for relation in relations_on(retired, graph)
        if relation.state in ("active", "superseded") and gone.intersection(relation.evidence)
    ]
    others = sorted({chunk for relation in supported for chunk in relation.evidence} - gone)
    active = {chunk.id for chunk in graph.chunks(others) if chunk.state == "active"}
    return tuple(relation for relation in supported if active.isdisjoint(relation.evidence))


def lowered(retired: Sequence[str], graph: GraphStore) -> tuple[tuple[Relation, Relation], ...]:
    """Return relations that are verified by their sources and keep fewer than two once chunks are retired.

    Returns:
        Each as it is stored, and in the layer that it falls back to.
    """
    gone = set(retired)
    verified = [
        row
        for row in relations_on(retired, graph)
        if row.layer == "verified" and not is_given(row) and gone.intersection(row.evidence)
    ]
    left = sorted({chunk for row in verified for chunk in row.evidence} - gone)
    sources = {chunk.id: sources_of(chunk) for chunk in graph.chunks(left) if chunk.state == "active"}
    return tuple(
        (row, replace(row, layer="working"))
        for row in verified
        if len({each for chunk in row.evidence for each in sources.get(chunk, ())}) == 1
    )


def relations_on(chunks: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations between entities that chunks mention, among them all that the chunks support."""
    return graph.relations(sorted({mention.entity for mention in graph.mentions(chunks)}))


def in_state(row: _Row, state: State, at: datetime | None) -> _Row:
    """Return a row in another state, retired at a time or no longer retired."""
    return replace(row, state=state, times=replace(row.times, retired_at=at))


def find_changed_relation(id: str, graph: GraphStore) -> Relation | None:
    """Return a relation by its id alone, where a Change of its own tells its ends; None where none does."""
    for change in reversed(graph.changes(target=id)):
        row = json.loads(change.after or change.before or "{}")
        if subject := row.get("subject"):
            return next((one for one in graph.relations([subject]) if one.id == id), None)
    return None


def matching_chunks(where: ChunkFilter, graph: GraphStore) -> Iterator[Chunk]:
    """Yield every chunk that a filter admits."""
    offset = 0
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=offset)):
        yield from page
        offset += len(page)


def document_chunks(document: str, graph: GraphStore) -> tuple[Chunk, ...]:
    """Return every chunk of a document, of any state."""
    return tuple(matching_chunks(ChunkFilter(documents=(document,), states=()), graph))


def recounted_by(chunks: Sequence[str], by: int, graph: GraphStore) -> tuple[Entity, ...]:
    """Return the entities that chunks mention, their count of active mentions raised or lowered."""
    named = Counter(mention.entity for mention in graph.mentions(chunks))
    return tuple(
        replace(row, mention_count=max(0, row.mention_count + by * named[row.id]))
        for row in graph.entities(sorted(named))
    )
