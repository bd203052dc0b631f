"""What a merge did, as its Changes tell it: what was merged, and each relation beside what it became."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.row_types import Change, Entity, Relation
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import no_longer_known
from hydramem.text.normalize import entity_key

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MERGING = ("merge", "garden")
"""What merges: a call, or a night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedEntity:
    """An entity that was merged: its row, and how often each chunk spoke of it."""

    entity: Entity
    mentions: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Became:
    """A relation after a merge, and what it was made of.

    Attributes:
        own: The kept entity's own row before, where it had one.
        parts: The rows of merged entities.
    """

    after: Relation
    own: Relation | None
    parts: tuple[Relation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merge as its Changes tell it.

    Attributes:
        kept: The entity that stands for the others, before and after.
        parts: Those that were merged.
        relations: What became of theirs.
        dropped: Relations between what was one thing then.
        noted: Rows that named another, before and after.
    """

    at: datetime
    kept: tuple[Entity, Entity]
    parts: tuple[MergedEntity, ...]
    relations: tuple[Became, ...]
    dropped: tuple[Relation, ...]
    noted: tuple[tuple[Relation, Relation], ...]


def find_merge(what: str, target: Target) -> tuple[Merge, frozenset[str]]:
    """Return the last merge that is meant, and the ids of the entities of it that are.

    Args:
        what: Name, alias or id of what was merged, or the run or Change of the merge.
        target: The project.

    Raises:
        NotFoundError: No merge of the project is meant by that.
        InvalidInputError: A run that merged into several things is.
    """
    made = [row for row in target.graph.changes(project=target.project, kind="e") if _is_part(row)]
    meant = [row for row in made if what == row.run] or _last(made, what)
    if not meant:
        raise NotFoundError(
            f"{what[:80]!r}: nothing of this name, id or run was merged in project {target.project!r}"
            f"{no_longer_known(target.graph)}"
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


def _is_part(change: Change) -> bool:
    return change.operation in _MERGING and "mentions" in json.loads(change.after or "{}")


def _last(made: Sequence[Change], what: str) -> list[Change]:
    """Return the last merge of what has an id or name; of an alias where nothing has the name."""
    key = entity_key(what)
    rows = [(change, _entity(change.before)) for change in made]
    named = [change for change, row in rows if what in (change.id, row.id) or key == row.key]
    return (named or [change for change, row in rows if key in map(entity_key, row.aliases)])[-1:]


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
        parts=tuple(_part(changes[id]) for id in named["entity_changes"]),
        relations=tuple(
            Became(after=new, own=old, parts=tuple(parts[new.id])) for old, new in whole if new.id in parts
        ),
        dropped=tuple(old for old, new in rows if old is not None and new is None),
        noted=tuple((old, new) for old, new in whole if old is not None and new.id not in parts),
    )


def _part(change: Change) -> MergedEntity:
    return MergedEntity(
        entity=_entity(change.before), mentions=dict(json.loads(change.after or "{}")["mentions"])
    )
