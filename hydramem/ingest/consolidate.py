"""Consolidation: what a new memory does to those that are there. Pure, and without a model.

Two tellings are set against each other by their words: what they speak of, what they say of it, and what
fills the place. Cosine cannot tell an update from a neighbour ("hall 3" and "hall 4" are nearer than most
paraphrases), so it names candidates and never decides. Precision goes before recall: what is not clear is
kept beside what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hydramem.core.config import MemoryConfig
from hydramem.core.types import Chunk, ChunkKind
from hydramem.ingest.wording import wording

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
class Plan:
    """What is to be done with a new memory and those that it touches; those not named are kept."""

    actions: tuple[Action, ...] = ()
    insert: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to look for besides the nearest neighbours, so that an update finds what it ends.

    Attributes:
        query: Words for full text; None where the text states nothing that could end anything.
        slots: What it speaks of, in plain words: another memory with one of them may be the one.
    """

    query: str | None = None
    slots: tuple[str, ...] = ()


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
        cosine: Of their vectors, where there are any.
    """
    if new.scope == old.scope and wording(new.text) == wording(old.text) and new.kind == old.kind:
        return Comparison(action="duplicate", reason="It says the same.")
    return Comparison(action="unrelated", reason="Nothing shows that they speak of the same.")


def decide(new: Telling, candidates: Sequence[CandidateMemory], settings: MemoryConfig) -> Plan:
    """Decide what to do with a new memory and those that it may touch.

    Args:
        new: What comes in.
        candidates: Stored memories, of the same project; those of other scopes are left alone.
        settings: How memories are consolidated.
    """
    actions = []
    for candidate in candidates:
        found = compare(new, candidate.telling, candidate.cosine)
        if found.action == "duplicate":
            known = Action(id=candidate.id, action="duplicate", reason=found.reason)
            return Plan(actions=(known,), insert=False, reason=found.reason)
        if found.action != "unrelated":
            actions.append(Action(id=candidate.id, action=found.action, reason=found.reason))
    return Plan(actions=tuple(actions), reason="" if actions else "Nothing that is there is touched.")


def wanted(telling: Telling) -> Wanted:
    """Say what to look for besides a memory's nearest neighbours."""
    return Wanted()
