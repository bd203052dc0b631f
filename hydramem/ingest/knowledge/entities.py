"""Entities that a caller names or describes; a name that another entity has is refused."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hydramem.core.argument_checks import check_name, check_reason, check_text
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import entity_id
from hydramem.core.results.knowledge_results import EntityChange
from hydramem.core.row_types import Entity
from hydramem.core.time import now
from hydramem.ingest.knowledge.relation_input import name_of
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key

MOST_ALIASES = 256
MOST_DESCRIPTION = 10_000
_FIELDS = ("name", "type", "aliases", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What a caller states of an entity, with fields as in `Memory.entity`; None leaves what is known."""

    name: str
    type: str | None = None
    aliases: tuple[str, ...] = ()
    description: str | None = None
    rename: str | None = None
    reason: str | None = None


def set_entity(naming: Naming, *, target: Target) -> EntityChange:
    """Make an entity, or add to what is known of one; known statements change nothing.

    Args:
        naming: What is stated of it.

    Raises:
        InvalidInputError: A field is wrong, or a name belongs to another entity; nothing is written.
    """
    naming = _checked(naming)
    with target.one_writer:
        at = now()
        row = _stored(naming.name, target)
        key = entity_key(naming.name)
        id = entity_id(target.project, key) if row is None else row.id
        _check_free(naming, id, target)
        new = Entity(id=id, project=target.project, key=key, name=naming.name, first_seen=at, last_seen=at)
        changed = _changed(row or new, naming)
        if changed != row:
            _store(row, changed, naming.reason, target)
    return EntityChange(
        entity=changed,
        created=row is None,
        changed=tuple(name for name in _FIELDS if row and getattr(row, name) != getattr(changed, name)),
    )


def _checked(naming: Naming) -> Naming:
    described = naming.description
    if described:
        described = check_text(described, name="description", most=MOST_DESCRIPTION).strip()
        if threats := threats_in(described):
            raise InvalidInputError(f"description: goes into prompts and is not taken: {'; '.join(threats)}")
    return replace(
        naming,
        name=name_of(naming.name, "name"),
        type=None if naming.type is None else check_name(naming.type, name="type").lower(),
        aliases=tuple(name_of(alias, "aliases") for alias in naming.aliases),
        description=described,
        rename=None if naming.rename is None else name_of(naming.rename, "rename"),
        reason=check_reason(naming.reason),
    )


def _stored(name: str, target: Target) -> Entity | None:
    key = entity_key(name)
    found = target.graph.entities([id for id in [target.known([key]).get(key)] if id is not None])
    return found[0] if found else None


def find_entity(name: str, target: Target, *, argument: str) -> Entity:
    """Return the entity that has a name, alias or id.

    Args:
        name: Name, alias, or id.
        argument: What the caller calls it, for the error.

    Raises:
        NotFoundError: The project has none.
    """
    by_id = [row for row in target.graph.entities([name]) if row.project == target.project]
    row = by_id[0] if by_id else _stored(name_of(name, argument), target)
    if row is None:
        raise NotFoundError(
            f"{argument}: {name[:80]!r}: no entity of project {target.project!r} has this name, alias or id"
        )
    return row


def _check_free(naming: Naming, id: str, target: Target) -> None:
    """Refuse a name that another entity has: `merge` alone makes two entities one."""
    for argument, names in (("aliases", naming.aliases), ("rename", (naming.rename,))):
        given = {entity_key(name): name for name in names if name is not None}
        for key, owner in target.known(list(given)).items():
            if owner != id:
                (other,) = target.graph.entities([owner])
                raise InvalidInputError(
                    f"{argument}: {given[key][:80]!r} is the entity {other.name[:80]!r} already; "
                    "where both are one thing, merge them"
                )


def _changed(row: Entity, naming: Naming) -> Entity:
    name = naming.rename or row.name
    key = entity_key(name)
    before = (row.name,) if key != row.key else ()
    aliases = joined_aliases(key, (*row.aliases, *before), naming.aliases)
    if len(aliases) > MOST_ALIASES:
        raise InvalidInputError(f"aliases: {len(aliases)} in all, more than {MOST_ALIASES}")
    described = row.description if naming.description is None else naming.description or None
    return replace(
        row, name=name, key=key, aliases=aliases, type=naming.type or row.type, description=described
    )


def joined_aliases(key: str, *names: Iterable[str]) -> tuple[str, ...]:
    """Return names in order, each key once, but for the entity's own key."""
    found = {key: ""}
    for name in (name for part in names for name in part):
        found.setdefault(entity_key(name), name)
    return tuple(found.values())[1:]


def _store(before: Entity | None, after: Entity, reason: str | None, target: Target) -> None:
    change = record(
        "entity", project=after.project, target=after.id, before=before, after=after, reason=reason
    )
    renamed = before is not None and before.name != after.name and worth_a_vector(after.mention_count)
    vectors = target.embed_by_id({after.id: after.name} if renamed else {})
    target.commit(Write(changes=(change,), entities=(after,)), vectors)
