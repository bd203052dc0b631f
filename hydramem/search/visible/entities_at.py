"""Entities as they were at a time: which were known, and which the texts and relations of that time name."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from hydramem.core.row_types import Entity
from hydramem.storage.chunk_filter import ChunkFilter, holds
from hydramem.storage.store import GraphStore, Listing

_AT_ONCE = 100


def entities_at(
    graph: GraphStore,
    page: Listing,
    *,
    where: ChunkFilter,
    containing: str | None,
    type: str | None,
) -> tuple[Entity, ...]:
    """Return a page of a project's entities at a time, in today's order, with the mentions of that time.

    With `known_at`, an entity is left out that was first seen later. With `at`, one is left out where chunks
    and relations name it, and none of them was true and believed: a relation with evidence is as true as a
    chunk in that. Names, types and descriptions are
    today's, and an entity that was merged since is the one that it is now.

    Args:
        graph: Where entities and what names them are read; each entity of the pages up to this one.
        where: The project, the states, and the times that are asked for; a time that is None is not.
        containing, type: As in `GraphStore.list_entities`.
    """
    found = (
        row
        for batch in _batches(graph, where.projects[0], containing, type)
        for row in _seen(graph, batch, where)
    )
    return tuple(islice(found, page.offset, page.offset + page.limit))


def _batches(
    graph: GraphStore, project: str, containing: str | None, type: str | None
) -> Iterator[tuple[Entity, ...]]:
    start = 0
    while rows := graph.list_entities(
        project, Listing(limit=_AT_ONCE, offset=start), containing=containing, type=type
    ):
        yield rows
        start += len(rows)


def _seen(graph: GraphStore, entities: Sequence[Entity], where: ChunkFilter) -> Iterator[Entity]:
    """Yield those of some entities that were there at the time."""
    known_at = where.known_at
    entities = [row for row in entities if known_at is None or row.first_seen <= known_at]
    ids = [row.id for row in entities]
    if not ids:
        return
    mentions, relations = graph.mentioned(ids), graph.relations(ids)
    read = {each.chunk for each in mentions} | {id for row in relations for id in row.evidence}
    admitted = {row.id for row in graph.chunks(sorted(read)) if where.admits(row)}
    mentioned = Counter(each.entity for each in mentions if each.chunk in admitted)
    named = {each.entity for each in mentions} | {
        end for row in relations for end in (row.subject, row.object)
    }
    related = {
        end
        for row in relations
        if row.state in where.states
        and holds(row.times, where.at, known_at)
        and not (row.evidence and admitted.isdisjoint(row.evidence))
        for end in (row.subject, row.object)
    }
    for row in entities:
        if where.at is None or mentioned[row.id] or row.id in related or row.id not in named:
            yield replace(row, mention_count=mentioned[row.id])
