"""Merges entities that are the same thing, with their mentions and relations; `split` takes it back."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import relation_id, version_id
from hydramem.core.results.knowledge_results import Merged
from hydramem.core.row_types import Change, Entity, Mention, Origin, Relation
from hydramem.ingest.knowledge.end_validity import SUPERSEDED_BY, VERSION_OF, WITHDRAWN, is_version
from hydramem.ingest.knowledge.entities import MOST_DESCRIPTION, find_entity, joined_aliases
from hydramem.ingest.knowledge.graph_rows import MOST_EVIDENCE, names_to_embed
from hydramem.ingest.knowledge.merging.merge_history import MergedEntity, RelationChange, record_merge
from hydramem.ingest.knowledge.resolve import GENERAL
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal, Write

MOST_MERGED = 100
_STATE_MARKS = frozenset({SUPERSEDED_BY, VERSION_OF, WITHDRAWN})
_LAYERS = ("working", "shared", "verified")
_ORIGINS: tuple[Origin, ...] = ("inferred", "extracted", "asserted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repointed:
    """Relations that get other ends.

    Attributes:
        moved: What each relation becomes, by its id before; several may become one.
        dropped: Relations whose two ends become one entity.
    """

    moved: Mapping[str, Relation]
    dropped: tuple[Relation, ...]

    @property
    def ids(self) -> dict[str, str]:
        """The new id of each relation by its id before."""
        return {old: row.id for old, row in self.moved.items()}

    def grouped(self) -> dict[str, list[Relation]]:
        """Return the relations that become one together, by their new id."""
        groups: dict[str, list[Relation]] = {}
        for row in self.moved.values():
            groups.setdefault(row.id, []).append(row)
        return groups


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMerge:
    """The rows that a merge reads and those that it makes.

    Attributes:
        keep: The entity that replaces the others, as it was.
        after: The same with the names and counts of the others.
        parts: The merged entities, with their mentions.
        mentions: Mentions of the kept entity where a merged one was mentioned.
        spoke: Mentions of the kept entity before, by chunk.
        before: Relations of the merged entities, as they were.
        repointed: What becomes of them.
        own: Relations of the kept entity that others become one with, as they were, by id.
        related: Rows that replace them, by id.
        noted: Other rows whose metadata names one of them, before and after.
    """

    keep: Entity
    after: Entity
    parts: tuple[MergedEntity, ...]
    mentions: tuple[Mention, ...]
    spoke: Mapping[str, int]
    before: tuple[Relation, ...]
    repointed: Repointed
    own: Mapping[str, Relation]
    related: Mapping[str, Relation]
    noted: tuple[tuple[Relation, Relation], ...]

    @property
    def write(self) -> Write:
        """All rows, without Changes; what removed entities had is removed with them."""
        return Write(
            changes=(),
            entities=(self.after,),
            mentions=self.mentions,
            relations=(*self.related.values(), *(row for _, row in self.noted)),
            removed=Removal(entities=tuple(part.entity.id for part in self.parts)),
        )

    @property
    def read(self) -> tuple[Mention | Relation, ...]:
        """The mentions and relations that the merge depends on, as they were."""
        counts = {self.keep.id: self.spoke} | {part.entity.id: part.mentions for part in self.parts}
        mentions = (
            Mention(chunk=chunk, entity=entity, count=count)
            for entity, spoke in counts.items()
            for chunk, count in spoke.items()
        )
        return (*mentions, *self.before, *self.own.values(), *(row for row, _ in self.noted))

    def changes(
        self, *, reason: str | None, operation: str = "merge", run: str | None = None
    ) -> tuple[Change, ...]:
        """Record the merge so that `split` can take it back.

        Args:
            reason: Why, for the history.
            operation: What the history calls it.
            run: The run it belongs to; that of this context where not given.
        """
        moved = self.repointed.moved
        relations: list[RelationChange] = [
            *(
                (old.id, old, self.related[moved[old.id].id] if old.id in moved else None)
                for old in self.before
            ),
            *((id, self.own.get(id), new) for id, new in self.related.items()),
            *((old.id, old, new) for old, new in self.noted),
        ]
        return record_merge(
            (self.keep, self.after), self.parts, relations, reason=reason, operation=operation, run=run
        )


def merge(kept: str, others: Sequence[str], *, reason: str | None, target: Target) -> Merged:
    """Merge entities into one: the others' names become its aliases, their mentions and relations its own.

    A relation that both had becomes one: its evidence is added up, and the verdict that the other would not
    change stays. One between entities that become one is dropped into the history.

    Args:
        kept: Name, alias or id of the entity that stays.
        others: Those of the entities that it replaces.
        reason: Why, for the history.

    Raises:
        InvalidInputError: There is nothing to merge, or too much; nothing is written.
        NotFoundError: The project has no such entity; nothing is written.
    """
    why = check_reason(reason)
    if not others or len(others) > MOST_MERGED:
        raise InvalidInputError(f"others: {len(others)} are given; name 1 to {MOST_MERGED} entities")
    with target.one_writer:
        keep = find_entity(kept, target, argument="keep")
        found = {row.id: row for name in others for row in [find_entity(name, target, argument="others")]}
        if keep.id in found:
            raise InvalidInputError(f"others: {keep.name[:80]!r} is the entity that is to be kept")
        made = plan_merge(keep, tuple(found.values()), target.graph)
        vectors = target.embed_by_id(names_to_embed([made.after], {keep.id: keep.mention_count}))
        target.commit(replace(made.write, changes=made.changes(reason=why)), vectors)
    names = {keep.id: keep.name} | {row.id: row.name for row in found.values()}
    moved, dropped = made.repointed.moved, made.repointed.dropped
    return Merged(
        entity=made.after,
        merged=tuple(row.name for row in found.values()),
        mentions=len({chunk for part in made.parts for chunk in part.mentions} - made.spoke.keys()),
        relations=len(moved),
        united=len(moved) + len(made.own) - len(made.related),
        dropped=tuple(
            f"{names[row.subject]} -[{row.type}]-> {names[row.object]} ({row.id})" for row in dropped
        ),
        run=current_run(),
    )


def plan_merge(keep: Entity, merging: Sequence[Entity], graph: GraphStore) -> EntityMerge:
    """Return what becomes of entities that are one; nothing is written.

    Args:
        keep: The entity that stays.
        merging: Those that it replaces.
        graph: Where their mentions and relations are read.
    """
    counts: dict[str, dict[str, int]] = {row.id: {} for row in (keep, *merging)}
    for mention in graph.mentioned(list(counts)):
        counts[mention.entity][mention.chunk] = mention.count
    ids = [row.id for row in merging]
    before = graph.relations(ids)
    repointed = repoint(before, dict.fromkeys(ids, keep.id))
    touched = {row.id for row in before}
    mine = {row.id: row for row in graph.relations([keep.id]) if row.id not in touched}
    groups = repointed.grouped()
    own = {id: mine[id] for id in groups if id in mine}
    related = {
        id: merged_relation([*([renamed(own[id], repointed.ids)] if id in own else []), *rows])
        for id, rows in groups.items()
    }
    ends = {end for row in before for end in (row.subject, row.object)}.difference(ids, [keep.id])
    others = mine | {row.id: row for row in graph.relations(sorted(ends)) if row.id not in touched}
    return EntityMerge(
        keep=keep,
        after=_entity_after(keep, merging, counts, graph),
        parts=tuple(MergedEntity(entity=row, mentions=counts[row.id]) for row in merging),
        mentions=_moved_mentions(keep, ids, counts),
        spoke=counts[keep.id],
        before=before,
        repointed=repointed,
        own=own,
        related=related,
        noted=tuple(
            (row, renamed(row, repointed.ids))
            for id, row in others.items()
            if id not in related and names_any(row, repointed.ids)
        ),
    )


_Mentions = Mapping[str, Mapping[str, int]]
"""By entity, how often each chunk mentions it."""


def _moved_mentions(keep: Entity, merging: Iterable[str], counts: _Mentions) -> tuple[Mention, ...]:
    sums = Counter[str]()
    for id in merging:
        sums.update(counts[id])
    own = counts[keep.id]
    return tuple(
        Mention(chunk=chunk, entity=keep.id, count=count + own.get(chunk, 0)) for chunk, count in sums.items()
    )


def _entity_after(keep: Entity, merging: Sequence[Entity], counts: _Mentions, graph: GraphStore) -> Entity:
    """Return the kept entity with the others' names and counts; a chunk that mentions several counts once."""
    times = Counter(chunk for spoke in counts.values() for chunk in spoke)
    several = [chunk for chunk, number in times.items() if number > 1]
    twice = sum(times[row.id] - 1 for row in graph.chunks(several) if row.state == "active")
    count = keep.mention_count + sum(row.mention_count for row in merging) - twice
    return replace(merged_entity(keep, merging), mention_count=max(0, count))


def merged_entity(kept: Entity, others: Sequence[Entity]) -> Entity:
    """Return the kept entity with the names of the others, without the count of mentions."""
    rows = (kept, *others)
    names = (name for row in others for name in (row.name, *row.aliases))
    described = list(dict.fromkeys(row.description for row in rows if row.description))
    distinct = [text for text in described if not any(text in other for other in described if other != text)]
    metadata: dict[str, object] = {}
    for row in reversed(rows):
        metadata |= row.metadata
    return replace(
        kept,
        type=next((row.type for row in rows if row.type not in GENERAL), kept.type),
        aliases=joined_aliases(kept.key, kept.aliases, names),
        description=" ".join(distinct)[:MOST_DESCRIPTION] or None,
        first_seen=min(row.first_seen for row in rows),
        last_seen=max(row.last_seen for row in rows),
        metadata=metadata,
    )


def repoint(relations: Iterable[Relation], ends: Mapping[str, str]) -> Repointed:
    """Give relations other ends, and the ids that follow from them.

    Args:
        relations: Those with an end that changes, of every state.
        ends: The new id of each end that changes.
    """
    rows = list(relations)
    joins = {row.id: (ends.get(row.subject, row.subject), ends.get(row.object, row.object)) for row in rows}
    dropped = tuple(row for row in rows if joins[row.id][0] == joins[row.id][1])
    gone = {row.id for row in dropped}
    kept = [row for row in rows if row.id not in gone]
    ids = {row.id: _new_id(row, *joins[row.id]) for row in kept if not is_version(row)}
    for row in filter(is_version, kept):
        current = str(row.metadata[VERSION_OF])
        ids[row.id] = version_id(ids.get(current, current), row.times.recorded_at)
    moved = {}
    for row in kept:
        subject, object = joins[row.id]
        moved[row.id] = replace(renamed(row, ids), id=ids[row.id], subject=subject, object=object)
    return Repointed(moved=moved, dropped=dropped)


def _new_id(row: Relation, subject: str, object: str) -> str:
    """Derive the id from the new ends as the old one was from the old: without its time, or with it."""
    for moment in (None, row.times.valid_from):
        if row.id == relation_id(row.project, row.subject, row.type, row.object, moment):
            return relation_id(row.project, subject, row.type, object, moment)
    return relation_id(row.project, subject, f"{row.type} {row.id}", object, None)


def renamed(row: Relation, ids: Mapping[str, str]) -> Relation:
    """Return a relation whose metadata has the new ids of other relations."""
    changed = {
        key: ids[str(row.metadata[key])]
        for key in (VERSION_OF, SUPERSEDED_BY)
        if str(row.metadata.get(key)) in ids
    }
    return replace(row, metadata={**row.metadata, **changed}) if changed else row


def names_any(row: Relation, ids: Collection[str]) -> bool:
    """Return whether the metadata of a relation names one of some others."""
    return any(row.metadata.get(key) in ids for key in (VERSION_OF, SUPERSEDED_BY))


def merged_relation(rows: Sequence[Relation]) -> Relation:
    """Return one relation for several of the same ends and id; the first is the stored one.

    The verdict that the others would not change stays, with the state that it led to.
    """
    best = max(rows, key=_strength)
    decided = _strength(best)[0] > 0
    active = next((row for row in rows if row.state == "active"), None)
    base = best if decided or active is None or best.state == "active" else active
    evidence = dict.fromkeys(id for row in rows for id in row.evidence)
    metadata: dict[str, object] = {}
    for row in reversed(rows):  # marks of one state do not carry over to another
        metadata |= {key: value for key, value in row.metadata.items() if key not in _STATE_MARKS}
    return replace(
        base,
        id=rows[0].id,
        bidirectional=any(row.bidirectional for row in rows),
        confidence=max(row.confidence for row in rows),
        origin=max((row.origin for row in rows), key=_ORIGINS.index),
        evidence=tuple(evidence)[-MOST_EVIDENCE:],
        quote=base.quote or next((row.quote for row in rows if row.quote), None),
        layer=base.layer if decided else max((row.layer for row in rows), key=_LAYERS.index),
        times=replace(base.times, recorded_at=min(row.times.recorded_at for row in rows)),
        metadata={**metadata, **base.metadata},
    )


def _strength(row: Relation) -> tuple[int, bool]:
    """Order verdicts by who may change them, as `graph_rows.decided` does: a person's, a model's, others."""
    verifier = row.verifier or ""
    rank = 2 if verifier.startswith("person:") else int(verifier.startswith("vog:"))
    return rank, row.state == "active"
