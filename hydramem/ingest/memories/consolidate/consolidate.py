"""Consolidation: what a new memory does to those that are there. Pure, and without a model.

Two tellings are set against each other by their words: what they speak of, what they say of it, and what
fills the place. Cosine cannot tell an update from a neighbour ("hall 3" and "hall 4" are nearer than most
paraphrases), so it names candidates and never decides. Precision goes before recall: what is not clear is
kept beside what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.ingest.knowledge.end_validity import Fact, end_validity
from hydramem.ingest.legacy_update_rules.clause_tokens import ClauseStatement
from hydramem.ingest.legacy_update_rules.pairing import Met, NeighbourQuery, looked_for, same_kind
from hydramem.ingest.legacy_update_rules.update_frames import meet
from hydramem.ingest.legacy_update_rules.update_reading import TextReading, reading

Compared = Literal["duplicate", "update", "refine", "contradict", "unrelated"]

Doing = Literal["duplicate", "update", "refine", "contradict", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A memory as consolidation looks at it.

    Attributes:
        said_at: When it was told, or recorded.
        happened_at: When what it tells of took place, where it is an event.
    """

    text: str
    kind: ChunkKind = "note"
    author: str | None = None
    scope: str = "/"
    said_at: datetime
    happened_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateMemory:
    """A stored memory that a new one may touch; `cosine` is None where there are no vectors."""

    id: str
    telling: Telling
    cosine: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a new memory is to one that is there.

    Attributes:
        reason: A sentence for a person.
        sure: False where it holds only if no other memory asks for the same.
    """

    action: Compared
    reason: str
    sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What becomes of one stored memory.

    Attributes:
        id: The stored memory.
        action: `duplicate`: it says what the new one says, and stands for it. `update`: it held until the
            new one began; with `new_text`, it is rewritten to that. `refine` and `contradict`: it stays,
            and the new one is linked to it. `delete`: it holds no longer; the new one, where it is
            inserted, takes its place.
        new_text: What the memory is to say from now on, where a model worded that.
        reason: A sentence for a person.
    """

    id: str
    action: Doing
    new_text: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPlan:
    """What is to be done with a new memory and those that it touches; those not named are kept."""

    actions: tuple[Action, ...] = ()
    insert: bool = True
    reason: str = ""


_SAID = ("turn", "passage")

_MOST_REASONS = 3

_UNRELATED = Comparison(action="unrelated", reason="Nothing shows that they tell of the same.")


def telling_of(chunk: Chunk) -> Telling:
    """Return a stored memory as consolidation looks at it."""
    return Telling(
        text=chunk.text,
        kind=chunk.kind,
        author=chunk.author,
        scope=chunk.scope,
        said_at=chunk.times.recorded_at,
        happened_at=chunk.happened_at,
        valid_from=chunk.times.valid_from,
        valid_to=chunk.times.valid_to,
    )


def compare(new: Telling, old: Telling, cosine: float | None = None) -> Comparison:
    """Say what a new memory is to one that is there.

    Args:
        new: What comes in.
        old: What is stored.
        cosine: Of their vectors, where there are any; taken for what it is, a hint that decides nothing.
    """
    apart = _apart(new, old)
    if apart is not None:
        return Comparison(action="unrelated", reason=apart)
    mine, yours = reading(new.text), reading(old.text)
    if (mine.speaks or yours.speaks) and new.author != old.author:
        return _UNRELATED
    met = _met(mine, yours)
    if met is None:
        return _UNRELATED
    match met.kind:
        case "same":
            return _again(new, old)
        case "more":
            return Comparison(action="refine", reason=met.reason)
        case "against":
            return Comparison(action="contradict", reason=met.reason)
        case "after":
            return _in_time(new, old, met)
        case _:
            assert_never(met.kind)


def _apart(new: Telling, old: Telling) -> str | None:
    """Say why two memories have nothing to do with each other whatever they say, None where they may."""
    if new.scope != old.scope:
        return "They belong to different scopes."
    if not {new.kind, old.kind}.isdisjoint(_SAID):
        return "What was said in a conversation or stands in a document is kept as it is."
    if "event" in (new.kind, old.kind) and (new.kind != old.kind or new.happened_at != old.happened_at):
        return "An event happened when it did; nothing takes its place."
    return None


def _met(new: TextReading, old: TextReading) -> Met | None:
    """Say how two texts meet: as wholes, or in their statements."""
    if new.signature == old.signature or same_kind(new.said, old.said):
        return Met(kind="same", reason="It says the same.")
    found = [(mine, yours, meet(mine, yours, new)) for mine in new.statements for yours in old.statements]
    met = [(mine, yours, one) for mine, yours, one in found if one is not None]
    if _equal(new, old, met):
        return Met(kind="same", reason="It says the same in other words.")
    for kind in ("after", "against"):
        for _, yours, one in met:
            if one.kind == kind:
                return one if kind == "against" else _part(one, yours, old)
    return _more(new, old, met)


def _equal(
    new: TextReading, old: TextReading, met: Sequence[tuple[ClauseStatement, ClauseStatement, Met]]
) -> bool:
    """Say whether two texts state the same in other words, number for number and date for date."""
    if new.marks != old.marks or new.negations % 2 != old.negations % 2:
        return False
    pairs = [(mine, yours) for mine, yours, one in met if one.kind == "same"]
    return (
        bool(pairs)
        and {id(mine) for mine, _ in pairs} == {id(one) for one in new.statements}
        and {id(yours) for _, yours in pairs} == {id(one) for one in old.statements}
    )


def _part(met: Met, ended: ClauseStatement, old: TextReading) -> Met:
    """Let a memory end only where nothing else that it tells would end with it."""
    others = [one for one in old.statements if one is not ended and not one.negated and not one.past]
    if all(one.subject == ended.subject and one.attribute == ended.attribute for one in others):
        return met
    return Met(kind="against", reason=f"Part of it holds no longer. {met.reason}")


def _more(
    new: TextReading, old: TextReading, met: Sequence[tuple[ClauseStatement, ClauseStatement, Met]]
) -> Met | None:
    told = {id(yours) for _, yours, one in met if one.kind in ("same", "more")}
    if not old.statements or told != {id(one) for one in old.statements}:
        return None
    return Met(kind="more", reason="It says the same, and more.")


def _again(new: Telling, old: Telling) -> Comparison:
    """Say what the same words are: the same memory, unless they are told of another time."""
    if (new.valid_from, new.valid_to) in ((None, None), (old.valid_from, old.valid_to)):
        return Comparison(action="duplicate", reason="It says the same.")
    if old.valid_from is None and old.valid_to is None:
        return Comparison(action="refine", reason="It says the same, and from when on.")
    return Comparison(action="unrelated", reason="It says the same of another time.")


def _in_time(new: Telling, old: Telling, met: Met) -> Comparison:
    """Let the later of two take the place of the earlier; `supersede` alone decides which that is."""
    outcome = end_validity(_fact("new", new), [_fact("old", old)])
    if outcome.closings:
        return Comparison(action="update", reason=met.reason, sure=met.sure)
    if outcome.clashes:
        said = f"{met.reason} Nothing is ended: {outcome.clashes[0].explanation}."
        return Comparison(action="contradict", reason=said, sure=met.sure)
    return Comparison(action="unrelated", reason="They hold at different times.")


def _fact(name: str, telling: Telling) -> Fact:
    return Fact(
        id=name,
        slot="",
        value=name,
        said_at=telling.said_at,
        valid_from=telling.valid_from,
        valid_to=telling.valid_to,
    )


def decide(new: Telling, candidates: Sequence[CandidateMemory], settings: MemoryConfig) -> ConsolidationPlan:
    """Decide what to do with a new memory and those that it may touch.

    Args:
        new: What comes in.
        candidates: Stored memories of the same project, the likeliest first; those of other scopes are
            left alone.
        settings: How memories are consolidated.
    """
    compared = [(one, compare(new, one.telling, one.cosine)) for one in candidates]
    for one, found in compared:
        if found.action == "duplicate":
            known = Action(id=one.id, action="duplicate", reason=found.reason)
            return ConsolidationPlan(actions=(known,), insert=False, reason=found.reason)
    unsure = [one.id for one, found in compared if found.action == "update" and not found.sure]
    actions = tuple(
        Action(id=one.id, action=found.action, reason=found.reason)
        for one, found in compared
        if found.action != "unrelated" and (found.sure or unsure == [one.id])
    )
    reasons = tuple(action.reason for action in actions) or ("It touches nothing that is there.",)
    return ConsolidationPlan(actions=actions, reason=" ".join(reasons[:_MOST_REASONS]))


def wanted(telling: Telling) -> NeighbourQuery:
    """Say what to look for besides a memory's nearest neighbours: its vector may be far from what it ends."""
    if telling.kind in (*_SAID, "event"):
        return NeighbourQuery()
    return looked_for(reading(telling.text).statements)
