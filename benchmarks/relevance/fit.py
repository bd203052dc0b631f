"""Fitting the weights of relevance, and how they do on stores whose kind was left out of the fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.relevance.measure import Measured
from hydramem.search.relevance.relevance import BY_MEANING, BY_WORDS, NOT_ENGLISH, RelevanceWeights

Floats = NDArray[np.float64]
_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How the queries of one kind of store came out.

    Attributes:
        own, foreign, talk: How many queries; own ones are those with an answer among the first five hits.
        auc_foreign, auc_talk: How often an own query has a higher relevance than one of the others.
        lost: Share of the own queries below the floor.
        foreign_unanswered, talk_unanswered: Shares of the others below the floor.
        calibration_error: Mean distance of relevance from the share of own queries, in ten bins, with own
            and other queries weighing the same.
    """

    store: str
    own: int
    foreign: int
    talk: int
    auc_foreign: float
    auc_talk: float
    lost: float
    foreign_unanswered: float
    talk_unanswered: float
    calibration_error: float


def fit(measured: Sequence[Measured], names: Sequence[str]) -> RelevanceWeights:
    """Fit a logistic to own queries against others, which weigh as much: half foreign, half talk."""
    from sklearn.linear_model import LogisticRegression

    used = [one for one in usable(measured) if one.use != "test"]
    numbers = np.array([[one.numbers[name] for name in names] for one in used])
    own = np.array([one.kind == "own" for one in used])
    model = LogisticRegression(C=10, max_iter=5000).fit(numbers, own, sample_weight=balance(used))
    return RelevanceWeights(
        values={name: round(float(value), 3) for name, value in zip(names, model.coef_[0], strict=True)},
        intercept=round(float(model.intercept_[0]), 3),
    )


def fit_all(measured: Sequence[Measured]) -> dict[str, RelevanceWeights]:
    """Fit every kind of weights, by name."""
    english = [one for one in measured if one.english]
    return {
        "by_meaning": fit(english, BY_MEANING),
        "by_words": fit(english, BY_WORDS),
        "not_english": fit([one for one in measured if not one.english], NOT_ENGLISH),
    }


def fit_rank(measured: Sequence[Measured], most: int = 10) -> dict[str, float]:
    """Fit how often a rank holds an answer, where one of the first five does, over the rank's logarithm."""
    from sklearn.linear_model import LogisticRegression

    own = [one for one in measured if one.kind == "own" and one.answerable]
    ranks = [[np.log1p(rank)] for _ in own for rank in range(most)]
    gold = [rank in one.gold_ranks for one in own for rank in range(most)]
    model = LogisticRegression(C=1e6).fit(ranks, gold)
    return {
        "intercept": round(float(model.intercept_[0]), 3),
        "log": round(float(model.coef_[0][0]), 3),
    }


def usable(measured: Sequence[Measured]) -> list[Measured]:
    """Leave out own questions whose answer was not found: they are a matter of recall, not of relevance."""
    return [one for one in measured if one.kind != "own" or one.answerable]


def balance(used: Sequence[Measured]) -> Floats:
    """Return weights by which own queries and all others weigh the same, and each kind of others too."""
    counts = {kind: sum(one.kind == kind for one in used) for kind in ("own", "foreign", "talk")}
    others = sum(counts[kind] > 0 for kind in ("foreign", "talk"))
    shares = {"own": 1.0, "foreign": 1 / max(others, 1), "talk": 1 / max(others, 1)}
    return np.array([len(used) * shares[one.kind] / counts[one.kind] / 2 for one in used])


def left_out(
    measured: Sequence[Measured],
    *,
    floor: float,
    of: Callable[[Measured], str],
    on: Sequence[Measured] | None = None,
) -> list[Row]:
    """Return the figures of each kind of store with weights that were fitted without it.

    Args:
        measured: What is fitted on, apart from what is left out.
        of: What is left out together.
        on: What the figures are of; by default what is left out itself.
    """
    judged = measured if on is None else on
    return [
        figures(
            kind,
            [one for one in judged if of(one) == kind and one.use != "fit"],
            fit_all([one for one in measured if of(one) != kind]),
            floor=floor,
        )
        for kind in dict.fromkeys(of(one) for one in judged)
    ]


def mean(name: str, rows: Sequence[Row]) -> Row:
    """Return the mean of rows; counts add up."""
    columns = [one.name for one in fields(Row) if one.name not in ("store", "own", "foreign", "talk")]
    return Row(
        store=name,
        own=sum(one.own for one in rows),
        foreign=sum(one.foreign for one in rows),
        talk=sum(one.talk for one in rows),
        **{column: float(np.nanmean([getattr(one, column) for one in rows])) for column in columns},
    )


def figures(
    name: str, measured: Sequence[Measured], weights: Mapping[str, RelevanceWeights], *, floor: float
) -> Row:
    """Return how weights do on queries.

    Args:
        weights: By kind: `by_meaning`, and `not_english` where there are such queries.
    """
    from sklearn.metrics import roc_auc_score

    used = usable(measured)
    found = np.array(
        [weights["by_meaning" if one.english else "not_english"].probability(one.numbers) for one in used]
    )
    kind = np.array([one.kind for one in used])

    def auc(other: str) -> float:
        both = np.isin(kind, ["own", other])
        if not (kind == other).any() or not (kind == "own").any():
            return float("nan")
        return float(roc_auc_score(kind[both] == "own", found[both]))

    def below(which: str) -> float:
        chosen = found[kind == which]
        return float((chosen < floor).mean()) if len(chosen) else float("nan")

    counts = {which: int((kind == which).sum()) for which in ("own", "foreign", "talk")}
    return Row(
        store=name,
        **counts,
        auc_foreign=auc("foreign"),
        auc_talk=auc("talk"),
        lost=below("own"),
        foreign_unanswered=below("foreign"),
        talk_unanswered=below("talk"),
        calibration_error=_calibration_error(found, kind == "own", balance(used)),
    )


def _calibration_error(found: Floats, own: NDArray[np.bool_], weights: Floats) -> float:
    place = np.minimum((found * _BINS).astype(int), _BINS - 1)
    error = 0.0
    for bin_ in range(_BINS):
        chosen = place == bin_
        if chosen.any():
            apart = np.average(found[chosen] - own[chosen], weights=weights[chosen])
            error += abs(float(apart)) * weights[chosen].sum() / weights.sum()
    return float(error)


def as_data(measured: Sequence[Measured], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `hydramem/data/relevance/weights.json` holds."""
    written = {
        kind: {"weights": dict(found.values), "intercept": found.intercept}
        for kind, found in fit_all(measured).items()
    }
    return {**written, "rank": fit_rank(measured), "measured": table}
