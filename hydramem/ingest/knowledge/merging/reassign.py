"""Reassigns what certain chunks say of an entity to another entity, since they mean another thing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import entity_id
from hydramem.core.results.knowledge_results import Divided
from hydramem.core.row_types import Entity, Mention, Relation
from hydramem.core.time import now
from hydramem.ingest.knowledge.entities import find_entity
from hydramem.ingest.knowledge.graph_rows import names_to_embed
from hydramem.ingest.knowledge.merging.merge_entities import merged_relation, repoint
from hydramem.ingest.knowledge.merging.merge_history import record_split
from hydramem.ingest.knowledge.relation_input import name_of
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal, Write
from hydramem.text.normalize import entity_key


@dataclass(frozen=True, slots=True, kw_only=True)
class _DividedRelations:
    """The relations of an entity, divided by their evidence.

    Attributes:
        put: Rows to write, each with the stored row of its id.
        gone: Rows to remove.
        given: How many of the rows are the other entity's.
    """

    put: tuple[tuple[Relation | None, Relation], ...]
    gone: tuple[Relation, ...]
    given: int


def reassign(name: str, *, of: str, chunks: Sequence[str], reason: str | None, target: Target) -> Divided:
    """Move the mentions of some chunks, and the relations that they state, from one entity to another.

    Args:
        name: Name of the other; it is made where there is none, and takes over an alias of this name.
        of: Name, alias or id of the entity that the chunks were taken to mention.
        chunks: Their ids.
        reason: Why, for the history.

    Raises:
        InvalidInputError: A chunk does not mention it, or both would have one name; nothing is written.
        NotFoundError: The project has no such entity; nothing is written.
    """
    why, name = check_reason(reason), name_of(name, "what")
    with target.one_writer:
        at = now()
        source = find_entity(of, target, argument="of")
        found = _other(name, source, target)
        other = found or _new(name, source, at)
        counts = _counts(chunks, source, target.graph)
        had = {row.chunk: row.count for row in target.graph.mentioned([other.id]) if row.chunk in counts}
        active = {row.id for row in target.graph.chunks(list(counts)) if row.state == "active"}
        fewer = _without(source, name, len(active))
        more = replace(other, mention_count=other.mention_count + len(active - had.keys()))
        divided = _divided(source, other, frozenset(counts), target.graph)
        write = Write(
            changes=record_split([(source, fewer), (found, more)], divided.put, divided.gone, reason=why),
            entities=(fewer, more),
            mentions=tuple(
                Mention(chunk=chunk, entity=other.id, count=count + had.get(chunk, 0))
                for chunk, count in counts.items()
            ),
            relations=tuple(row for _, row in divided.put),
            removed=Removal(
                relations=tuple((row.subject, row.object, row.id) for row in divided.gone),
                mentions=tuple((chunk, source.id) for chunk in counts),
            ),
        )
        target.commit(write, target.embed_by_id(names_to_embed([more], {other.id: other.mention_count})))
    return Divided(
        entities=(more,), kept=fewer, mentions=len(counts), relations=divided.given, run=current_run()
    )


def _other(name: str, source: Entity, target: Target) -> Entity | None:
    """Return the entity that a name is of, None where none has it but the source as an alias."""
    key = entity_key(name)
    if key == source.key:
        raise InvalidInputError(
            f"what: {name[:80]!r} is what both would be called; tell it apart, as in '{name[:80]} (river)'"
        )
    id = target.known([key]).get(key)
    return None if id in (None, source.id) else find_entity(name, target, argument="what")


def _new(name: str, source: Entity, at: datetime) -> Entity:
    key = entity_key(name)
    id = entity_id(source.project, key)
    if id == source.id:  # the source had this name before
        id = entity_id(source.project, f"{key} {at.isoformat()}")
    return Entity(
        id=id, project=source.project, key=key, name=name, type=source.type, first_seen=at, last_seen=at
    )


def _counts(chunks: Sequence[str], source: Entity, graph: GraphStore) -> dict[str, int]:
    wanted = dict.fromkeys(chunks)
    counts = {row.chunk: row.count for row in graph.mentioned([source.id]) if row.chunk in wanted}
    if strangers := [id for id in wanted if id not in counts]:
        shown = ", ".join(id[:80] for id in strangers[:5])
        raise InvalidInputError(f"chunks: {shown}: does not speak of {source.name[:80]!r}")
    return counts


def _without(source: Entity, name: str, active: int) -> Entity:
    key = entity_key(name)
    aliases = tuple(alias for alias in source.aliases if entity_key(alias) != key)
    return replace(source, aliases=aliases, mention_count=max(0, source.mention_count - active))


def _divided(source: Entity, other: Entity, chunks: Collection[str], graph: GraphStore) -> _DividedRelations:
    """Divide relations by their evidence; those without any stay."""
    rows = [row for row in graph.relations([source.id]) if not set(row.evidence).isdisjoint(chunks)]
    moved = repoint(
        [replace(row, evidence=tuple(id for id in row.evidence if id in chunks)) for row in rows],
        {source.id: other.id},
    )
    own = {row.id: row for row in graph.relations([other.id])}
    put: list[tuple[Relation | None, Relation]] = []
    for id, group in moved.grouped().items():
        here = own.get(id)
        put.append((here, merged_relation([*([here] if here else []), *group])))
    # One between the two loses that evidence as well: what mentioned one of them means the other.
    staying = [(row, tuple(id for id in row.evidence if id not in chunks)) for row in rows]
    put.extend((row, replace(row, evidence=rest)) for row, rest in staying if rest)
    gone = tuple(row for row, rest in staying if not rest)
    return _DividedRelations(put=tuple(put), gone=gone, given=len(moved.grouped()))
