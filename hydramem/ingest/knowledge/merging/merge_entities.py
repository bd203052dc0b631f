"""Merge: entities that are one thing become one, with their mentions and relations; `split` is the way back.

What goes is kept whole in the Changes of the merge: the entities with the chunks that spoke of them, and
each relation as it was, beside what it became.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import new_id
from hydramem.core.results.knowledge_results import Merged
from hydramem.core.row_types import Change, Entity, Mention, Relation
from hydramem.ingest.knowledge.entities import crossing, find_entity
from hydramem.ingest.knowledge.merging.merge_rows import (
    MERGED_INTO,
    Repointed,
    in_words,
    merged_entity,
    merged_relation,
    names_any,
    renamed,
    repoint,
)
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, record
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal, Write

MOST_MERGED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Related:
    """What a merge does to relations.

    Attributes:
        before: Those of the merged entities, as they were.
        repointed: What becomes of them.
        own: Those of the kept entity that others fall together with, as they were, by id.
        after: Rows that take their place, by id; united where there are several.
        noted: Rows that name one of them, before and after.
    """

    before: tuple[Relation, ...]
    repointed: Repointed
    own: Mapping[str, Relation]
    after: Mapping[str, Relation]
    noted: tuple[tuple[Relation, Relation], ...]


def merge(kept: str, others: Sequence[str], *, reason: str | None, target: Target) -> Merged:
    """Make one entity stand for others: their names become its aliases, their mentions and relations its own.

    A relation that both had is united: its evidence is added up, and the verdict that the other would not
    change stays. One between what is one thing now is dropped, into the history.

    Args:
        kept: Name, alias or id of the one that stays.
        others: Those of what it stands for from now on.
        reason: Why, for the history.
        target: The project.

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
        merging = tuple(found.values())
        made = union(keep, merging, target.graph)
        changes = merge_changes(keep, merging, made, reason=why)
        vectors = target.embed_by_id(crossing([keep], [made.after]))
        target.commit(replace(made.write, changes=changes), vectors)
    return _told(keep, made.after, merging, made.mentions, made.related)


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    """What becomes of entities that are one.

    Attributes:
        after: The kept one with what the others bring.
        mentions: Of all of them, as they were.
        related: What becomes of their relations.
        write: All of it, without Changes.
    """

    after: Entity
    mentions: "_Mentions"
    related: _Related
    write: Write

    @property
    def rests_on(self) -> tuple[Mention | Relation, ...]:
        """The mentions and relations that it was made from, as they were."""
        spoke = (
            Mention(chunk=chunk, entity=entity, count=count)
            for entity, counts in self.mentions.items()
            for chunk, count in counts.items()
        )
        noted = (row for row, _ in self.related.noted)
        return (*spoke, *self.related.before, *self.related.own.values(), *noted)


def union(keep: Entity, merging: Sequence[Entity], graph: GraphStore) -> Union:
    """Say what becomes of entities that are one; nothing is written.

    Args:
        keep: The one that stays.
        merging: Those that it stands for from then on.
        graph: Where what hangs on them is read.
    """
    mentions = _mentions(keep, merging, graph)
    after = _entity_after(keep, merging, mentions, graph)
    related = _related(keep, merging, graph)
    write = Write(
        changes=(),
        entities=(after,),
        mentions=_moved_mentions(keep, merging, mentions),
        relations=(*related.after.values(), *(row for _, row in related.noted)),
        removed=Removal(entities=tuple(row.id for row in merging)),  # their mentions and relations go too
    )
    return Union(after=after, mentions=mentions, related=related, write=write)


def _told(
    keep: Entity, after: Entity, merging: Sequence[Entity], mentions: "_Mentions", related: _Related
) -> Merged:
    names = {row.id: row.name for row in (keep, *merging)}
    spoke = {chunk for row in merging for chunk in mentions[row.id]} - mentions[keep.id].keys()
    return Merged(
        entity=after,
        merged=tuple(row.name for row in merging),
        mentions=len(spoke),
        relations=len(related.repointed.moved),
        united=len(related.repointed.moved) + len(related.own) - len(related.after),
        dropped=tuple(in_words(row, names) for row in related.repointed.dropped),
        run=current_run(),
    )


_Mentions = Mapping[str, Mapping[str, int]]
"""By entity, how often each chunk mentions it."""


def _mentions(keep: Entity, merging: Sequence[Entity], graph: GraphStore) -> _Mentions:
    counts: dict[str, dict[str, int]] = {row.id: {} for row in (keep, *merging)}
    for mention in graph.mentioned(list(counts)):
        counts[mention.entity][mention.chunk] = mention.count
    return counts


def _moved_mentions(keep: Entity, merging: Sequence[Entity], mentions: _Mentions) -> tuple[Mention, ...]:
    sums = Counter[str]()
    for row in merging:
        sums.update(mentions[row.id])
    own = mentions[keep.id]
    return tuple(
        Mention(chunk=chunk, entity=keep.id, count=count + own.get(chunk, 0)) for chunk, count in sums.items()
    )


def _entity_after(keep: Entity, merging: Sequence[Entity], mentions: _Mentions, graph: GraphStore) -> Entity:
    """Return the kept entity with what the others bring; a chunk that mentions several counts once."""
    times = Counter(chunk for counts in mentions.values() for chunk in counts)
    several = [chunk for chunk, number in times.items() if number > 1]
    twice = sum(times[row.id] - 1 for row in graph.chunks(several) if row.state == "active")
    united = merged_entity(keep, merging)
    count = keep.mention_count + sum(row.mention_count for row in merging) - twice
    return replace(united, mention_count=max(0, count))


def _related(keep: Entity, merging: Sequence[Entity], graph: GraphStore) -> _Related:
    ids = [row.id for row in merging]
    before = graph.relations(ids)
    repointed = repoint(before, dict.fromkeys(ids, keep.id))
    touched = {row.id for row in before}
    mine = {row.id: row for row in graph.relations([keep.id]) if row.id not in touched}
    groups = repointed.grouped()
    own = {id: renamed(mine[id], repointed.ids) for id in groups if id in mine}
    after = {id: merged_relation([*([own[id]] if id in own else []), *rows]) for id, rows in groups.items()}
    around = {end for row in before for end in (row.subject, row.object)}.difference(ids, [keep.id])
    others = mine | {row.id: row for row in graph.relations(sorted(around)) if row.id not in touched}
    return _Related(
        before=before,
        repointed=repointed,
        own={id: mine[id] for id in own},
        after=after,
        noted=tuple(
            (row, renamed(row, repointed.ids))
            for id, row in others.items()
            if id not in after and names_any(row, repointed.ids)
        ),
    )


def merge_changes(
    keep: Entity,
    merging: Sequence[Entity],
    made: Union,
    *,
    reason: str | None,
    operation: str = "merge",
    run: str | None = None,
) -> tuple[Change, ...]:
    """Record a merge so that `split` can take it back: the kept entity's Change names all the others.

    Args:
        keep: The one that stays, as it was.
        merging: The others, as they were.
        made: What becomes of them.
        reason: Why, for the history.
        operation: What the history calls it.
        run: What it belongs to; the run of this context where not given.
    """
    told = _Telling(operation=operation, reason=reason, run=run)
    relations = tuple(_relation_changes(made.related, told))
    id = new_id("x")
    gone = [_gone(row, id, keep.id, made.mentions[row.id], told) for row in merging]
    whole = {
        **dataclasses.asdict(made.after),
        "entity_changes": [row.id for row in gone],
        "relation_changes": [row.id for row in relations],
    }
    kept = told.change(keep.id, keep, whole, keep.project)
    return (replace(kept, id=id), *gone, *relations)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """What all Changes of a merge have in common."""

    operation: str
    reason: str | None
    run: str | None

    def change(self, target: str, before: object | None, after: object | None, project: str) -> Change:
        return record(
            self.operation,
            project=project,
            target=target,
            before=before,
            after=after,
            reason=self.reason,
            run=self.run,
        )


def _gone(row: Entity, merge: str, kept: str, mentions: Mapping[str, int], told: _Telling) -> Change:
    """Record an entity that only the history has from then on, with the chunks that spoke of it."""
    gone = dataclasses.asdict(replace(row, metadata={**row.metadata, MERGED_INTO: kept}))
    gone |= {"mentions": [list(pair) for pair in mentions.items()], "merge_change": merge}
    return told.change(row.id, row, gone, row.project)


def _relation_changes(related: _Related, told: _Telling) -> Iterable[Change]:
    """Record each relation as it was beside what it became, and that under its own id."""
    for old in related.before:
        moved = related.repointed.moved.get(old.id)
        yield told.change(old.id, old, None if moved is None else related.after[moved.id], old.project)
    for id, new in related.after.items():
        yield told.change(id, related.own.get(id), new, new.project)
    for old, new in related.noted:
        yield told.change(old.id, old, new, old.project)
