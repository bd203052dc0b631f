"""The benchmark of memories that age: the lives it makes of texts, the model it scripts, and its figures."""

import numpy as np

from benchmarks.aging.ailments import ALONE, NONE, TOGETHER, cases_of
from benchmarks.aging.asking import _outcome
from benchmarks.aging.figures import given_back
from benchmarks.aging.lives import Question
from benchmarks.aging.texts import read_texts
from hydramem.core.results.hits import Hit


def test_every_ailment_has_a_memory_before_and_after() -> None:
    texts = read_texts().thinned(0.05)
    cases = cases_of(texts)
    assert {*ALONE, TOGETHER, NONE} == cases.keys() and cases_of(texts) == cases
    told = {name: {one.text for one in case.aged.told} for name, case in cases.items()}
    clean = {name: {one.text for one in case.clean.told} for name, case in cases.items()}
    assert told["told again"] - clean["told again"] == {row.again for row in texts.told_again}
    earlier = {state.text for row in texts.changed for state in row.states[:-1]}
    assert earlier >= told["changed facts"] - clean["changed facts"] != set()
    assert cases["split names"].clean.names and not cases["split names"].aged.names
    assert len(cases["noise"].aged.transcripts) == len(texts.noise)
    asked = cases["asked again"]
    assert {one.question for one in asked.aged.asked} == {q for row in texts.asked for q in row.questions[:8]}
    assert {one.question for one in asked.aged.asked}.isdisjoint(one.text for one in asked.questions)
    alone = sum(len(cases[name].questions) for name in ALONE)
    assert len(cases[TOGETHER].questions) == alone and cases[TOGETHER].aged.false_share == 0.2


def hit(text: str) -> Hit:
    return Hit(id=text, text=text, score=1.0, source="", kind="note", project="p", layer="working")


def test_an_outcome_says_what_came_first_and_what_came_twice() -> None:
    question = Question(
        ailment="a", part="b", text="?", gold=(frozenset(("new", "again")),), stale=frozenset(("old",))
    )
    same = {"new": 0, "again": 0}
    one = _outcome([hit("other"), hit("old"), hit("new"), hit("again")], question, same)
    assert (one.recall, one.reciprocal, one.stale, one.duplicates) == (1.0, 1 / 3, True, 1)
    none = _outcome([hit("other")], question, same)
    assert (none.recall, none.reciprocal, none.stale, none.duplicates) == (0.0, 0.0, False, 0)


def test_a_share_is_given_back_of_a_loss_alone() -> None:
    clean, aged = np.ones(40), np.zeros(40)
    half = np.array([1.0, 0.0] * 20)
    back = given_back(clean, aged, half)
    assert back.share == 0.5 and 0.2 < back.low < 0.5 < back.high < 0.8
    assert given_back(clean, clean, half).share is None
    assert given_back(aged, clean, half).share is None


def test_the_texts_of_the_authors_hold_together() -> None:
    texts = read_texts()
    assert min(len(texts.told_again), len(texts.changed), len(texts.names)) >= 60
    assert len(texts.noise) == len(texts.asked) == 40
    for changed in texts.changed:
        assert 2 <= len(changed.states) <= 6 and len({each.text for each in changed.states}) > 1
    for split in texts.names:
        assert all(fact.name in split.names for fact in split.facts)
        assert all(0 <= place < len(split.facts) for hop in split.two_hop for place in hop.needs)
    for noisy in texts.noise:
        assert all(0 <= fact.turn < len(noisy.turns) for fact in noisy.facts)
    for asked in texts.asked:
        assert len(asked.questions) == 12 and asked.gold not in asked.rivals
