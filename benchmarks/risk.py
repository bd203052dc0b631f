"""Whether calibration keeps its word: over random splits, how much of what it accepts is false.

Each split calibrates on some labels of a set and looks at the rest: the weights and the threshold that would
serve, and what they accept. The share of false ones among the accepted is to be, on the average, no larger
than was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.claims import GRAPHS, Labelled, of_graph, of_passages
from benchmarks.results import table, with_section
from hydramem.core.config import VerificationConfig
from hydramem.verification.calibration import fit
from hydramem.verification.calibration.fit import Examples, try_out
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT

TITLE = "## Calibration"
SPLITS = 20
ASKED = (0.02, 0.05, 0.1)
_MOST_LABELS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What came of one requested rate on one set, means over the splits.

    Attributes:
        labels: How many each split calibrated on; the rest of the claims were looked at.
        asked: The rate asked for.
        false_accept: Share of false ones among the accepted; nothing accepted counts as none.
        highest: The same of the worst split.
        accepted: Share of claims that were accepted.
        none: Splits that accepted nothing.
        auc_before, auc_after, brier_before, brier_after: Of the shipped and of the calibrated weights.
    """

    set: str
    labels: int
    asked: float
    false_accept: float
    highest: float
    accepted: float
    none: int
    auc_before: float
    auc_after: float
    brier_before: float
    brier_after: float


def measure(data: Path, *, splits: int = SPLITS, labels: int = _MOST_LABELS) -> tuple[Kept, ...]:
    """Calibrate on random splits of every set.

    Args:
        data: Folder of the sets.
        splits: How many splits of each set.
        labels: Labels to calibrate on; at most half of a set's.
    """
    sets = [of_graph(data / "kg" / name, "test") for name in GRAPHS]
    return tuple(
        row
        for each in (*sets, of_passages(data, "test"))
        for row in keep(_examples(each), each.name, splits, labels)
    )


def _examples(labelled: Labelled) -> Examples:
    found = first_stage.features(labelled.candidates, labelled.snapshot).astype(np.float64)
    return Examples(
        features=found, names=first_stage.NAMES, true=labelled.true, weights=np.ones(len(labelled.true))
    )


def keep(given: Examples, name: str, splits: int, labels: int, asked: Sequence[float] = ASKED) -> list[Kept]:
    """Calibrate on random splits of some labels, once for each rate asked for."""
    labels = min(labels, len(given) // 2)
    rows = [[_one(given, labels, rate, split) for split in range(splits)] for rate in asked]
    result = []
    for rate, found in zip(asked, rows, strict=True):
        wrong, accepted, *quality = np.mean(found, axis=0).tolist()
        result.append(
            Kept(
                set=name,
                labels=labels,
                asked=rate,
                false_accept=wrong,
                highest=max(row[0] for row in found),
                accepted=accepted,
                none=sum(row[1] == 0 for row in found),
                auc_before=quality[0],
                auc_after=quality[1],
                brier_before=quality[2],
                brier_after=quality[3],
            )
        )
    return result


def _one(given: Examples, labels: int, asked: float, split: int) -> tuple[float, ...]:
    order = np.random.default_rng(split).permutation(len(given))
    rest = given.at(order[labels:])
    trial = try_out(given.at(order[:labels]), VerificationConfig(), max_false_accept=asked)
    chances = fit.probabilities(rest, trial.weights)
    accepted = chances >= (trial.accept_at or 0.0)
    before, after = fit.quality(rest, fit.probabilities(rest, DEFAULT)), fit.quality(rest, chances)
    wrong = float((~rest.true[accepted]).mean()) if accepted.any() else 0.0
    return wrong, float(accepted.mean()), before.auc, after.auc, before.brier, after.brier


def placed(page: str, rows: Sequence[Kept], made: Mapping[str, str]) -> str:
    """Return the results page with these rows, in the place of older ones.

    Args:
        page: As it was.
        rows: What was measured.
        made: When and where (`results.where`).
    """
    columns = (
        *("set", "labels", "asked", "false among accepted", "worst split", "accepted", "splits with none"),
        *("AUC", "Brier"),
    )
    lines = [
        "",
        "Written by `python -m benchmarks risk --out`. Means over random splits: `calibrate` learns from",
        "some labels of a set, with a requested limit on the share of false claims among the accepted. The",
        "weights and the threshold that result judge the other claims.",
        f"{SPLITS} splits a set, {made['date']}, {made['machine']}.",
        "",
        *table(columns, [_row(row) for row in rows]),
    ]
    return with_section(page, TITLE, lines)


def _row(row: Kept) -> tuple[str, ...]:
    return (
        *(row.set, str(row.labels), f"{row.asked:g}", f"{row.false_accept:.3f}", f"{row.highest:.3f}"),
        *(f"{row.accepted:.2f}", str(row.none), f"{row.auc_before:.3f} to {row.auc_after:.3f}"),
        f"{row.brier_before:.3f} to {row.brier_after:.3f}",
    )


def shown(rows: Sequence[Kept]) -> str:
    """Return the rows as a table."""
    lines = [
        f"{'set':<10} {'labels':>6} {'asked':>6} {'false':>6} {'worst':>6} {'accepted':>8} {'none':>5}"
        f" {'AUC':>13} {'Brier':>13}"
    ]
    lines += [
        f"{row.set:<10} {row.labels:>6} {row.asked:>6.2f} {row.false_accept:>6.3f} {row.highest:>6.3f}"
        f" {row.accepted:>8.2f} {row.none:>5} {row.auc_before:>5.3f} > {row.auc_after:.3f}"
        f" {row.brier_before:>5.3f} > {row.brier_after:.3f}"
        for row in rows
    ]
    return "\n".join(lines)
