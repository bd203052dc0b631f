"""How likely two memories say the same in other words."""

from dataclasses import replace

import pytest

from hydramem.garden.phases.supersede.same_probability import LEAST_JOINED, same_features, same_probability
from hydramem.llm.pair_classifier import PairJudgement
from hydramem.text.restated_text import TextOverlap

SHARED = TextOverlap(of_shorter=0.5, of_longer=0.45, anchors=2, lacking=0)


def judged(duplicate: float, change: float = 0.01) -> PairJudgement:
    left = 1 - duplicate - change
    return PairJudgement(update=change, duplicate=duplicate, refine=0, contradict=0, unrelated=left)


ALIKE = same_features(
    judged(0.9), judged(0.8), nearness=0.7, crowds=(0.35, 0.35), nearest=2, may_restate=True, shared=SHARED
)


def test_what_both_orders_call_the_same_and_is_nearest_is_joined() -> None:
    assert same_probability(ALIKE) > LEAST_JOINED


@pytest.mark.parametrize(
    "less",
    [{"less_duplicate": -3.0}, {"nearness": 0.3}, {"smaller_crowd": 0.65}, {"lacking": 6}, {"nearest": 0}],
)
def test_each_sign_that_is_missing_makes_it_less_likely(less: dict[str, float]) -> None:
    assert same_probability(replace(ALIKE, **less)) < same_probability(ALIKE)


def test_the_order_of_two_memories_does_not_matter() -> None:
    turned = same_features(
        judged(0.8),
        judged(0.9),
        nearness=0.7,
        crowds=(0.35, 0.35),
        nearest=2,
        may_restate=True,
        shared=SHARED,
    )
    assert turned == ALIKE


def test_extremes_stay_probabilities() -> None:
    for duplicate in (0.0, 1.0):
        features = same_features(
            judged(duplicate, 0.0), judged(duplicate, 0.0), nearness=duplicate, crowds=(0.0, 1.0), nearest=2,
            may_restate=True, shared=SHARED,
        )  # fmt: skip
        assert 0 <= same_probability(features) <= 1
