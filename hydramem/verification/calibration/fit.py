"""Fit the first stage's weights and threshold to labels, and measure them on labels held out.

The fitted weights stay near those they start from. The log-odds of the starting weights enter as one
feature, which is barely penalised; the features themselves enter beside it, shrunk hard towards zero. A few
labels can show that all probabilities are too high or too low (Platt, 1999); it takes many to show that a
feature counts otherwise than shipped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import VerificationConfig
from hydramem.core.results.verdicts import CalibrationMeasure
from hydramem.verification.first_stage.weights import DEFAULT, Weights

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FOLDS = 5
_SEED = 20

# Looser, forty labels do harm where the shipped weights fit; tighter, a hundred help little elsewhere.
_SHRINKING = 0.05
_UNPENALISED = 20.0

# Folds of few labels have weights that differ, which costs some area when they are put together: with a
# hundred labels held-out areas came out 0.01 smaller where others, on thousands of claims, were the same.
_SAME_AUC = 0.05
NEVER = 2.0
"""A threshold that no probability reaches: nothing is accepted without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Labelled candidates.

    Attributes:
        features: Shape (labels, names).
        names: What the columns are.
        true: Shape (labels,).
        weights: How many candidates each label represents; shape (labels,), mean 1.
    """

    features: Floats
    names: tuple[str, ...]
    true: Flags
    weights: Floats

    def __len__(self) -> int:
        return len(self.true)

    def at(self, places: NDArray[np.int64]) -> "Examples":
        """Return some of them."""
        return Examples(
            features=self.features[places],
            names=self.names,
            true=self.true[places],
            weights=self.weights[places],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """How well probabilities separate true from false: area under the ROC curve, and mean squared error."""

    auc: float
    brier: float


def fit(examples: Examples, start: Weights, *, version: str) -> Weights:
    """Return weights fitted to examples, drawn towards those they start from."""
    from sklearn.linear_model import LogisticRegression

    coefficients = start.for_names(examples.names)
    log_odds = examples.features @ coefficients + start.intercept
    spread = examples.features.std(axis=0)
    # What hardly varies among the labels says nothing of other candidates.
    scale = np.where(spread > 1e-6, spread, np.inf)
    columns = np.column_stack(
        [log_odds * _UNPENALISED, (examples.features - examples.features.mean(axis=0)) / scale]
    )
    model = LogisticRegression(C=_SHRINKING, solver="newton-cholesky")
    model.fit(columns, examples.true, sample_weight=examples.weights)
    (found,) = np.asarray(model.coef_, dtype=np.float64)
    stretch, moved = found[0] * _UNPENALISED, found[1:] / scale
    intercept = float(model.intercept_[0]) + stretch * start.intercept
    return Weights(
        version=version,
        names=examples.names,
        coefficients=tuple(map(float, stretch * coefficients + moved)),
        intercept=float(intercept - moved @ examples.features.mean(axis=0)),
    )


def probabilities(examples: Examples, weights: Weights) -> Floats:
    """Return the probability of each example by weights; shape (labels,)."""
    log_odds = examples.features @ weights.for_names(examples.names) + weights.intercept
    return np.asarray(0.5 * (1 + np.tanh(log_odds / 2)), dtype=np.float64)


def held_out(examples: Examples, start: Weights) -> Floats:
    """Return the probability of each example by weights that were fitted without it; shape (labels,)."""
    from sklearn.model_selection import StratifiedKFold

    result = np.empty(len(examples))
    folds = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=_SEED)
    for kept, left in folds.split(examples.features, examples.true):
        fitted = fit(examples.at(kept), start, version=start.version)
        result[left] = probabilities(examples.at(left), fitted)
    return result


def quality(examples: Examples, given: Floats) -> Quality:
    """Measure probabilities against the labels, each label counted by its weight."""
    from sklearn.metrics import brier_score_loss, roc_auc_score

    return Quality(
        auc=float(roc_auc_score(examples.true, given, sample_weight=examples.weights)),
        brier=float(brier_score_loss(examples.true, given, sample_weight=examples.weights)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Where to accept.

    Attributes:
        at: Probability from which to accept; `NEVER` where no threshold carries as little risk as requested.
        accepted: Share of candidates that it accepts.
    """

    at: float
    accepted: float


def accept_threshold(
    probabilities: Floats,
    true: Flags,
    *,
    max_false_accept: float,
    weights: Floats | None = None,
    at_least: float = 0.0,
) -> Threshold:
    """Return the lowest threshold at which few enough of the accepted are false.

    The count of false ones is taken one larger than it is, for the candidate to come, and larger by its
    own standard deviation, because a threshold that was searched for looks better than it is.

    Args:
        probabilities: Of labelled candidates, by weights that were fitted without them; shape (labels,).
        max_false_accept: Largest share of false ones among the accepted, 0 to 1.
        weights: How many candidates each label represents; one each where None.
        at_least: No lower threshold is looked at.
    """
    weights = np.ones(len(true)) if weights is None else weights
    order = np.argsort(-probabilities, kind="stable")
    order = order[probabilities[order] >= at_least]
    wrong = weights[order] * ~true[order]
    accepted = np.cumsum(weights[order])
    doubt = np.maximum.accumulate(weights[order]) + np.sqrt(np.cumsum(wrong**2))
    bounds = (np.cumsum(wrong) + doubt) / accepted
    ends = np.append(np.diff(probabilities[order]) != 0, True)  # equal ones are accepted together
    good = np.flatnonzero((bounds <= max_false_accept) & ends[: len(order)])
    if not len(good):
        return Threshold(at=NEVER, accepted=0.0)
    last = good[-1]
    lowest = float(probabilities[order[last]])
    # Nothing is known of the range between this label and the next below: the threshold is its middle.
    below = probabilities[probabilities < lowest].max(initial=-np.inf)
    between = lowest if np.isinf(below) else (lowest + float(below)) / 2
    return Threshold(
        at=max(between, at_least),
        accepted=float(accepted[last] / weights.sum()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The fitted weights against the shipped ones.

    Attributes:
        better: Whether the fitted weights did better than the shipped ones.
        weights: Those that did better.
        accept_at: The threshold for the requested risk; None where none was requested.
        measures: The shipped weights, then the fitted ones.
    """

    better: bool
    weights: Weights
    accept_at: float | None
    measures: tuple[CalibrationMeasure, ...]


def try_out(given: Examples, settings: VerificationConfig, *, max_false_accept: float | None) -> Trial:
    """Fit weights to labels, each label judged by weights that were fitted without it.

    Args:
        given, settings: The labels, and thresholds as configured.
        max_false_accept: Largest share of false ones among the accepted; None keeps the configured threshold.
    """
    shipped, fitted = probabilities(given, DEFAULT), held_out(given, DEFAULT)
    before, after = quality(given, shipped), quality(given, fitted)
    better = after.brier < before.brier and after.auc > before.auc - _SAME_AUC
    accept_at = None
    if max_false_accept is not None:
        accept_at = accept_threshold(
            fitted if better else shipped,
            given.true,
            max_false_accept=max_false_accept,
            weights=given.weights,
            at_least=settings.reject_below,
        ).at
    chosen = settings.accept_at if accept_at is None else accept_at
    return Trial(
        better=better,
        weights=fit(given, DEFAULT, version="fitted") if better else DEFAULT,
        accept_at=accept_at,
        measures=(
            measure(
                "shipped", given, shipped, settings.reject_below, settings.accept_at if better else chosen
            ),
            measure("fitted", given, fitted, settings.reject_below, chosen if better else settings.accept_at),
        ),
    )


def measure(
    name: str, given: Examples, chances: Floats, reject_below: float, accept_at: float
) -> CalibrationMeasure:
    """Measure probabilities of labels at thresholds.

    Args:
        name, given: Whose probabilities they are, and the labels.
        chances: Their probabilities; shape (labels,).
    """
    measured = quality(given, chances)
    accepted = chances >= accept_at
    decided = accepted | (chances < reject_below)
    total, weight = given.weights.sum(), given.weights[accepted].sum()
    wrong = given.weights[accepted & ~given.true].sum()
    return CalibrationMeasure(
        weights=name,
        auc=round(measured.auc, 4),
        brier=round(measured.brier, 4),
        accept_at=shown(accept_at),
        false_accept=round(float(wrong / weight), 4) if weight else None,
        accepted=round(float(weight / total), 4),
        decided=round(float(given.weights[decided].sum() / total), 4),
    )


def shown(accept_at: float) -> float | None:
    """Return a threshold as a person reads it: None where nothing is accepted without a model."""
    return None if accept_at >= NEVER else accept_at
