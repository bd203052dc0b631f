"""How likely two memories say the same in other words."""

from dataclasses import replace

import pytest

from hydramem.garden.phases.supersede.same_probability import (
    LEAST_JOINED,
    SameFeatures,
    same_features,
    same_probability,
)
from hydramem.llm.pair_classifier import PairJudgement
from hydramem.text.restated_text import TextOverlap

SHARED = TextOverlap(of_shorter=0.5, of_longer=0.45, anchors=2, lacking=0)


def pair(one: float, other: float, change: float = 0.01, *, nearness: float = 0.7) -> SameFeatures:
    """Return the signs of a pair by the chance of a duplicate that a classifier sees in either order."""
    judged = (
        PairJudgement(update=change, duplicate=each, refine=0, contradict=0, unrelated=1 - each - change)
        for each in (one, other)
    )
    given = {"nearness": nearness, "crowds": (0.35, 0.35), "nearest": 2, "may_restate": True}
    return same_features(*judged, shared=SHARED, **given)


def test_what_both_orders_call_the_same_and_is_nearest_is_joined_in_either_order() -> None:
    assert same_probability(pair(0.9, 0.8)) > LEAST_JOINED
    assert pair(0.9, 0.8) == pair(0.8, 0.9)


@pytest.mark.parametrize(
    "less",
    [{"less_duplicate": -3.0}, {"nearness": 0.3}, {"smaller_crowd": 0.65}, {"lacking": 6}, {"nearest": 0}],
)
def test_each_sign_that_is_missing_makes_it_less_likely(less: dict[str, float]) -> None:
    alike = pair(0.9, 0.8)
    assert same_probability(replace(alike, **less)) < same_probability(alike)


def test_extremes_stay_probabilities() -> None:
    for end in (0.0, 1.0):
        assert 0 <= same_probability(pair(end, end, 0.0, nearness=end)) <= 1
