"""Memories told again in other words: the classifier reads both orders, and the texts must agree."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.ingest.memories.consolidate.restatement import restated, restates
from hydramem.llm.pair_classifier import PairJudgement, judge_none, shared_classifier
from hydramem.text.restated_text import SURELY_SAME

OLD = "The night shift at the paint hall begins at 22:00, and the keys are with Orsolya."
AGAIN = "Painters on nights start at ten and get the hall's keys from Orsolya."
RIVAL = "The night shift at the print hall begins at 21:00, and the keys are with Benedek."


def judged(duplicate: float) -> PairJudgement:
    return PairJudgement(
        update=0.0, duplicate=duplicate, refine=0.0, contradict=0.0, unrelated=1.0 - duplicate
    )


class Back:
    """Says how likely the other order is a duplicate, and what it was asked."""

    def __init__(self, duplicate: float) -> None:
        self.duplicate = duplicate
        self.asked: list[tuple[str, str]] = []

    def __call__(self, new: str, old: Sequence[str]) -> Sequence[PairJudgement | None]:
        self.asked += [(new, text) for text in old]
        return [judged(self.duplicate)] * len(old)


def test_both_orders_count_and_texts_that_differ_are_not_judged_again() -> None:
    sure = Back(0.5)
    assert restates(AGAIN, OLD, judged(0.9), sure) == pytest.approx(0.6 + 0.34 * 0.7)
    assert restates(RIVAL, OLD, judged(0.99), sure) is None
    assert restates(AGAIN, OLD, judged(0.01), sure) is None
    assert sure.asked == [(OLD, AGAIN)]
    for doubtful in (Back(0.01), judge_none):
        assert restates(AGAIN, OLD, judged(0.9), doubtful) is None
    short, shorter = "My sister teaches maths.", "My sister is a mathematics teacher."
    assert restates(short, shorter, judged(0.9), Back(0.5)) is None, "short texts need more"
    assert restates(short, shorter, judged(0.9), Back(0.7)) == pytest.approx(0.6 + 0.34 * 0.8)


def test_one_memory_is_not_joined_with_two_that_differ() -> None:
    near = {
        "c_four": "Ask Orsolya in room 4 at ten if you work in the hall by night.",
        "c_nine": "Keys of the hall for the painters: Orsolya, room 9, from ten at night.",
        "c_old": OLD,
    }
    sure = {"c_four": judged(0.5), "c_nine": judged(0.8), "c_old": judged(0.9)}
    new = "The paint hall at night: ten o'clock, keys from Orsolya."
    alone = {id for id in near if restated(new, {id: near[id]}, sure, Back(0.9))}
    assert alone == near.keys()
    assert list(restated(new, near, sure, Back(0.9))) == ["c_old", "c_nine"]


def test_what_either_order_calls_a_change_is_not_the_same() -> None:
    def leaning(duplicate: float, update: float) -> PairJudgement:
        return replace(judged(duplicate), update=update, unrelated=1.0 - duplicate - update)

    class Changes(Back):
        def __call__(self, new: str, old: Sequence[str]) -> Sequence[PairJudgement | None]:
            return [leaning(0.5, 0.45)] * len(old)

    assert restates(AGAIN, OLD, leaning(0.5, 0.45), Back(0.9)) is None
    assert restates(AGAIN, OLD, judged(0.9), Changes(0.0)) is None
    assert restates(AGAIN, OLD, leaning(0.5, 0.3), Back(0.9)) is not None


def test_where_one_alone_denies_the_classifier_must_see_no_change() -> None:
    one = "Never insure parcels for Kestrel above 500 euros when they leave on Tuesday."
    other = "Insurance of Kestrel's parcels, sent each Tue, stops at five hundred euros."
    doubtful = replace(judged(0.7), contradict=0.2, unrelated=0.1)
    assert restates(one, other, judged(0.9), Back(0.9)) is not None
    assert restates(one, other, doubtful, Back(0.9)) is None
    assert (
        restates(
            "Nothing is deployed on a Friday here.", "Here we deploy each Friday.", judged(0.9), Back(0.9)
        )
        is None
    )


@pytest.mark.slow
def test_reworded_opposites_are_seldom_joined() -> None:
    """Both what was said and what was told again, with what says the opposite of them."""
    judge = shared_classifier()
    path = Path(__file__).parent / "reworded_opposites.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = [(row["opposite"], row[key]) for row in rows for key in ("text", "again")]
    joined = 0
    for opposite, said in pairs:
        (forth,) = judge(opposite, [said])
        joined += forth is not None and restates(opposite, said, forth, judge) is not None
    assert len(pairs) == 204
    assert joined <= 7


@pytest.mark.slow
@pytest.mark.parametrize("author", ["rosa", "milan"])
def test_what_two_authors_told_again_is_joined_and_what_is_only_like_it_is_not(author: str) -> None:
    """Rivals of one form are never joined with what they are like; a quarter of what is told again is."""
    judge = shared_classifier()
    path = Path("benchmarks/data/aging") / author / "told_again.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    joined = 0
    for row in rows:
        (again, near) = judge(row["again"], [row["text"]])[0], judge(row["near"], [row["text"]])[0]
        if again is not None:
            joined += (restates(row["again"], row["text"], again, judge) or 0.0) >= SURELY_SAME
        assert near is None or restates(row["near"], row["text"], near, judge) is None, row["near"]
    assert joined >= len(rows) / 4
