"""Trying fitted weights against the shipped ones, on labels held out, and choosing where to accept."""

from dataclasses import dataclass

from hydramem.core.config import VerificationConfig
from hydramem.core.results.verdicts import CalibrationMeasure
from hydramem.verification.calibration import fit
from hydramem.verification.calibration.fit import Examples
from hydramem.verification.calibration.risk import NEVER, accept_threshold
from hydramem.verification.facts import Floats
from hydramem.verification.weights import DEFAULT, Weights

# Folds of few labels have weights that differ, which costs some area when they are put together: with a
# hundred labels held-out areas came out 0.01 smaller where others, on thousands of claims, were the same.
_SAME_AUC = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a trial ended.

    Attributes:
        better: Whether the fitted weights did better than the shipped ones.
        weights: Those that did better.
        accept_at: The threshold that was asked for by risk; None where none was.
        measures: The shipped weights, then the fitted ones.
    """

    better: bool
    weights: Weights
    accept_at: float | None
    measures: tuple[CalibrationMeasure, ...]


def try_out(given: Examples, settings: VerificationConfig, *, max_false_accept: float | None) -> Trial:
    """Fit weights to labels, each label judged by weights that were fitted without it.

    Args:
        given: The labels.
        settings: Thresholds as configured.
        max_false_accept: Largest share of false ones among the accepted; None keeps the configured threshold.
    """
    shipped, fitted = fit.probabilities(given, DEFAULT), fit.held_out(given, DEFAULT)
    before, after = fit.quality(given, shipped), fit.quality(given, fitted)
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
        weights=fit.fit(given, DEFAULT, version="fitted") if better else DEFAULT,
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
        name: Whose probabilities they are.
        given: The labels.
        chances: Their probabilities; shape (labels,).
        reject_below, accept_at: The thresholds.
    """
    quality = fit.quality(given, chances)
    accepted = chances >= accept_at
    decided = accepted | (chances < reject_below)
    total, weight = given.weights.sum(), given.weights[accepted].sum()
    wrong = given.weights[accepted & ~given.true].sum()
    return CalibrationMeasure(
        weights=name,
        auc=round(quality.auc, 4),
        brier=round(quality.brier, 4),
        accept_at=shown(accept_at),
        false_accept=round(float(wrong / weight), 4) if weight else None,
        accepted=round(float(weight / total), 4),
        decided=round(float(given.weights[decided].sum() / total), 4),
    )


def shown(accept_at: float) -> float | None:
    """Return a threshold as a person reads it: None where nothing is accepted without a model."""
    return None if accept_at >= NEVER else accept_at
