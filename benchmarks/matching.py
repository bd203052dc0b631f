"""How well things that are one are told from things that are two, on labelled pairs of records.

A record is a thing whose first field is its name; the other fields are what is said of it. One model, fitted
on the training parts of all sets together, is used on each; where it is split is chosen on the validation
part of the set, and what is reported is of its test part.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results import table, with_section
from hydramem.core.config import GardenConfig
from hydramem.garden.phases.merge.match_model import (
    Floats,
    Likeness,
    Rarity,
    Thing,
    match_profile,
    measured,
    shipped,
    with_products,
)

SETS = ("amazon-google", "beer", "fodors-zagats")
BASELINES = {"amazon-google": (0.58, 0.60), "beer": (0.82, 0.76), "fodors-zagats": (0.98, 0.98)}
SHIPPED = Path(__file__).parent.parent / "hydramem" / "data" / "merging.json"
_FIELD = re.compile(r"COL (\S+) VAL ?")
_TITLE = "## Matching entities"
_INTRODUCTION = (
    "Whether two records describe the same thing, decided by name and description alone, without vectors",
    "and without a graph (`python -m benchmarks matching`). One model serves all sets: it is fitted on their",
    "training parts, thresholds come from their validation parts, and F1 is of their test parts. Sure is at",
    "the gardener's threshold `garden.merge_at`; the gardener also requires compatible names. The last two",
    "columns are the F1 of two baselines: rare letter trigrams in common, and a regression on the similarity",
    "of each field.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a set: features of its pairs, shape (pairs, plain), and whether they are one."""

    features: Floats
    same: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one set came out: with the threshold of its validation part, with a half, and with a night's.

    Attributes:
        ngrams, fields: F1 of two simple ways: rare letter triples in common, and a regression on each field.
    """

    set: str
    pairs: int
    threshold: float
    precision: float
    recall: float
    f1: float
    f1_at_half: float
    sure_precision: float
    sure_recall: float
    ngrams: float
    fields: float


def parts(folder: Path) -> dict[str, Part]:
    """Read a set; how rare a word is follows from the records of all its parts."""
    rows = {name: list(_pairs(folder / f"{name}.txt")) for name in ("train", "valid", "test")}
    things = {thing: match_profile(thing) for part in rows.values() for a, b, _ in part for thing in (a, b)}
    rarity = Rarity(one.words for one in things.values())
    return {
        name: Part(
            features=np.array([measured(things[a], things[b], rarity) for a, b, _ in part]),
            same=np.array([same for _, _, same in part]),
        )
        for name, part in rows.items()
    }


def _pairs(file: Path) -> Iterable[tuple[Thing, Thing, bool]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        one, other, label = line.split("\t")
        yield _thing(one), _thing(other), label == "1"


def _thing(record: str) -> Thing:
    values = [value.strip() for value in _FIELD.split(record)[2::2]]
    return Thing(names=(values[0],), details=tuple(value for value in values[1:] if value))


def fitted(train: Mapping[str, Part], *, ridge: float = 3.0, without: float = 0.3) -> Likeness:
    """Fit the model on all sets together, each counting the same.

    Args:
        train: Training parts by set.
        ridge: How much large coefficients cost, on features of unit spread.
        without: Weight of each pair with its details left out: most entities have none.
    """
    size = min(2000, max(len(part.same) for part in train.values()))
    features, same, weights = [], [], []
    for part in train.values():
        weight = np.full(len(part.same), (size / len(part.same)) ** 0.5)
        bare = part.features.copy()
        bare[:, 10:] = 0.0
        bare[:, 18], bare[:, 19] = bare[:, 1], bare[:, 2]
        features += [part.features, bare]
        same += [part.same, part.same]
        weights += [weight, weight * without]
    return logistic(with_products(np.vstack(features)), np.hstack(same), np.hstack(weights), ridge)


def logistic(features: Floats, same: NDArray[np.bool_], weights: Floats, ridge: float) -> Likeness:
    """Fit by Newton's method; coefficients are of the features as they are."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < 1e-9] = 1.0
    rows = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    cost = np.full(rows.shape[1], ridge)
    cost[0] = 1e-6
    beta = np.zeros(rows.shape[1])
    for _ in range(30):
        chance = 1.0 / (1.0 + np.exp(-np.clip(rows @ beta, -30, 30)))
        slope = rows.T @ (weights * (same - chance)) - cost * beta
        bend = (rows * (weights * chance * (1 - chance))[:, None]).T @ rows + np.diag(cost)
        step = np.linalg.solve(bend, slope)
        beta += step
        if np.abs(step).max() < 1e-6:
            break
    coefficients = beta[1:] / spread
    return Likeness(intercept=float(beta[0] - coefficients @ mean), coefficients=coefficients)


def score(name: str, valid: Part, test: Part, model: Likeness) -> Score:
    """Choose a threshold on the validation part, and report the test part."""
    threshold = best_threshold(model.probabilities(valid.features), valid.same)
    chances = model.probabilities(test.features)
    precision, recall, f1 = _f1(chances >= threshold, test.same)
    sure = _f1(chances >= GardenConfig().merge_at, test.same)
    ngrams, fields = BASELINES[name]
    return Score(
        set=name,
        pairs=len(test.same),
        threshold=threshold,
        precision=precision,
        recall=recall,
        f1=f1,
        f1_at_half=_f1(chances >= 0.5, test.same)[2],
        sure_precision=sure[0],
        sure_recall=sure[1],
        ngrams=ngrams,
        fields=fields,
    )


def best_threshold(chances: Floats, same: NDArray[np.bool_]) -> float:
    """Return the middle of the thresholds with the best F1."""
    tried = np.linspace(0.05, 0.95, 91)
    found = np.array([_f1(chances >= one, same)[2] for one in tried])
    return float(np.median(tried[found >= found.max() - 1e-9]))


def _f1(said: NDArray[np.bool_], same: NDArray[np.bool_]) -> tuple[float, float, float]:
    right = int((said & same).sum())
    precision = right / max(1, int(said.sum()))
    recall = right / max(1, int(same.sum()))
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def measure(data: Path, *, refit: Path | None = None) -> list[Score]:
    """Score every set with the shipped model, or with one fitted anew and written to a file."""
    sets = {name: parts(data / "er" / name) for name in SETS}
    model = shipped() if refit is None else fitted({name: one["train"] for name, one in sets.items()})
    if refit is not None:
        refit.write_text(model.to_json() + "\n", encoding="utf-8")
    return [score(name, one["valid"], one["test"], model) for name, one in sets.items()]


def shown(scores: Sequence[Score]) -> str:
    """Return scores as text."""
    return "\n".join(_lines([asdict(one) for one in scores]))


def placed(page: str, scores: Sequence[Score], where: Mapping[str, Any]) -> str:
    """Return a results page with the figures in their section."""
    made = f"Measured {where['date']} on {where['machine']}."
    lines = _lines([asdict(one) for one in scores])
    return with_section(page, _TITLE, ["", *_INTRODUCTION, "", *lines, "", made])


def _lines(scores: Sequence[Mapping[str, Any]]) -> list[str]:
    head = (
        "set",
        "pairs",
        "threshold",
        "precision",
        "recall",
        "F1",
        "F1 at 0.5",
        "sure: precision",
        "recall",
        "F1 of trigrams",
        "F1 of fields",
    )
    numbers = ("precision", "recall", "f1", "f1_at_half", "sure_precision", "sure_recall", "ngrams", "fields")
    rows = [
        (one["set"], one["pairs"], f"{one['threshold']:.2f}", *(f"{one[name] * 100:.1f}" for name in numbers))
        for one in scores
    ]
    return table(head, rows)
