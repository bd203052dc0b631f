"""Whether a memory says the same as another in other words, surely enough for recall to show one of both.

The pair classifier reads the two in both orders, and the texts must agree in what decides
(`hydramem.text.restated_text`). A link of such a pair has at least the weight `SURELY_SAME`; what the
classifier alone leans to has less. Nothing ends by it.
"""

from collections.abc import Mapping, Sequence

from hydramem.llm.pair_classifier import JudgePairs, PairJudgement
from hydramem.text.restated_text import SURELY_SAME, Comparison, can_restate, compare_texts

# Bounds of the mean of both orders, chosen on two authors of `benchmarks/data/aging`: of 200 pairs that say
# the same 101 are joined, of 2,900 other near pairs three, and of 1,161 pairs of look-alikes three.
_LEAST_MEAN = 0.3
_WITH_ANCHORS, _ENOUGH_ANCHORS = 0.1, 2
_LEAST_EITHER = 0.04

_SHORT = 0.6
"""The bound of either order for texts that share few words, which mislead the model more often."""


def restates(new: str, old: str, forth: PairJudgement, judge: JudgePairs) -> float | None:
    """Return how surely two texts say the same, from `SURELY_SAME` to 1; None where that is not sure.

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
    (back,) = judge(old, [new])
    if back is None:
        return None
    low, high = sorted((forth.duplicate, back.duplicate))
    mean = (low + high) / 2
    if low < _LEAST_EITHER or not _is_sure(compared, low, mean):
        return None
    return round(SURELY_SAME + (1 - SURELY_SAME) * mean, 3)


def _is_sure(compared: Comparison, low: float, mean: float) -> bool:
    if compared.short:
        return low >= _SHORT
    return mean >= (_WITH_ANCHORS if compared.anchors >= _ENOUGH_ANCHORS else _LEAST_MEAN)


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


def consistent_pairs(pairs: Sequence[tuple[str, str]], texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pairs that join no two memories that cannot say the same, not even by way of others.

    Args:
        pairs: Ids of two that say the same, the surest first.
        texts: Texts by id.
    """
    groups: dict[str, frozenset[str]] = {}
    kept: list[tuple[str, str]] = []
    for one, other in pairs:
        mine, yours = (groups.get(id, frozenset((id,))) for id in (one, other))
        if all(can_restate(texts[id], texts[each]) for id in mine - yours for each in yours - mine):
            kept.append((one, other))
            groups |= dict.fromkeys(mine | yours, mine | yours)
    return kept
