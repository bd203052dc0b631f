"""How likely two memories say the same in other words, judged with the whole memory at hand. Pure.

A logistic regression over the pair classifier's judgements in both orders, how near the two texts are, how
near each is to memories at large, and what their words share (`python -m benchmarks.aging.fit_same`). Texts
that say the opposite in other words look much alike to it; so it joins fewer than it could.
"""

from dataclasses import astuple, dataclass
from math import exp, log

from hydramem.llm.pair_classifier import PairJudgement
from hydramem.text.restated_text import ENOUGH_ANCHORS, TextOverlap

LEAST_JOINED = 0.7
"""Probability from which two memories are joined.

So are 49 of an unread author's 100 pairs that say the same, 13 of 100 that say the opposite in other words,
and none of 99 that say what holds since. Of two authors' memories among others it is 79 of 200 that say the
same, none of 446 pairs of states of one fact, and one of 11,000 other near pairs.
"""

LEAST_DUPLICATE = 0.04
"""Least probability of a duplicate, by the classifier in the first order, with which the other is judged."""

_INTERCEPT = -2.08
_WEIGHTS = (0.466, 0.382, 0.075, 9.44, -12.377, 0.92, 0.627, 0.139, 1.455, -10.01, 9.082, -0.442)
_LEAST = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class SameFeatures:
    """What shows that two memories say the same; each part is a number, larger for more.

    Attributes:
        less_duplicate, more_duplicate: Log-odds of a duplicate, by the order in which they are less and more.
        change: Log-odds of an update or a contradiction, by the order in which it is more.
        nearness: Of the texts, 0 to 1.
        smaller_crowd, larger_crowd: Mean nearness of what is near to each.
        nearest: How many of the two have the other as the nearest memory.
        may_restate: Whether the rules of texts allow it.
        anchored: Whether both state the same numbers and names, and enough of them.
        of_shorter, of_longer: Shares of words, as `TextOverlap` has them.
        lacking: Numbers and names that one of them lacks.
    """

    less_duplicate: float
    more_duplicate: float
    change: float
    nearness: float
    smaller_crowd: float
    larger_crowd: float
    nearest: float
    may_restate: float
    anchored: float
    of_shorter: float
    of_longer: float
    lacking: float


def same_features(
    forth: PairJudgement,
    back: PairJudgement,
    *,
    nearness: float,
    crowds: tuple[float, float],
    nearest: int,
    may_restate: bool,
    shared: TextOverlap,
) -> SameFeatures:
    """Return what shows that two memories say the same.

    Args:
        forth, back: What the classifier says of them in either order.
        nearness: Of the texts, as `similarity.nearness` has it.
        crowds: Of each, as `crowd_of` has it.
        nearest: How many of the two have the other as the nearest memory.
        may_restate: Whether `can_restate` holds.
        shared: What their words share.
    """
    less, more = sorted((forth.duplicate, back.duplicate))
    change = max(each.update + each.contradict for each in (forth, back))
    return SameFeatures(
        less_duplicate=_log_odds(less),
        more_duplicate=_log_odds(more),
        change=_log_odds(change),
        nearness=nearness,
        smaller_crowd=min(crowds),
        larger_crowd=max(crowds),
        nearest=nearest,
        may_restate=may_restate,
        anchored=shared.anchors >= ENOUGH_ANCHORS,
        of_shorter=shared.of_shorter,
        of_longer=shared.of_longer,
        lacking=shared.lacking,
    )


def same_probability(features: SameFeatures) -> float:
    """Return the probability that two memories say the same."""
    odds = sum(weight * value for weight, value in zip(_WEIGHTS, astuple(features), strict=True))
    return 1 / (1 + exp(-(_INTERCEPT + odds)))


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return log(bounded / (1 - bounded))
