"""Figures of what was asked at each stage, and the share of a loss that nights give back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.aging.asking import Outcome
from benchmarks.aging.lives import Question
from benchmarks.aging.shown import SURFACES, ShownRelations

CLEAN, AGED = "clean", "aged"
_RESAMPLES, _SEED = 1000, 0
_LOW, _HIGH = 2.5, 97.5
Floats = NDArray[np.float64]


def after(nights: int) -> str:
    """Return the name of the stage after so many nights."""
    return f"after {nights}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Back:
    """The share of a loss that is given back, (after - aged) / (clean - aged), with 95 % of resamples.

    Attributes:
        share: None where the memory lost nothing: not 97.5 % of the resamples of its loss are above 0.
        loss: Clean less aged, with 95 % of the resamples in `loss_low` and `loss_high`.
        change: After less clean, likewise: what a memory that never aged gains or loses.
    """

    share: float | None
    low: float
    high: float
    loss: float
    loss_low: float
    loss_high: float
    change: float
    change_low: float
    change_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One measure of some questions.

    Attributes:
        stages: Its mean by stage; a share, or hits of five for duplicates.
        back: What the last night's stage gives back.
    """

    measure: str
    questions: int
    stages: Mapping[str, float]
    back: Back


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The figures of the questions of one kind."""

    ailment: str
    part: str
    measures: tuple[Measured, ...]


SHOWN = "relations shown"
_SHOWN_MEASURES: Mapping[str, Callable[[ShownRelations], float | None]] = {
    "false of five": lambda one: one.false,
    "MRR": lambda one: one.reciprocal,
}
_MEASURES: Mapping[str, Callable[[Outcome], float | None]] = {
    "recall@5": lambda one: one.recall,
    "MRR": lambda one: one.reciprocal,
    "stale before current": lambda one: None if one.stale is None else float(one.stale),
    "duplicates in five": lambda one: float(one.duplicates),
}
_LESS_IS_BETTER = ("stale before current", "duplicates in five", "false of five")
_One = TypeVar("_One")


def parts_of(questions: Sequence[Question], stages: Mapping[str, Sequence[Outcome]]) -> tuple[Part, ...]:
    """Return the figures of each ailment as a whole and of its parts.

    Args:
        questions: What was asked.
        stages: Outcomes by stage, in the order of the questions; clean and aged are among them.
    """
    kinds = dict.fromkeys(
        kind for each in questions for kind in ((each.ailment, ""), (each.ailment, each.part))
    )
    found = []
    for ailment, part in kinds:
        places = [
            place
            for place, each in enumerate(questions)
            if each.ailment == ailment and part in ("", each.part)
        ]
        chosen = {stage: [outcomes[place] for place in places] for stage, outcomes in stages.items()}
        found.append(Part(ailment=ailment, part=part, measures=tuple(_measured(chosen, _MEASURES))))
    return tuple(found)


def parts_shown(stages: Mapping[str, Mapping[str, Sequence[ShownRelations]]]) -> tuple[Part, ...]:
    """Return the figures of relations that were shown, by surface; none where nothing was asked.

    Args:
        stages: What was shown, by stage and surface, of the same things in one order.
    """
    found = []
    for surface in SURFACES if stages else ():
        of_surface = {stage: shown[surface] for stage, shown in stages.items()}
        measures = tuple(_measured(of_surface, _SHOWN_MEASURES))
        found.append(Part(ailment=SHOWN, part=surface, measures=measures))
    return tuple(found)


def _measured(
    stages: Mapping[str, Sequence[_One]], measures: Mapping[str, Callable[[_One], float | None]]
) -> list[Measured]:
    found = []
    for name, of in measures.items():
        values = {stage: [of(one) for one in outcomes] for stage, outcomes in stages.items()}
        # What has no value at one stage is not compared at any.
        whole = [None not in row for row in zip(*values.values(), strict=True)]
        rows = {
            stage: np.array(list(compress(each, whole)), dtype=np.float64) for stage, each in values.items()
        }
        if rows[CLEAN].size:
            sign = -1.0 if name in _LESS_IS_BETTER else 1.0
            last = list(rows)[-1]
            found.append(
                Measured(
                    measure=name,
                    questions=int(rows[CLEAN].size),
                    stages={stage: float(each.mean()) for stage, each in rows.items()},
                    back=given_back(*(sign * rows[stage] for stage in (CLEAN, AGED, last))),
                )
            )
    return found


def given_back(clean: Floats, aged: Floats, later: Floats) -> Back:
    """Return the share of a loss that is given back, by resampling questions (a percentile bootstrap).

    Args:
        clean, aged, later: Values of the same questions, in one order; more is better.
    """
    draw = np.random.default_rng(_SEED)
    picked = draw.integers(clean.size, size=(_RESAMPLES, clean.size))
    losses, gains = _means(clean - aged, picked), _means(later - aged, picked)
    share, low, high = None, float("nan"), float("nan")
    loss_low, loss_high = _interval(losses)
    loss = float((clean - aged).mean())
    if loss_low > 0:
        share = float((later - aged).mean()) / loss
        low, high = _interval(gains[losses > 0] / losses[losses > 0])
    change_low, change_high = _interval(_means(later - clean, picked))
    return Back(
        share=share,
        low=low,
        high=high,
        loss=loss,
        loss_low=loss_low,
        loss_high=loss_high,
        change=float((later - clean).mean()),
        change_low=change_low,
        change_high=change_high,
    )


def _means(values: Floats, picked: NDArray[np.int64]) -> Floats:
    means: Floats = values[picked].mean(axis=1)
    return means


def _interval(values: Floats) -> tuple[float, float]:
    low, high = np.percentile(values, (_LOW, _HIGH))
    return float(low), float(high)
