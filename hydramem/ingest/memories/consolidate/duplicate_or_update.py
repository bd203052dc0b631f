"""Consolidation: what a new memory changes among the stored ones. Pure, and without a model.

Two memories are compared by their words: the subject, the attribute, and its value. Cosine cannot tell an
update from a neighbour ("hall 3" and "hall 4" are nearer than most paraphrases), so it names candidates and
never decides. Precision goes before recall: where it is not clear, both memories are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.knowledge.end_validity import Fact, facts_ended_by
from hydramem.ingest.legacy_update_rules.clause_tokens import ClauseStatement
from hydramem.ingest.legacy_update_rules.pairing import Met, NeighbourQuery, neighbour_query, same_kind
from hydramem.ingest.legacy_update_rules.update_frames import meet
from hydramem.ingest.legacy_update_rules.update_reading import TextReading, reading
from hydramem.ingest.memories.similarity import NearbyChunk

ComparisonKind = Literal["duplicate", "update", "refine", "contradict", "unrelated"]
ActionKind = Literal["duplicate", "update", "refine", "contradict", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a new memory relates to a stored one.

    Attributes:
        reason: A sentence for a person.
        sure: False where it holds only if no other memory asks for the same.
    """

    action: ComparisonKind
    reason: str
    sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What becomes of one stored memory.

    Attributes:
        id: The stored memory.
        action: `duplicate`: it says the same as the new one and replaces it. `update`: it held until the
            new one began; with `new_text`, it is rewritten to that. `refine` and `contradict`: it stays,
            and the new one is linked to it. `delete`: it holds no longer; the new one, where it is
            inserted, takes its place.
        new_text: What the memory is to say from now on, where a model worded that.
        reason: A sentence for a person.
    """

    id: str
    action: ActionKind
    new_text: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPlan:
    """What to do with a new memory and the similar ones; those not named are kept."""

    actions: tuple[Action, ...] = ()
    insert: bool = True
    reason: str = ""


_KEPT_KINDS = ("turn", "passage")
_MOST_REASONS = 3
_UNRELATED = Comparison(action="unrelated", reason="Nothing shows that they tell of the same.")


def compare(new: Chunk, old: Chunk) -> Comparison:
    """Say how a new memory relates to a stored one."""
    unrelated = _unrelated_because(new, old)
    if unrelated is not None:
        return Comparison(action="unrelated", reason=unrelated)
    mine, yours = reading(new.text), reading(old.text)
    if (mine.speaks or yours.speaks) and new.author != old.author:
        return _UNRELATED
    pair = _compared_texts(mine, yours)
    if pair is None:
        return _UNRELATED
    match pair.kind:
        case "same":
            return _repetition(new, old)
        case "more":
            return Comparison(action="refine", reason=pair.reason)
        case "against":
            return Comparison(action="contradict", reason=pair.reason)
        case "after":
            return _update(new, old, pair)
        case _:
            assert_never(pair.kind)


def _unrelated_because(new: Chunk, old: Chunk) -> str | None:
    """Say why two memories are unrelated whatever their texts are; None where the texts decide."""
    if new.scope != old.scope:
        return "They belong to different scopes."
    if not {new.kind, old.kind}.isdisjoint(_KEPT_KINDS):
        return "What was said in a conversation or stands in a document is kept as it is."
    if "event" in (new.kind, old.kind) and (new.kind != old.kind or new.happened_at != old.happened_at):
        return "An event happened when it did; nothing takes its place."
    return None


def _compared_texts(new: TextReading, old: TextReading) -> Met | None:
    """Compare two texts, as wholes or by their statements."""
    if new.signature == old.signature or same_kind(new.said, old.said):
        return Met(kind="same", reason="It says the same.")
    found = [(mine, yours, meet(mine, yours, new)) for mine in new.statements for yours in old.statements]
    met = [(mine, yours, one) for mine, yours, one in found if one is not None]
    if _all_equal(new, old, met):
        return Met(kind="same", reason="It says the same in other words.")
    for kind in ("after", "against"):
        for _, yours, one in met:
            if one.kind == kind:
                return one if kind == "against" else _whole_or_part(one, yours, old)
    return _extension(old, met)


def _all_equal(
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


def _whole_or_part(met: Met, ended: ClauseStatement, old: TextReading) -> Met:
    """Let a memory end only where nothing else that it tells would end with it."""
    others = [one for one in old.statements if one is not ended and not one.negated and not one.past]
    if all(one.subject == ended.subject and one.attribute == ended.attribute for one in others):
        return met
    return Met(kind="against", reason=f"Part of it holds no longer. {met.reason}")


def _extension(old: TextReading, met: Sequence[tuple[ClauseStatement, ClauseStatement, Met]]) -> Met | None:
    repeated = {id(yours) for _, yours, one in met if one.kind in ("same", "more")}
    if not old.statements or repeated != {id(one) for one in old.statements}:
        return None
    return Met(kind="more", reason="It says the same, and more.")


def _repetition(new: Chunk, old: Chunk) -> Comparison:
    """Compare two memories of the same words: they are one, unless they hold at different times."""
    mine, yours = new.times, old.times
    if (mine.valid_from, mine.valid_to) in ((None, None), (yours.valid_from, yours.valid_to)):
        return Comparison(action="duplicate", reason="It says the same.")
    if yours.valid_from is None and yours.valid_to is None:
        return Comparison(action="refine", reason="It says the same, and from when on.")
    return Comparison(action="unrelated", reason="It says the same of another time.")


def _update(new: Chunk, old: Chunk, pair: Met) -> Comparison:
    """Let the later of two take the place of the earlier; `end_validity` alone decides which that is."""
    outcome = facts_ended_by(_fact("new", new.times), [_fact("old", old.times)])
    if outcome.closings:
        return Comparison(action="update", reason=pair.reason, sure=pair.sure)
    if outcome.clashes:
        reason = f"{pair.reason} Nothing is ended: {outcome.clashes[0].explanation}."
        return Comparison(action="contradict", reason=reason, sure=pair.sure)
    return Comparison(action="unrelated", reason="They hold at different times.")


def _fact(name: str, times: Times) -> Fact:
    return Fact(
        id=name,
        slot="",
        value=name,
        said_at=times.recorded_at,
        valid_from=times.valid_from,
        valid_to=times.valid_to,
    )


def decide(new: Chunk, candidates: Sequence[NearbyChunk]) -> ConsolidationPlan:
    """Decide what to do with a new memory and those that it may change.

    Args:
        new: The new memory.
        candidates: Stored memories of the same project, the likeliest first; those of other scopes are
            left alone.
    """
    compared = [(one.chunk.id, compare(new, one.chunk)) for one in candidates]
    for id, found in compared:
        if found.action == "duplicate":
            known = Action(id=id, action="duplicate", reason=found.reason)
            return ConsolidationPlan(actions=(known,), insert=False, reason=found.reason)
    unsure = [id for id, found in compared if found.action == "update" and not found.sure]
    actions = tuple(
        Action(id=id, action=found.action, reason=found.reason)
        for id, found in compared
        if found.action != "unrelated" and (found.sure or unsure == [id])
    )
    reasons = tuple(action.reason for action in actions) or ("It touches nothing that is there.",)
    return ConsolidationPlan(actions=actions, reason=" ".join(reasons[:_MOST_REASONS]))


def search_terms(new: Chunk) -> NeighbourQuery:
    """Return the words that find what a memory may end: its vector may be far from theirs."""
    if new.kind in (*_KEPT_KINDS, "event"):
        return NeighbourQuery()
    return neighbour_query(reading(new.text).statements)
