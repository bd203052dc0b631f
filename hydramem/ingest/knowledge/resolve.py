"""Names to entities: one node for one thing, found by key or alias among what is known and what is new."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from hydramem.core.ids import entity_id
from hydramem.core.row_types import Entity
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.extraction.name_spans import key_of, without_disambiguation
from hydramem.ingest.write_target import Known
from hydramem.text.normalize import entity_key

_MOST_ALIASES = 32
GENERAL = frozenset({"thing", "concept", "code", ""})
"""Types that say little; any other takes their place."""


def resolve(names: Iterable[Name], *, project: str, known: Known) -> dict[str, str]:
    """Map each name to the id of its entity, known or new.

    A name is its entity's by key; failing that, by an alias that it brings. A name that a parenthesis
    tells from others joins a plain one, and never another that was distinguished as well.

    Args:
        names: Names of one batch; those that bring lasting aliases claim them first.
        project: Where the entities live.
        known: Looks up entities of earlier batches.
    """
    # What lasts claims its aliases before what only refers; the order is otherwise as given.
    ordered = sorted(dict.fromkeys(names), key=lambda name: not name.lasting)
    keys = dict.fromkeys(key for name in ordered for key in _keys(name))
    claimed = dict(known(list(keys)))
    told_apart: set[str] = set()
    ids: dict[str, str] = {}
    for name in ordered:
        key, *others = _keys(name)
        apart = without_disambiguation(name.name) != name.name
        id = claimed.get(key) or next(
            (
                claimed[other]
                for other in others
                if other in claimed and not (apart and claimed[other] in told_apart)
            ),
            None,
        )
        id = id or entity_id(project, key)
        ids[name.name] = id
        claimed.setdefault(key, id)
        if name.lasting:
            for other in others:
                claimed.setdefault(other, id)
        if apart:
            told_apart.add(id)
    return ids


def _keys(name: Name) -> tuple[str, ...]:
    return (key_of(name.name), *(key_of(alias) for alias in name.aliases))


def merge(
    existing: Entity | None, names: Sequence[Name], *, id: str, project: str, mentions: int, at: datetime
) -> Entity:
    """Return an entity's row after so many further chunks have named it.

    Args:
        existing: Its row as stored; None where it is new.
        names: What the chunks call it and know of it.
        project: Where it lives.
        mentions: Chunks that newly mention it, less those that no longer do.
        at: The time of the write.
    """
    row = existing or _new(names[0], id=id, project=project, at=at)
    type, description = row.type, row.description
    aliases = dict.fromkeys(row.aliases)
    taken = {row.key, *map(entity_key, aliases)}
    for name in names:
        if type in GENERAL and name.type not in GENERAL:
            type = name.type
        description = description or name.description
        for alias in (name.name, *(name.aliases if name.lasting else ())):
            key = key_of(alias)
            if key and key not in taken and len(aliases) < _MOST_ALIASES:
                aliases[alias] = None
                taken.add(key)
    return replace(
        row,
        type=type,
        description=description,
        aliases=tuple(aliases),
        last_seen=at,
        mention_count=max(0, row.mention_count + mentions),
    )


def _new(name: Name, *, id: str, project: str, at: datetime) -> Entity:
    return Entity(
        id=id,
        project=project,
        key=key_of(name.name),
        name=name.name,
        type=name.type,
        first_seen=at,
        last_seen=at,
    )
