"""How the history records merges and splits, and what `split` reads back of a merge.

The Changes keep everything that a merge takes away: each merged entity with the chunks that mention it, and
each relation as it was, with what it became.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import new_id
from hydramem.core.row_types import Change, Entity, Relation
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import no_longer_known, record
from hydramem.text.normalize import entity_key

if TYPE_CHECKING:
    from pydantic import TypeAdapter

MERGED_INTO = "merged_into"
"""In the metadata of an entity that only the history has: the id of the one that replaces it."""

_OPERATIONS = ("merge", "garden")
"""Operations that merge: a call, or a run of the gardener."""

RelationChange = tuple[str, Relation | None, Relation | None]
"""The id of a relation, its row before and its row after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedEntity:
    """An entity that was merged into another.

    Attributes:
        entity: Its row before the merge.
        mentions: How often each chunk mentions it, by chunk id.
    """

    entity: Entity
    mentions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Became:
    """A relation after a merge, and the rows that it was made of.

    Attributes:
        own: The kept entity's own row before, where it had one.
        parts: The rows of merged entities.
    """

    after: Relation
    own: Relation | None
    parts: tuple[Relation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge as its Changes record it.

    Attributes:
        kept: The entity that replaces the others, before and after.
        parts: The merged entities.
        relations: What became of their relations.
        dropped: Relations between entities that the merge made one.
        noted: Rows whose metadata names another relation, before and after.
    """

    at: datetime
    kept: tuple[Entity, Entity]
    parts: tuple[MergedEntity, ...]
    relations: tuple[Became, ...]
    dropped: tuple[Relation, ...]
    noted: tuple[tuple[Relation, Relation], ...]


def record_merge(
    kept: tuple[Entity, Entity],
    parts: Sequence[MergedEntity],
    relations: Sequence[RelationChange],
    *,
    reason: str | None,
    operation: str,
    run: str | None,
) -> tuple[Change, ...]:
    """Record a merge; the Change of the kept entity names all the others.

    Args:
        kept: The entity that replaces the others, before and after.
        parts: The merged entities.
        relations: Each relation that the merge changes.
        reason: Why, for the history.
        operation: What the history calls it.
        run: The run it belongs to; that of this context where not given.
    """
    before, after = kept

    def change(target: str, old: object | None, new: object | None) -> Change:
        return record(
            operation, project=before.project, target=target, before=old, after=new, reason=reason, run=run
        )

    changed = [change(*each) for each in relations]
    id = new_id("x")
    gone = [change(part.entity.id, part.entity, _merged_away(part, before.id, id)) for part in parts]
    whole = {
        **dataclasses.asdict(after),
        "entity_changes": [row.id for row in gone],
        "relation_changes": [row.id for row in changed],
    }
    return (replace(change(before.id, before, whole), id=id), *gone, *changed)


def record_split(
    entities: Sequence[tuple[Entity | None, Entity]],
    relations: Sequence[tuple[Relation | None, Relation]],
    gone: Sequence[Relation],
    *,
    reason: str | None,
) -> tuple[Change, ...]:
    """Record a split, which also `reassign` is.

    Args:
        entities: The entities before and after; None before where one is new.
        relations: The relations to write, likewise.
        gone: The relations to remove.
        reason: Why, for the history.
    """
    pairs: list[tuple[Entity | Relation | None, Entity | Relation]] = [*entities, *relations]
    written = (
        record("split", project=new.project, target=new.id, before=old, after=new, reason=reason)
        for old, new in pairs
    )
    removed = (
        record("split", project=row.project, target=row.id, before=row, after=None, reason=reason)
        for row in gone
    )
    return (*written, *removed)


def _merged_away(part: MergedEntity, kept: str, merge: str) -> dict[str, Any]:
    """Return a merged entity as the history alone keeps it, with the chunks that mention it."""
    row = replace(part.entity, metadata={**part.entity.metadata, MERGED_INTO: kept})
    mentions = [list(pair) for pair in part.mentions.items()]
    return {**dataclasses.asdict(row), "mentions": mentions, "merge_change": merge}


def find_merge(what: str, target: Target) -> tuple[Merge, frozenset[str]]:
    """Return the last merge that is meant, and the ids of its merged entities that are meant.

    Args:
        what: Name, alias or id of what was merged, or the run or Change of the merge.

    Raises:
        NotFoundError: No merge of the project is meant by that.
        InvalidInputError: A run that merged into several things is.
    """
    changes = [
        row for row in target.graph.changes(project=target.project, kind="e") if row.operation in _OPERATIONS
    ]
    made = [row for row in changes if "mentions" in json.loads(row.after or "{}")]
    meant = [row for row in made if what == row.run] or _last(made, what)
    if not meant:
        raise NotFoundError(
            f"{what[:80]!r}: nothing of this name, id or run was merged in project {target.project!r}"
            f"{_merged_into(what, changes)}{no_longer_known(target.graph)}"
        )
    merges = {json.loads(row.after or "{}")["merge_change"] for row in meant}
    if len(merges) > 1:
        raise InvalidInputError(f"{what[:80]!r}: merged several things; name one, or undo the run")
    by_id = {row.id: row for row in target.graph.changes(run=meant[0].run)}
    return _read(by_id, merges.pop()), frozenset(row.target for row in meant)


@cache
def _adapter(row: type[Any]) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(row)


def _entity(text: str | None) -> Entity:
    row: Entity = _adapter(Entity).validate_json(text or "{}")
    return row


def _relation(text: str | None) -> Relation | None:
    return None if text is None else _adapter(Relation).validate_json(text)


def _last(made: Sequence[Change], what: str) -> list[Change]:
    """Return the last merge of what has an id or name; of an alias where nothing has the name."""
    key = entity_key(what)
    rows = [(change, _entity(change.before)) for change in made]
    named = [change for change, row in rows if what in (change.id, row.id) or key == row.key]
    return (named or [change for change, row in rows if key in map(entity_key, row.aliases)])[-1:]


def _merged_into(what: str, changes: Sequence[Change]) -> str:
    """Return the names that were merged into what is named, as the end of a message."""
    rows = {row.id: row for row in changes}
    names = [
        _entity(rows[id].before).name
        for row in changes
        for id in json.loads(row.after or "{}").get("entity_changes", ())
        if what == row.target or entity_key(what) == json.loads(row.after or "{}")["key"]
    ]
    return f"; into it were merged: {', '.join(map(repr, names))}; name one of these" if names else ""


def _read(changes: Mapping[str, Change], merge: str) -> Merge:
    kept = changes[merge]
    named = json.loads(kept.after or "{}")
    rows = [(_relation(changes[id].before), _relation(changes[id].after)) for id in named["relation_changes"]]
    parts: dict[str, list[Relation]] = {}
    for old, new in rows:
        if old is not None and new is not None and old.id != new.id:
            parts.setdefault(new.id, []).append(old)
    whole = [(old, new) for old, new in rows if new is not None and (old is None or old.id == new.id)]
    return Merge(
        at=kept.at,
        kept=(_entity(kept.before), _entity(kept.after)),
        parts=tuple(
            MergedEntity(
                entity=_entity(changes[id].before),
                mentions=dict(json.loads(changes[id].after or "{}")["mentions"]),
            )
            for id in named["entity_changes"]
        ),
        relations=tuple(
            Became(after=new, own=old, parts=tuple(parts[new.id])) for old, new in whole if new.id in parts
        ),
        dropped=tuple(old for old, new in rows if old is not None and new is None),
        noted=tuple((old, new) for old, new in whole if old is not None and new.id not in parts),
    )
