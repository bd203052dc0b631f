"""How likely a later memory takes an earlier one's place."""

import pytest

from hydramem.garden.phases.supersede.replacement_probability import (
    LEAST_ASKED,
    LEAST_LINKED,
    crowd_of,
    replacement_probability,
    speak_of_one_name,
)
from hydramem.llm.pair_classifier import PairJudgement
from tests.garden.rows import chunk


def judged(supersedes: float) -> PairJudgement:
    left = 1 - supersedes
    return PairJudgement(update=supersedes, duplicate=0, refine=0, contradict=0, unrelated=left)


def likely(supersedes: float, *, nearness: float = 0.4, crowd: float = 0.3, named: bool = False) -> float:
    return replacement_probability(judged(supersedes), nearness=nearness, crowd=crowd, named=named)


def test_it_rises_with_the_judgement_the_nearness_and_a_shared_name() -> None:
    doubtful = likely(0.5)
    assert doubtful < min(likely(0.9), likely(0.5, nearness=0.6), likely(0.5, named=True))


def test_what_is_near_to_many_is_an_update_of_none() -> None:
    assert likely(0.9, nearness=0.78, crowd=0.76, named=True) < LEAST_LINKED
    assert likely(0.9, nearness=0.78, crowd=0.4, named=True) > LEAST_LINKED


def test_a_crowd_is_of_the_nearest_few_and_usual_in_a_small_memory() -> None:
    assert crowd_of([0.9] * 6 + [0.1] * 9) == pytest.approx(0.9)
    assert crowd_of([]) == crowd_of([crowd_of([])]) < crowd_of([0.9])


@pytest.mark.parametrize("supersedes", [0.0, 1.0])
def test_it_is_a_probability_at_the_ends(supersedes: float) -> None:
    for nearness in (0.0, 1.0):
        assert 0 < likely(supersedes, nearness=nearness, crowd=nearness) < 1


def test_neither_the_judgement_nor_nearness_alone_makes_a_link() -> None:
    assert likely(0.95, nearness=0.1) < LEAST_LINKED
    assert likely(0.02, nearness=0.6) < LEAST_LINKED
    assert likely(0.01) < LEAST_ASKED


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Tidewarden sits at 12,000 points.", "Playtesters ran out, so the Tidewarden drops to 9,500.", True),
        ("Bellweather's tea is in hall 2.", "We moved the pallets of Bellweather, to hall 5.", True),
        ("The bench is by the door.", "We moved the pallets of Bellweather to hall 5.", False),
        ("The Ann office is closed.", "We planned it with Annabel in the annual meeting.", False),
    ],
)
def test_a_name_counts_where_it_stands_as_a_word(one: str, other: str, same: bool) -> None:
    rows = chunk("c_1", one), chunk("c_2", other)
    assert speak_of_one_name(*rows) == speak_of_one_name(*reversed(rows)) == same
