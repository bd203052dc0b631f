"""Splits what a merge made one: the entities come back as they were, and what was written since stays.

The Changes of the merge have everything that it takes: the entities with their mentions, and each relation
as it was, with what it became.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import version_id
from hydramem.core.results.knowledge_results import Divided
from hydramem.core.row_types import Entity, Mention, Relation
from hydramem.ingest.knowledge.end_validity import VERSION_OF
from hydramem.ingest.knowledge.graph_rows import names_to_embed
from hydramem.ingest.knowledge.merging.merge_entities import (
    merged_entity,
    merged_relation,
    names_any,
    repoint,
)
from hydramem.ingest.knowledge.merging.merge_history import (
    Became,
    Merge,
    MergedEntity,
    find_merge,
    record_split,
)
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal, Write
from hydramem.text.normalize import entity_key

_NOT_CARRIED = ("id", "subject", "object", "evidence", "metadata")
"""Columns of a relation that are its own; metadata is carried over key by key."""


@dataclass(slots=True)
class _Rows:
    """The relations that a split writes and removes.

    Attributes:
        relations: Rows to write, each with the stored row of its id.
        gone: Rows to remove.
        given: How many of the rows to write are the restored entities'.
        left: Ids of relations written since the merge that stay with the kept entity.
        evidence: The evidence of the kept entity's relations after the split: these chunks still mention it.
    """

    relations: list[tuple[Relation | None, Relation]] = field(default_factory=list)
    gone: list[Relation] = field(default_factory=list)
    given: int = 0
    left: list[str] = field(default_factory=list)
    evidence: set[str] = field(default_factory=set)

    def give(self, row: Relation) -> None:
        """Restore a relation."""
        self.relations.append((None, row))
        self.given += 1


def split(what: str, *, reason: str | None, target: Target) -> Divided:
    """Reverse a merge, of one entity or of all that a run merged.

    Args:
        what: Name, alias or id of the entity that was merged, or the run or Change of the merge.
        reason: Why, for the history.

    Raises:
        NotFoundError: No merge of the project is meant by that; nothing is written.
        InvalidInputError: It is reversed already, or what it was merged into was merged itself; nothing
            is written.
    """
    why = check_reason(reason)
    with target.one_writer:
        merge, wanted = find_merge(what, target)
        keep = _still_there(merge, wanted, target.graph)
        back = tuple(part for part in merge.parts if part.entity.id in wanted)
        chunks = {row.id: row for row in target.graph.chunks(sorted({c for p in back for c in p.mentions}))}
        held = {mention.chunk: mention.count for mention in target.graph.mentioned([keep.id])}
        rows = _relations(merge, keep, wanted, held, target.graph)
        mentions, without = _mentions(back, keep, held, chunks.keys(), rows.evidence)
        active = Counter(row.entity for row in mentions if chunks[row.chunk].state == "active")
        entities = tuple(replace(part.entity, mention_count=active[part.entity.id]) for part in back)
        after = _kept_after(keep, merge, back, sum(chunks[id].state == "active" for id in without))
        write = Write(
            changes=record_split(
                [(keep, after), *((None, row) for row in entities)], rows.relations, rows.gone, reason=why
            ),
            entities=(after, *entities),
            mentions=mentions,
            relations=tuple(row for _, row in rows.relations),
            removed=Removal(
                relations=tuple((row.subject, row.object, row.id) for row in rows.gone),
                mentions=tuple((chunk, keep.id) for chunk in without),
            ),
        )
        since = _since(merge, held, target.graph)
        target.commit(write, target.embed_by_id(names_to_embed(entities, {})))
    return Divided(
        entities=entities,
        kept=after,
        mentions=sum(mention.entity != keep.id for mention in mentions),
        relations=rows.given,
        left=(*since, *rows.left),
        run=current_run(),
    )


def _still_there(merge: Merge, wanted: Collection[str], graph: GraphStore) -> Entity:
    """Return the entity that replaced the others, as it is now."""
    before, _ = merge.kept
    if back := graph.entities(sorted(wanted)):
        raise InvalidInputError(f"{back[0].name[:80]!r} is an entity of its own; its merge is undone")
    now = graph.entities([before.id])
    if not now:
        raise InvalidInputError(f"{before.name[:80]!r} was merged itself since then; split that first")
    return now[0]


def _mentions(
    back: Sequence[MergedEntity],
    keep: Entity,
    held: Mapping[str, int],
    chunks: Collection[str],
    evidence: AbstractSet[str],
) -> tuple[tuple[Mention, ...], tuple[str, ...]]:
    """Return the mentions to write, and the chunks that no longer mention the kept entity.

    A chunk that was deleted since, or mentions none of them by now, is left out.
    """
    rest = dict(held)
    mentions: list[Mention] = []
    for part in back:
        for chunk, count in part.mentions.items():
            if chunk in rest and chunk in chunks:
                mentions.append(Mention(chunk=chunk, entity=part.entity.id, count=count))
                rest[chunk] -= count
    touched = dict.fromkeys(mention.chunk for mention in mentions)
    for chunk in evidence & touched.keys():
        rest[chunk] = max(rest[chunk], 1)
    mentions.extend(
        Mention(chunk=chunk, entity=keep.id, count=rest[chunk]) for chunk in touched if rest[chunk] > 0
    )
    return tuple(mentions), tuple(chunk for chunk in touched if rest[chunk] <= 0)


def _kept_after(now: Entity, merge: Merge, back: Sequence[MergedEntity], lost: int) -> Entity:
    """Return the kept entity without what the others brought; what was written of it since stays."""
    before, after = merge.kept
    gone = {part.entity.id for part in back}
    rest = [part.entity for part in merge.parts if part.entity.id not in gone]
    without = merged_entity(before, rest)
    columns = ("type", "description", "first_seen", "last_seen", "metadata")
    taken = {name: getattr(without, name) for name in columns if getattr(now, name) == getattr(after, name)}
    brought = {entity_key(name) for part in back for name in (part.entity.name, *part.entity.aliases)}
    brought -= set(map(entity_key, (without.name, *without.aliases)))
    aliases = tuple(name for name in now.aliases if entity_key(name) not in brought)
    return replace(now, aliases=aliases, mention_count=max(0, now.mention_count - lost), **taken)


def _relations(
    merge: Merge, keep: Entity, wanted: frozenset[str], held: Collection[str], graph: GraphStore
) -> _Rows:
    rows = _Rows()
    current = {row.id: row for row in graph.relations([keep.id])}
    parts = [*(part for each in merge.relations for part in each.parts), *merge.dropped]
    ends = {end for part in parts for end in (part.subject, part.object)}
    there = wanted.union(row.id for row in graph.entities(sorted(ends)))
    merged = {part.entity.id: keep.id for part in merge.parts}
    named = {each.after.id for each in merge.relations}
    for each in merge.relations:
        asked = [part for part in each.parts if wanted & {part.subject, part.object}]
        back = [part for part in asked if {part.subject, part.object} <= there]
        now = current.get(each.after.id)
        if now is None or not back:
            rows.left.extend(part.id for part in asked)
        else:
            rest = [part for part in each.parts if part not in back]
            staying = (*([each.own] if each.own else []), *repoint(rest, merged).moved.values())
            since = [row for row in current.values() if row.metadata.get(VERSION_OF) == now.id]
            _divide(each, now, back, staying, [row for row in since if row.id not in named], rows)
    mentioning = {chunk for part in merge.parts for chunk in part.mentions}
    for part in merge.dropped:
        if wanted & {part.subject, part.object}:
            # A chunk that was reassigned since is no evidence for these.
            evidence = tuple(id for id in part.evidence if id in held or id not in mentioning)
            whole = {part.subject, part.object} <= there and bool(evidence) == bool(part.evidence)
            if whole:
                rows.give(replace(part, evidence=evidence))
            else:
                rows.left.append(part.id)
    _rename_back(merge, rows, graph)
    gone = {row.id for row in rows.gone}
    after = current | {row.id: row for _, row in rows.relations if keep.id in (row.subject, row.object)}
    rows.evidence = {chunk for id, row in after.items() if id not in gone for chunk in row.evidence}
    return rows


def _divide(
    each: Became,
    now: Relation,
    back: Sequence[Relation],
    staying: Sequence[Relation],
    versions: Iterable[Relation],
    rows: _Rows,
) -> None:
    """Restore the relations that became one; what was written of it since goes with them, or stays.

    Args:
        each: The relation after the merge, and the rows that it was made of.
        now: The relation as it is now.
        back: Those of the rows that are restored.
        staying: Those that stay one relation of the kept entity.
        versions: Versions of it that were believed since the merge.
        rows: Gets the result.
    """
    for part in back:
        rows.give(_carried(part, each.after, now))
    known = {id for row in (*each.parts, *staying) for id in row.evidence}
    gained = tuple(id for id in now.evidence if id not in known)
    if staying:
        base = _carried(merged_relation(staying) if len(staying) > 1 else staying[0], each.after, now)
        rows.relations.append((now, replace(base, evidence=(*base.evidence, *gained))))
    elif gained:
        rows.relations.append((now, replace(now, evidence=gained)))
    else:
        rows.gone.append(now)
        for version in versions:
            _follow(version, back[0], rows)
    if gained or (staying and now != each.after):
        rows.left.append(now.id)


def _follow(version: Relation, current: Relation, rows: _Rows) -> None:
    """Move a version of a relation since the merge to the restored relation."""
    rows.gone.append(version)
    rows.give(
        replace(
            version,
            id=version_id(current.id, version.times.recorded_at),
            subject=current.subject,
            object=current.object,
            metadata={**version.metadata, VERSION_OF: current.id},
        )
    )


def _carried(row: Relation, after: Relation, now: Relation) -> Relation:
    """Return a row with what changed since the merge: the difference between `after` and `now`."""
    if after == now:
        return row
    names = [each.name for each in fields(Relation) if each.name not in _NOT_CARRIED]
    since = {name: getattr(now, name) for name in names if getattr(now, name) != getattr(after, name)}
    lost = set(after.evidence).difference(now.evidence)
    since["evidence"] = tuple(id for id in row.evidence if id not in lost)
    metadata = dict(row.metadata)
    for key in after.metadata.keys() | now.metadata.keys():
        if key not in now.metadata:
            metadata.pop(key, None)
        elif now.metadata[key] != after.metadata.get(key):
            metadata[key] = now.metadata[key]
    return replace(row, metadata=metadata, **since)


def _rename_back(merge: Merge, rows: _Rows, graph: GraphStore) -> None:
    """Give relations that name a restored one in their metadata its former id again."""
    given = {row.id for _, row in rows.relations}
    asked = [(old, new) for old, new in merge.noted if names_any(old, given)]
    around = graph.relations(sorted({old.subject for old, _ in asked}))
    current = {row.id: row for row in around}
    for old, new in asked:
        now = current.get(old.id)
        if now is not None and now.metadata == new.metadata:
            rows.relations.append((now, replace(now, metadata=old.metadata)))


def _since(merge: Merge, held: Collection[str], graph: GraphStore) -> list[str]:
    """Return the chunks that mention the kept entity since the merge."""
    known = {chunk for part in merge.parts for chunk in part.mentions}
    rows = graph.chunks([chunk for chunk in held if chunk not in known])
    return [row.id for row in rows if row.times.recorded_at > merge.at]
