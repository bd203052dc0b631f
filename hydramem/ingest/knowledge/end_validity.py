"""Decides which facts a newer fact ends, and which it only contradicts; makes the rows that follow. Pure.

A slot, such as one subject and one functional type, has one value at a time. A fact that begins later ends
the one before it; facts that cannot be ordered in time, or are not certain, clash, and none ends. A fact
that ended stays stored for reads as of its time. The row as it was believed until now is stored too, as a
version, for reads as of what was known then.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from hydramem.core.ids import version_id
from hydramem.core.row_types import Chunk, Relation, State, Times
from hydramem.core.time import not_ahead

VERSION_OF = "version_of"
"""In the metadata of a version, which says what was believed before a row changed: that row's id."""

SUPERSEDED_BY = "superseded_by"
"""In the metadata of a row that another ended: that row's id."""

WITHDRAWN = "withdrawn"
"""In the metadata of a row that was withdrawn on purpose: its evidence alone does not revive it."""

STANDS_BESIDE = "stands_beside"
"""In the metadata of a relation: ids of those that hold at the same time, as a person says."""

DISTILLED_FROM = "distilled_from"
"""In the metadata of a memory that was distilled from a session: its turns, a quote, and when it was said."""

_Row = TypeVar("_Row", Chunk, Relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement about a slot, with its time.

    Attributes:
        slot: What it is about; only facts of one slot can end each other.
        value: What it says of the slot.
        said_at: When it, or the newest of its evidence, was said.
        certain: False where nothing confirms it yet.
    """

    id: str
    slot: str
    value: str
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    certain: bool = True

    @property
    def begins(self) -> datetime:
        """From when it holds; a fact that does not say so holds from when it was said."""
        return self.valid_from or self.said_at

    @property
    def ends_others(self) -> datetime:
        """When facts that it ends are over: as it begins, or now where that was said with a clock ahead."""
        return self.valid_from or not_ahead(self.said_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A fact ends, because another replaces it from then on."""

    id: str
    until: datetime
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityClash:
    """Two facts cannot both hold, and nothing says which does."""

    id: str
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidityOutcome:
    """What a new fact does to the stored ones."""

    closings: tuple[Closing, ...] = ()
    clashes: tuple[ValidityClash, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each, closings first."""
        ends, stays = (one.explanation for one in self.closings), (one.explanation for one in self.clashes)
        return (*ends, *stays)


def said_at(row: Chunk) -> datetime:
    """Return when a memory was said: before it was recorded where it was distilled from a session."""
    distilled = row.metadata.get(DISTILLED_FROM)
    said = distilled.get("said_at") if isinstance(distilled, Mapping) else None
    try:
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:  # a caller's own value of this name
        at = None
    return row.times.recorded_at if at is None or at.tzinfo is None else at


def facts_ended_by(new: Fact, others: Iterable[Fact], *, may_close: bool = True) -> ValidityOutcome:
    """Decide which facts a new one ends, and with which it clashes.

    Args:
        new: The new fact.
        others: What is believed; facts of other slots, of the same value or of another time are unaffected.
        may_close: False where the slot is only presumed to have one value at a time: then all are clashes.
    """
    closings: list[Closing] = []
    clashes: list[ValidityClash] = []
    for old in others:
        if old.id == new.id or old.slot != new.slot or old.value == new.value or not overlap(new, old):
            continue
        doubt = _doubt(new, old, may_close)
        if doubt is None:
            reason = f"it begins on {new.begins:%Y-%m-%d}, after the one before"
            closings.append(Closing(id=old.id, until=new.ends_others, explanation=reason))
        else:
            clashes.append(ValidityClash(id=old.id, explanation=doubt))
    return ValidityOutcome(closings=tuple(closings), clashes=tuple(clashes))


def overlap(one: Fact, other: Fact) -> bool:
    """Return whether two facts hold at the same time at some moment; a missing bound is open."""
    return _before(one.valid_from, other.valid_to) and _before(other.valid_from, one.valid_to)


def _before(start: datetime | None, end: datetime | None) -> bool:
    return start is None or end is None or start < end


def _doubt(new: Fact, old: Fact, may_close: bool) -> str | None:
    """Say why a fact may not be closed by another, None where it may."""
    if not may_close:
        return "as far as this memory shows, there is one at a time"
    if not new.certain:
        return "the new one is not verified yet, so it closes nothing"
    if new.valid_to is not None:
        return "the new one holds for a time only, so it is not known what holds after"
    if old.valid_to is not None:
        return "the one before has an end of its own, after the new one begins"
    if new.said_at < old.said_at:
        return "what states the new one is older than what states the other"
    if new.begins <= old.begins:
        return "the new one does not begin after the other; give valid_from, or valid_to where it ended"
    return None


def fact_of(relation: Relation, *, subject: str, said_at: datetime) -> Fact:
    """Return a relation as seen from one of its ends.

    Args:
        relation: The relation.
        subject: The end that the slot belongs to; a bidirectional relation has two.
        said_at: When the newest of its evidence was said.
    """
    value = relation.object if relation.subject == subject else relation.subject
    return Fact(
        id=relation.id,
        slot=f"{subject} {relation.type} {'<->' if relation.bidirectional else '->'}",
        value=value,
        said_at=said_at,
        valid_from=relation.times.valid_from,
        valid_to=relation.times.valid_to,
        # An assertion without evidence is certain: there is nothing to verify it by.
        certain=relation.verdict in (None, "accepted")
        or (relation.origin == "asserted" and not relation.evidence),
    )


def closed(
    relation: Relation, *, until: datetime, at: datetime, by: str | None = None
) -> tuple[Relation, Relation]:
    """Return a relation that ends at a time, and the version of it that was believed until now.

    A relation that ended because of another is `superseded`; one that ends later stays `active`, as does one
    that simply ended: reads go by its times.

    Args:
        relation: The relation as it is believed.
        until: The end of its valid time.
        at: The time of the write.
        by: Id of the relation that replaces it.
    """
    current, version = revised(relation, valid_from=relation.times.valid_from, valid_to=until, at=at)
    if by is None:
        return current, version
    return replace(
        current, state=_state_after(until, at), metadata={**current.metadata, SUPERSEDED_BY: by}
    ), version


def superseded(chunk: Chunk, *, until: datetime, at: datetime, by: str) -> tuple[Chunk, Chunk]:
    """Return a memory that another replaces, and the version of it that was believed until now.

    Args:
        chunk: The memory as it is believed.
        until: When the other begins.
        at: The time of the write.
        by: Id of the other.
    """
    current = replace(
        chunk,
        state=_state_after(until, at),
        times=Times(recorded_at=at, valid_from=chunk.times.valid_from, valid_to=until),
        metadata={**chunk.metadata, SUPERSEDED_BY: by},
    )
    return current, _version(chunk, version_id(chunk.id, chunk.times.recorded_at, kind="c"), at)


def corrected(chunk: Chunk, *, at: datetime, by: str) -> Chunk:
    """Return a memory that was wrong and that another corrects: it is no longer believed.

    Its own row keeps what was believed, and until when, so no version is needed.

    Args:
        chunk: The memory as it was believed.
        at: The time of the write.
        by: Id of the memory that corrects it.
    """
    return _archived(chunk, at, metadata={**chunk.metadata, SUPERSEDED_BY: by})


def _state_after(until: datetime, at: datetime) -> State:
    return "superseded" if until <= at else "active"


def revised(
    relation: Relation, *, valid_from: datetime | None, valid_to: datetime | None, at: datetime
) -> tuple[Relation, Relation]:
    """Return a relation with another valid time, and the version believed until now."""
    times = Times(recorded_at=at, valid_from=valid_from, valid_to=valid_to)
    kept = {key: value for key, value in relation.metadata.items() if key != SUPERSEDED_BY}
    current = replace(relation, state="active", times=times, metadata=kept)
    return current, _version(relation, version_id(relation.id, relation.times.recorded_at), at)


def _version(row: _Row, id: str, at: datetime) -> _Row:
    return _archived(row, at, id=id, metadata={**row.metadata, VERSION_OF: row.id})


def _archived(row: _Row, at: datetime, **changed: Any) -> _Row:
    return replace(row, state="archived", times=replace(row.times, retired_at=at), **changed)


def is_version(row: Relation | Chunk) -> bool:
    """Return whether a row is a version: what was believed before another row changed."""
    return VERSION_OF in row.metadata


def can_coexist(one: Relation, other: Relation) -> bool:
    """Return whether a person said that two relations hold at the same time."""
    return other.id in _coexisting(one) or one.id in _coexisting(other)


def mark_coexisting(relation: Relation, other: str) -> Relation:
    """Return a relation that holds at the same time as another, as a person says."""
    known = sorted({*_coexisting(relation), other})
    return replace(relation, metadata={**relation.metadata, STANDS_BESIDE: known})


def _coexisting(relation: Relation) -> tuple[str, ...]:
    held = relation.metadata.get(STANDS_BESIDE)
    return tuple(map(str, held)) if isinstance(held, list | tuple) else ()


def may_return(relation: Relation) -> bool:
    """Return whether an archived relation is believed again once its evidence is."""
    return relation.state == "archived" and not is_version(relation) and WITHDRAWN not in relation.metadata


def returned(relation: Relation) -> Relation:
    """Return an archived relation believed again, as it was before."""
    kept = {key: value for key, value in relation.metadata.items() if key != WITHDRAWN}
    state: State = "superseded" if SUPERSEDED_BY in kept else "active"
    times = replace(relation.times, retired_at=None)
    return replace(relation, state=state, times=times, metadata=kept)


def withdrawn(relation: Relation, at: datetime) -> Relation:
    """Return a relation withdrawn on purpose: no longer believed until it is stated again."""
    return _archived(relation, at, metadata={**relation.metadata, WITHDRAWN: True})


def newest_said(relation: Relation, moments: Sequence[datetime]) -> datetime:
    """Return when a relation was last stated: by its evidence, or else when it was recorded."""
    return max(moments, default=relation.times.recorded_at)
