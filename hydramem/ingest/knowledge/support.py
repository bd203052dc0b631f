"""How often a thing is mentioned follows from which memories are active, and is counted again with them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.row_types import Chunk, Entity, Relation, State
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write

_PAGE = 1000
_Row = TypeVar("_Row", Chunk, Relation)


def recounted(write: Write, before: Mapping[str, Chunk], graph: GraphStore) -> tuple[Entity, ...]:
    """Return the entities that chunks of a write mention for the last time, or again, counted anew.

    Entities that the write puts in itself, or takes out, are left to it.

    Args:
        write: What is about to be written.
        before: Its chunks by id, and those that it takes out, as they are stored; new ones are not in it.
        graph: Where mentions are read; the writer lock is held.
    """
    after = {row.id: row.state == "active" for row in write.chunks} | dict.fromkeys(
        write.removed.chunks, False
    )
    moved = {id: active - (before[id].state == "active") for id, active in after.items() if id in before}
    return _moved({id: by for id, by in moved.items() if by}, write, graph)


def _moved(by: Mapping[str, int], write: Write, graph: GraphStore) -> tuple[Entity, ...]:
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
    resting = [
        relation
        for relation in _relations_on(retired, graph)
        if relation.state in ("active", "superseded") and gone.intersection(relation.evidence)
    ]
    others = sorted({chunk for relation in resting for chunk in relation.evidence} - gone)
    active = {chunk.id for chunk in graph.chunks(others) if chunk.state == "active"}
    return tuple(relation for relation in resting if active.isdisjoint(relation.evidence))


def _relations_on(chunks: Sequence[str], graph: GraphStore) -> tuple[Relation, ...]:
    # A chunk mentions both ends of any relation that it is evidence for, so this finds them all.
    mentioned = sorted({mention.entity for mention in graph.mentions(chunks)})
    return graph.relations(mentioned)


def in_state(row: _Row, state: State, at: datetime | None) -> _Row:
    """Return a chunk or relation in another state, retired at a time or no longer retired."""
    return replace(row, state=state, times=replace(row.times, retired_at=at))


def find_changed_relation(id: str, graph: GraphStore) -> Relation | None:
    """Return a relation by its id alone, where a Change of its own tells its ends; None where none does."""
    for change in reversed(graph.changes(target=id)):
        row = json.loads(change.after or change.before or "{}")
        if subject := row.get("subject"):
            return next((one for one in graph.relations([subject]) if one.id == id), None)
    return None


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
