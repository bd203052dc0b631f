"""Consolidation without a model: what a new memory does to the stored ones, decided in one order. Pure.

Equal wording is a duplicate, and nothing else is. What the caller names in `replaces` ends. Explicit words
end what they name, where the pair classifier agrees. Whatever else the classifier leans to only becomes a
link, which hides nothing. A true memory that was ended is the worst failure there is, so all else stays.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.knowledge.end_validity import Fact, facts_ended_by
from hydramem.ingest.memories.consolidate.explicit_words import explicit_end, speaks_of_self
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.llm.pair_classifier import PairBounds, PairJudgement
from hydramem.text.normalize import entity_key, wording
from hydramem.text.restated_text import SURELY_SAME

ActionKind = Literal["duplicate", "update", "delete", "refine", "contradict", "may_supersede", "repeats"]
ENDING: tuple[ActionKind, ...] = ("update", "delete")
"""Actions that end a stored memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What becomes of one stored memory.

    Attributes:
        id: The stored memory.
        action: `duplicate`: it is the new one, in the same words. `update`: it held until the new one began;
            with `new_text`, it is rewritten to that. `delete`: it holds no longer; the new one, where it is
            inserted, takes its place. The others leave it as it is, and link the new one to it: `refine`
            extends it, `contradict` contradicts it, `may_supersede` may take its place, and `repeats` says
            the same in other words.
        new_text: What the memory is to say from now on, where a model worded that.
        reason: A sentence for a person.
        probability: How sure it is, where the classifier says so; else None.
    """

    id: str
    action: ActionKind
    new_text: str | None = None
    reason: str = ""
    probability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationPlan:
    """What to do with a new memory and the similar ones; those not named are kept."""

    actions: tuple[Action, ...] = ()
    insert: bool = True
    reason: str = ""


Judgements = Mapping[str, PairJudgement]
"""What the classifier says of a new memory and stored ones, by their ids, where it can judge them."""

NOTHING_RESTATED: Mapping[str, float] = MappingProxyType({})

SAYS_THE_SAME = "It says the same in other words."
_LESS_THAN_SURE = SURELY_SAME - 0.01

_KEPT_KINDS = ("turn", "passage")
_MOST_REASONS = 3


def decide(
    new: Chunk,
    candidates: Sequence[NearbyChunk],
    judgements: Judgements,
    bounds: PairBounds,
    *,
    restated: Mapping[str, float] = NOTHING_RESTATED,
) -> ConsolidationPlan:
    """Decide what to do with a new memory and those that it may change.

    Args:
        new: The new memory.
        candidates: Stored memories of the same project, the likeliest first.
        judgements: What the classifier says of them.
        bounds: From which probabilities it is believed.
        restated: Ids of those that the new one surely says again, with how surely.
    """
    for one in candidates:
        if is_repetition(new, one.chunk):
            known = Action(id=one.chunk.id, action="duplicate", reason="It says the same in the same words.")
            return ConsolidationPlan(actions=(known,), insert=False, reason=known.reason)
    found = (
        _action(new, one.chunk, judgements.get(one.chunk.id), bounds, restated.get(one.chunk.id))
        for one in candidates
    )
    actions = tuple(each for each in found if each is not None)
    reasons = tuple(action.reason for action in actions) or ("It touches nothing that is there.",)
    return ConsolidationPlan(actions=actions, reason=" ".join(dict.fromkeys(reasons[:_MOST_REASONS])))


def is_repetition(new: Chunk, old: Chunk) -> bool:
    """Say whether two memories have equal wording, and speak of the same time and the same people."""
    mine, yours = new.times, old.times
    same_time = (mine.valid_from, mine.valid_to) in ((None, None), (yours.valid_from, yours.valid_to))
    return same_time and _equal_wording(new, old)


def _equal_wording(new: Chunk, old: Chunk) -> bool:
    if not may_touch(new, old) or wording(new.text) != wording(old.text):
        return False
    return new.author == old.author or not speaks_of_self(new.text)


def may_touch(new: Chunk, old: Chunk) -> bool:
    """Say whether one memory may change another, whatever their texts are.

    What was said in a conversation or stands in a document is kept as it is, and an event happened when it
    did.
    """
    if not {new.kind, old.kind}.isdisjoint(_KEPT_KINDS):
        return False
    return "event" not in (new.kind, old.kind) or (new.kind, new.happened_at) == (old.kind, old.happened_at)


def one_subject(new: Chunk, old: Chunk) -> bool:
    """Say whether two memories can be about one thing.

    In another source or session a subject without a name, such as "the bug", is another thing. A name that
    both have, or the user, who is one, is the same everywhere.
    """
    return _place(new) == _place(old) or share_a_name(new, old)


def share_a_name(new: Chunk, old: Chunk) -> bool:
    """Say whether two memories name one thing, or speak of the user, who is one."""
    if new.author == old.author and speaks_of_self(new.text) and speaks_of_self(old.text):
        return True
    return not names_in_text(new.text).isdisjoint(names_in_text(old.text))


def _place(row: Chunk) -> tuple[str, str | None]:
    return "" if row.source == row.kind else row.source, row.session


@lru_cache(maxsize=512)
def names_in_text(text: str) -> frozenset[str]:
    """Return the keys of what a text names, apart from dates."""
    (found,) = extract([Passage(text=text)])
    return frozenset(entity_key(name.name) for name in found.names if name.type != "date")


def _action(
    new: Chunk, old: Chunk, judgement: PairJudgement | None, bounds: PairBounds, restated: float | None
) -> Action | None:
    """Return what the words and the classifier make of one stored memory; None where it stays as it is."""
    if _equal_wording(new, old):
        return _of_another_time(new, old)
    if judgement is not None and judgement.supersedes >= bounds.ends:
        reason = _says_it_ended(new, old)
        if reason is not None:
            probability = round(judgement.supersedes, 3)
            return Action(id=old.id, action="update", reason=reason, probability=probability)
    return link_action(new, old, judgement, bounds, restated=restated)


def _of_another_time(new: Chunk, old: Chunk) -> Action | None:
    """Return what equal words of another time are: they extend a memory that gives no time."""
    if old.times.valid_from is None and old.times.valid_to is None:
        return Action(id=old.id, action="refine", reason="It says the same, and from when on.")
    return None


def _says_it_ended(new: Chunk, old: Chunk) -> str | None:
    """Return a sentence on how the words of a memory end another; None where they do not, or may not."""
    may_end = (
        may_touch(new, old)
        and one_subject(new, old)
        and (new.author == old.author or not (speaks_of_self(new.text) or speaks_of_self(old.text)))
        and _begins_after(new, old)
    )
    return explicit_end(new.text, old.text) if may_end else None


def link_action(
    new: Chunk,
    old: Chunk,
    judgement: PairJudgement | None,
    bounds: PairBounds,
    *,
    restated: float | None = None,
) -> Action | None:
    """Return the link between two memories that the classifier is sure enough of; nothing ends by it.

    Args:
        restated: How surely the new one says the old one again; None where that is not sure. What the
            classifier says of one order alone is always less.
    """
    if judgement is None or not may_touch(new, old):
        return None
    if restated is not None:
        return Action(id=old.id, action="repeats", reason=SAYS_THE_SAME, probability=restated)
    if not one_subject(new, old):
        return None
    likely: tuple[tuple[float, float, ActionKind, str], ...] = (
        (judgement.supersedes, bounds.supersedes, "may_supersede", "It may take its place."),
        (judgement.duplicate, bounds.duplicate, "repeats", SAYS_THE_SAME),
        (judgement.refine, bounds.refine, "refine", "It says the same, and more."),
    )
    sure = [each for each in likely if each[0] >= each[1]]
    if not sure:
        return None
    probability, _, action, reason = max(sure)
    if action == "repeats":
        probability = min(probability, _LESS_THAN_SURE)
    return Action(id=old.id, action=action, reason=reason, probability=round(probability, 3))


def _begins_after(new: Chunk, old: Chunk) -> bool:
    """Say whether the old memory can end where the new one begins; `end_validity` alone decides that."""
    outcome = facts_ended_by(_fact("new", new.times), [_fact("old", old.times)])
    return bool(outcome.closings)


def _fact(name: str, times: Times) -> Fact:
    return Fact(
        id=name,
        slot="",
        value=name,
        said_at=times.recorded_at,
        valid_from=times.valid_from,
        valid_to=times.valid_to,
    )


def ending(plan: ConsolidationPlan) -> Sequence[str]:
    """Return the ids of the memories that a plan may end."""
    return [each.id for each in plan.actions if each.action in ENDING]


def with_replaced(plan: ConsolidationPlan, replaced: Collection[str]) -> ConsolidationPlan:
    """Return a plan in which what the caller replaces ends; the rest stays as it was planned."""
    if not replaced:
        return plan
    ended = tuple(
        Action(id=id, action="update", reason="The caller says that this replaces it.") for id in replaced
    )
    others = tuple(each for each in plan.actions if each.id not in replaced)
    reason = " ".join(filter(None, (ended[0].reason, plan.reason if others else "")))
    return ConsolidationPlan(actions=(*ended, *others), insert=plan.insert, reason=reason)
