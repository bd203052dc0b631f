"""Whether a memory says the same as another in other words, surely enough for recall to show one of both.

The pair classifier reads the two in both orders, and the texts must agree in what decides
(`hydramem.text.restated_text`). A link of such a pair has at least the weight `SURELY_SAME`; what the
classifier alone leans to has less. Nothing ends by it.

Texts that say the opposite in other words share as much as those that say the same, and the classifier calls
them duplicates in one order often enough; then it calls them a change in the other.
"""

from collections.abc import Mapping

from hydramem.llm.pair_classifier import JudgePairs, PairJudgement
from hydramem.text.restated_text import (
    ENOUGH_ANCHORS,
    MOST_UNCONFIRMED,
    SURELY_SAME,
    TextComparison,
    can_restate,
    compare_texts,
)

# Bounds chosen on two authors of `benchmarks/data/aging` and on opposites of 102 texts: of 200 pairs
# that say the same 63 are joined, of 400 near pairs two, of 204 pairs of opposites seven.
_LEAST_MEAN, _LEAST_WITH_ANCHORS = 0.3, 0.1
_LEAST_EITHER = 0.04

_MOST_CHANGE, _MOST_CHANGE_DENIED = 0.4, 0.1
"""The most that either order may speak for an update or a contradiction: as a rule, and where one text alone
denies."""

_SHORT = 0.6
"""The bound of either order for texts that share few words, which mislead the model more often."""


def restates(new: str, old: str, forth: PairJudgement, judge: JudgePairs) -> float | None:
    """Return how surely two texts say the same, from `SURELY_SAME` to `MOST_UNCONFIRMED`; None where not.

    The other order is judged only where the first and the texts allow it.

    Args:
        forth: What the classifier says of the new text to the old one.
        judge: The classifier.

    Raises:
        ModelError: The classifier failed.
    """
    if forth.duplicate < _LEAST_EITHER:
        return None
    compared = compare_texts(new, old)
    if not compared.possible:
        return None
    if _change(forth) > _most_change(compared):
        return None
    (back,) = judge(old, [new])
    return None if back is None else _surely(compared, forth, back)


def surely_restates(new: str, old: str, forth: PairJudgement, back: PairJudgement) -> float | None:
    """Return what `restates` does, where the classifier has judged both orders.

    Args:
        forth, back: What it says of the new text to the old one, and the other way round.
    """
    compared = compare_texts(new, old)
    return _surely(compared, forth, back) if compared.possible else None


def _surely(compared: TextComparison, forth: PairJudgement, back: PairJudgement) -> float | None:
    if max(_change(forth), _change(back)) > _most_change(compared):
        return None
    low, high = sorted((forth.duplicate, back.duplicate))
    mean = (low + high) / 2
    if low < _LEAST_EITHER or not _is_sure(compared, low, mean):
        return None
    return round(SURELY_SAME + (MOST_UNCONFIRMED - SURELY_SAME) * mean, 3)


def _change(judgement: PairJudgement) -> float:
    return judgement.update + judgement.contradict


def _most_change(compared: TextComparison) -> float:
    return _MOST_CHANGE if compared.denies_alike else _MOST_CHANGE_DENIED


def _is_sure(compared: TextComparison, low: float, mean: float) -> bool:
    if compared.short:
        return low >= _SHORT
    return mean >= (_LEAST_WITH_ANCHORS if compared.anchors >= ENOUGH_ANCHORS else _LEAST_MEAN)


def restated(
    new: str, near: Mapping[str, str], judgements: Mapping[str, PairJudgement], judge: JudgePairs
) -> dict[str, float]:
    """Return the memories that a new one says again, by id, with how surely; no two that differ.

    Args:
        new: Text of the new memory.
        near: Texts of stored memories, by id.
        judgements: What the classifier says of the new text to them, where it can.
        judge: The classifier.

    Raises:
        ModelError: The classifier failed.
    """
    found = {
        id: probability
        for id, text in near.items()
        if id in judgements and (probability := restates(new, text, judgements[id], judge)) is not None
    }
    kept: dict[str, float] = {}
    for id in sorted(found, key=lambda each: (-found[each], each)):
        if all(can_restate(near[id], near[each]) for each in kept):
            kept[id] = found[id]
    return kept
