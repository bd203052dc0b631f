"""Entities that another program knows: added in one write; what the project knows of them stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hydramem.core.ids import entity_id
from hydramem.core.row_types import Entity
from hydramem.core.time import now
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.extraction.name_spans import key_of
from hydramem.ingest.knowledge.resolve import merge
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.write import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedEntities:
    """What adding entities did.

    Attributes:
        new: Ids of entities that the project did not have, or of which it knew less.
        unchanged: Ids of those of which nothing is new.
    """

    new: frozenset[str] = frozenset()
    unchanged: frozenset[str] = frozenset()


def add_entities(names: Sequence[Name], *, target: Target, dry_run: bool = False) -> AddedEntities:
    """Add named things: a type where none is known, a description where there is none, and free aliases.

    Args:
        names: What they are called, checked; equal ones are one entity.
        dry_run: Write nothing.
    """
    with target.one_writer:
        rows, before = _rows(names, target)
        changes = tuple(
            record("import", project=row.project, target=row.id, before=before.get(row.id), after=row)
            for row in rows
        )
        if rows and not dry_run:
            target.commit(Write(changes=changes, entities=rows), {})
    new = frozenset(row.id for row in rows)
    return AddedEntities(new=new, unchanged=frozenset(before) - new)


def _rows(names: Sequence[Name], target: Target) -> tuple[tuple[Entity, ...], dict[str, Entity]]:
    """Return the rows that change, and all that are stored, by id; the writer lock is held."""
    at = now()
    keys = {key_of(each) for name in names for each in (name.name, *name.aliases)}
    owners = dict(target.known(sorted(keys)))
    for key in map(key_of, (name.name for name in names)):
        owners.setdefault(key, entity_id(target.project, key))
    known: dict[str, list[Name]] = {}
    for name in names:
        id = owners[key_of(name.name)]
        # An alias that another entity has is not added: a name leads to one entity.
        free = tuple(alias for alias in name.aliases if owners.setdefault(key_of(alias), id) == id)
        known.setdefault(id, []).append(replace(name, aliases=free))
    stored = {row.id: row for row in target.graph.entities(sorted(known))}
    rows = (
        merge(stored.get(id), each, id=id, project=target.project, mentions=0, at=at)
        for id, each in known.items()
    )
    changed = tuple(row for row in rows if not _is_same(stored.get(row.id), row))
    return changed, stored


def _is_same(before: Entity | None, after: Entity) -> bool:
    return before is not None and replace(after, last_seen=before.last_seen) == before
