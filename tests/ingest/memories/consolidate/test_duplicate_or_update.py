"""What a new memory does to others without a model: equal wording, explicit words, and links."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    ConsolidationPlan,
    decide,
    is_repetition,
    one_subject,
    with_replaced,
)
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.llm.pair_classifier import PairBounds, PairJudgement
from tests.examples import FEW

BOUNDS = PairBounds(supersedes=0.5, ends=0.5, duplicate=0.6, refine=0.6, near=0.25)
EARLIER, LATER = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)


def memory(text: str, **fields: Any) -> Chunk:
    given: dict[str, Any] = {"id": "c_old", "kind": "note", "source": "note"}
    given["times"] = Times(recorded_at=EARLIER)
    return Chunk(project="p", text=text, **(given | fields))


def new_memory(text: str, **fields: Any) -> Chunk:
    return memory(text, **({"id": "c_new", "times": Times(recorded_at=LATER)} | fields))


def judged(**likely: float) -> PairJudgement:
    others = dict.fromkeys(("update", "duplicate", "refine", "contradict"), 0.0) | likely
    return PairJudgement(**others, unrelated=1 - sum(others.values()))


def actions(new: Chunk, old: Chunk, judgement: PairJudgement | None) -> list[tuple[str, float | None]]:
    judgements = {} if judgement is None else {old.id: judgement}
    plan = decide(new, [NearbyChunk(chunk=old, cosine=0.9)], judgements, BOUNDS)
    return [(one.action, one.probability) for one in plan.actions]


def test_equal_wording_is_a_duplicate_and_is_not_stored_again() -> None:
    near = [NearbyChunk(chunk=memory("We use  MySQL."), cosine=1.0)]
    plan = decide(new_memory("We use MySQL"), near, {}, BOUNDS)
    assert ([one.action for one in plan.actions], plan.insert) == (["duplicate"], False)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("User hates broccoli.", "User likes broccoli."),
        ("The bus leaves at 7:40.", "The bus leaves at 7:10."),
        ("Bo lends Ada a book.", "Ada lends Bo a book."),
        ("Die Tür ist offen.", "Die Tür ist geschlossen."),
        ("User come carne.", "User comes from Bern."),
    ],
)
def test_nothing_but_equal_wording_is_a_duplicate_and_nothing_else_ends(new: str, old: str) -> None:
    """However sure the classifier is, words that end nothing only become a link."""
    for sure in (judged(update=1.0), judged(duplicate=1.0), judged(contradict=1.0)):
        for one, other in ((new, old), (old, new)):
            near = [NearbyChunk(chunk=memory(other), cosine=1.0)]
            plan = decide(new_memory(one), near, {"c_old": sure}, BOUNDS)
            assert plan.insert
            assert [each.action for each in plan.actions] in (["may_supersede"], ["repeats"])


def test_explicit_words_end_only_where_the_classifier_agrees() -> None:
    new, old = new_memory("Ada moved from Berlin to Munich."), memory("Ada lives in Berlin.")
    assert actions(new, old, judged(update=0.8)) == [("update", 0.8)]
    plan = decide(new, [NearbyChunk(chunk=old, cosine=0.9)], {old.id: judged(update=0.8)}, BOUNDS)
    assert plan.reason == "It says that 'Berlin' was left."
    assert actions(new, old, judged(update=0.3)) == []
    assert actions(new, old, None) == []
    for kind in ("turn", "passage", "event"):
        said = replace(old, kind=kind, happened_at=EARLIER if kind == "event" else None)
        assert actions(new, said, judged(update=1.0)) == [], "what was said or happened is kept"
    before = replace(new, times=Times(recorded_at=LATER, valid_from=EARLIER))
    after = replace(old, times=Times(recorded_at=EARLIER, valid_from=LATER))
    assert actions(before, after, judged(update=0.9)) == [("may_supersede", 0.9)], "it begins earlier"


@pytest.mark.parametrize(
    ("judgement", "action"),
    [
        (judged(update=0.3, contradict=0.3), "may_supersede"),
        (judged(duplicate=0.7), "repeats"),
        (judged(refine=0.9), "refine"),
        (judged(duplicate=0.5, refine=0.4), None),
    ],
)
def test_what_the_classifier_leans_to_becomes_a_link(judgement: PairJudgement, action: str | None) -> None:
    found = actions(new_memory("Ada lives in Munich."), memory("Ada lives in Berlin."), judgement)
    assert [each for each, _ in found] == ([] if action is None else [action])


@pytest.mark.parametrize("place", [{"source": "ticket 2"}, {"session": "s_2"}])
def test_a_subject_without_a_name_is_another_thing_elsewhere(place: dict[str, str]) -> None:
    old = memory("The bug is in the parser.", source="ticket 1", session="s_1")
    same = new_memory("The bug is in the cache.", source="ticket 1", session="s_1")
    assert one_subject(same, old)
    assert not one_subject(replace(same, **place), old)
    assert actions(replace(same, **place), old, judged(update=1.0)) == []
    ended = replace(same, text="The bug is no longer in the parser.", **place)
    assert actions(ended, old, judged(update=1.0)) == []
    user = memory("The user lives in Berlin.", source="mail")
    assert one_subject(new_memory("User lives in Munich.", source="chat"), user), "the same everywhere"


def test_what_two_people_say_of_themselves_is_not_one() -> None:
    new, old = new_memory("I like tea.", author="Ada"), memory("I like tea.", author="Bo")
    assert not is_repetition(new, old)
    assert is_repetition(replace(new, author="Bo"), old)


def test_equal_words_of_another_time_are_kept() -> None:
    dated = Times(recorded_at=LATER, valid_from=LATER)
    new, old = new_memory("Ada lives in Bern.", times=dated), memory("Ada lives in Bern.")
    assert actions(new, old, judged(duplicate=1.0)) == [("refine", None)]
    assert actions(new, replace(old, times=replace(old.times, valid_from=EARLIER)), judged(update=1.0)) == []
    assert is_repetition(replace(new, times=Times(recorded_at=LATER)), replace(old, times=dated))


def test_what_the_caller_replaces_ends_whatever_was_planned() -> None:
    new, old = new_memory("Ada lives in Munich."), memory("Ada lives in Berlin.")
    plan = decide(new, [NearbyChunk(chunk=old, cosine=0.9)], {old.id: judged(update=0.9)}, BOUNDS)
    replaced = with_replaced(plan, [old.id, "c_other"])
    assert [(one.id, one.action) for one in replaced.actions] == [("c_old", "update"), ("c_other", "update")]
    assert with_replaced(plan, []) == plan


_TEXTS = st.text(min_size=1, max_size=80)
_SHARE = st.floats(0, 1)


@FEW
@given(_TEXTS, _TEXTS, _SHARE, _SHARE)
def test_any_two_texts_are_planned_for(new: str, old: str, one: float, other: float) -> None:
    judgement = judged(update=one / 2, duplicate=other / 2)
    plan = decide(new_memory(new), [NearbyChunk(chunk=memory(old), cosine=1.0)], {"c_old": judgement}, BOUNDS)
    assert isinstance(plan, ConsolidationPlan)
    assert plan.insert or [one.action for one in plan.actions] == ["duplicate"]
