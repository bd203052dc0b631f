"""Rows of entities that are one thing: relations with other ends, and rows united. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.ids import relation_id, version_id
from hydramem.core.row_types import Entity, Origin, Relation
from hydramem.ingest.knowledge.end_validity import SUPERSEDED_BY, VERSION_OF, WITHDRAWN, is_version
from hydramem.ingest.knowledge.entities import joined_aliases
from hydramem.ingest.knowledge.relation_input import MOST_EVIDENCE
from hydramem.ingest.knowledge.resolve import GENERAL

MERGED_INTO = "merged_into"
"""In the metadata of an entity that only the history has: the id of the one that stands for it."""

_MOST_DESCRIPTION = 10_000

_MARKS = frozenset({SUPERSEDED_BY, VERSION_OF, WITHDRAWN})

_TRUST = ("working", "shared", "verified")

_SAID_BY: tuple[Origin, ...] = ("inferred", "extracted", "asserted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repointed:
    """Relations that get other ends.

    Attributes:
        moved: The relation as it becomes, by the id that it had; of several that become one, each.
        dropped: Those between what is one thing then.
    """

    moved: Mapping[str, Relation]
    dropped: tuple[Relation, ...] = ()

    @property
    def ids(self) -> dict[str, str]:
        """The new id of each by the one that it had."""
        return {old: row.id for old, row in self.moved.items()}

    def grouped(self) -> dict[str, list[Relation]]:
        """Return those that become one together, by its id."""
        groups: dict[str, list[Relation]] = {}
        for row in self.moved.values():
            groups.setdefault(row.id, []).append(row)
        return groups


def merged_entity(kept: Entity, others: Sequence[Entity]) -> Entity:
    """Return an entity that stands for others too; its mentions are still to count."""
    rows = (kept, *others)
    names = (name for row in others for name in (row.name, *row.aliases))
    described = list(dict.fromkeys(row.description for row in rows if row.description))
    told = [text for text in described if not any(text in other for other in described if other != text)]
    metadata: dict[str, object] = {}
    for row in reversed(rows):
        metadata |= row.metadata
    return replace(
        kept,
        type=next((row.type for row in rows if row.type not in GENERAL), kept.type),
        aliases=joined_aliases(kept.key, kept.aliases, names),
        description=" ".join(told)[:_MOST_DESCRIPTION] or None,
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
    bent = {row.id: (ends.get(row.subject, row.subject), ends.get(row.object, row.object)) for row in rows}
    dropped = tuple(row for row in rows if bent[row.id][0] == bent[row.id][1])
    gone = {row.id for row in dropped}
    kept = [row for row in rows if row.id not in gone]
    ids = {row.id: _new_id(row, *bent[row.id]) for row in kept if not is_version(row)}
    ids |= {row.id: _new_version_id(row, ids) for row in kept if is_version(row)}
    moved = {}
    for row in kept:
        subject, object = bent[row.id]
        moved[row.id] = replace(renamed(row, ids), id=ids[row.id], subject=subject, object=object)
    return Repointed(moved=moved, dropped=dropped)


def _new_id(row: Relation, subject: str, object: str) -> str:
    """Return an id that follows from other ends as the one it had followed from those: ids outlast times."""
    begins = (None, row.times.valid_from)
    for moment in begins:
        if row.id == relation_id(row.project, row.subject, row.type, row.object, moment):
            return relation_id(row.project, subject, row.type, object, moment)
    return relation_id(row.project, subject, f"{row.type} {row.id}", object, None)


def _new_version_id(row: Relation, ids: Mapping[str, str]) -> str:
    current = str(row.metadata[VERSION_OF])
    return version_id(ids.get(current, current), row.times.recorded_at)


def renamed(row: Relation, ids: Mapping[str, str]) -> Relation:
    """Return a relation that names others by their new ids."""
    changed = {
        key: ids[str(row.metadata[key])]
        for key in (VERSION_OF, SUPERSEDED_BY)
        if str(row.metadata.get(key)) in ids
    }
    return replace(row, metadata={**row.metadata, **changed}) if changed else row


def names_any(row: Relation, ids: Collection[str]) -> bool:
    """Say whether a relation names one of some others in its metadata."""
    return any(row.metadata.get(key) in ids for key in (VERSION_OF, SUPERSEDED_BY))


def merged_relation(rows: Sequence[Relation]) -> Relation:
    """Return one relation for several of the same ends and id, the first the one that was there.

    The verdict that others would not change is the one that stays, with the state that it led to.
    """
    best = max(rows, key=_strength)
    settled = _strength(best)[0] > 0
    active = next((row for row in rows if row.state == "active"), None)
    base = best if settled or active is None or best.state == "active" else active
    evidence = dict.fromkeys(id for row in rows for id in row.evidence)
    metadata: dict[str, object] = {}
    for row in reversed(rows):  # what marks the state of one does not mark that of another
        metadata |= {key: value for key, value in row.metadata.items() if key not in _MARKS}
    return replace(
        base,
        id=rows[0].id,
        bidirectional=any(row.bidirectional for row in rows),
        confidence=max(row.confidence for row in rows),
        origin=max((row.origin for row in rows), key=_SAID_BY.index),
        evidence=tuple(evidence)[-MOST_EVIDENCE:],
        quote=base.quote or next((row.quote for row in rows if row.quote), None),
        layer=base.layer if settled else max((row.layer for row in rows), key=_TRUST.index),
        times=replace(base.times, recorded_at=min(row.times.recorded_at for row in rows)),
        metadata={**metadata, **base.metadata},
    )


def _strength(row: Relation) -> tuple[int, bool]:
    """Order verdicts by who may change them, as `weave.decided` does: a person's, a model's, any other."""
    verifier = row.verifier or ""
    rank = 2 if verifier.startswith("person:") else int(verifier.startswith("vog:"))
    return rank, row.state == "active"


def in_words(row: Relation, names: Mapping[str, str]) -> str:
    """Say a relation for a person."""
    return f"{names[row.subject]} -[{row.type}]-> {names[row.object]} ({row.id})"
