"""Fitting the first stage's weights to labels, never far from the weights they start from.

The log-odds of the starting weights enter as one feature, which is barely penalised, the features
themselves beside it, shrunk hard towards zero: few labels can say that all probabilities are too high or
too low (Platt, 1999), and it takes many to say that a feature counts otherwise than it was shipped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.verification.weights import Weights

Floats = NDArray[np.float64]

Flags = NDArray[np.bool_]

FOLDS = 5

_SEED = 20

# Looser, forty labels do harm where the shipped weights fit; tighter, a hundred help little elsewhere.
_SHRINKING = 0.05

_UNPENALISED = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """Labelled candidates.

    Attributes:
        features: Shape (labels, names).
        names: What the columns are.
        true: Shape (labels,).
        weights: How many candidates each label stands for; shape (labels,), mean 1.
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
    """How well probabilities tell true from false: area under the ROC curve, and mean squared error."""

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
