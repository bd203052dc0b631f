"""Fit the weights that come with the package: python -m benchmarks.fit_weights --data DIR [--out FILE].

What the graph says and what passages say are fitted apart, each on balanced classes, so that their log-odds
add up where both are known and either stands alone where the other is missing. Each part is then scaled so
that, on claims that it was not fitted on, nearly all that reach the accept threshold hold and nearly all
under the reject threshold do not. Labels of the parts that `python -m benchmarks verification` reports on are
never read.
"""

import argparse
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import GRAPHS, Labelled, candidate, of_graph, of_passages, with_text
from hydramem.core.config import VerificationConfig
from hydramem.core.row_types import RelationCandidate
from hydramem.text.relation_words import stem, type_wording
from hydramem.text.sentences import sentence_spans
from hydramem.verification.first_stage import first_stage, graph_features, text_features
from hydramem.verification.first_stage.weights import Weights

# The graph as it is, with made-up types of entities, and as it was when young: (share kept, types, weight).
_AGES = ((1.0, False, 1.0), (1.0, True, 0.1), (0.3, False, 0.1))
# Shares of what is accepted, and rejected, that must be right on claims that were not fitted on.
_GRAPH_RIGHT, _TEXT_RIGHT = (0.965, 0.94), (0.95, 0.95)
_FOLDS = 5
_SOFT = 0.3
# By hand, as no labelled set can tell: none has types that name nothing, nor claims that several documents
# state; and in a young graph the ends of what is true are as unknown as those of what is not.
_BY_HAND = {"named": 0.2, "isolated": -0.15, "evidence": 0.5}
_SYMMETRIC = frozenset(["spouse", "sibling"])
_COPULA = re.compile(r"is|was|are|were")
_WORD = re.compile(r"\w+")

Floats = NDArray[np.float64]
Spoiler = Callable[[RelationCandidate, RelationCandidate], RelationCandidate | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Examples.

    Attributes:
        features: Shape (rows, features).
        weights: How much each counts in the fit.
        groups: Rows of one group are never fitted on and looked at at once.
        sets: The set that each is of; empty where it is made up, and thresholds are not set by it.
    """

    features: Floats
    true: NDArray[np.bool_]
    weights: Floats
    groups: NDArray[np.str_]
    sets: NDArray[np.str_]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit the weights and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder of the sets")
    parser.add_argument("--out", default="hydramem/data/verification.json", type=Path)
    parser.add_argument("--version", default="1")
    given = parser.parse_args(arguments)
    weights = fit(given.data, version=given.version)
    given.out.write_text(weights.to_json(), encoding="utf-8")
    return 0


def fit(data: Path, *, version: str) -> Weights:
    """Return weights fitted on the sets in a folder."""
    settings = VerificationConfig()
    bounds = settings.reject_below, settings.accept_at
    by_graph = _fitted(_graph_rows(data / "kg"), graph_features.NAMES, "topology", bounds, _GRAPH_RIGHT)
    by_text = _fitted(_text_rows(data), text_features.NAMES, "text", bounds, _TEXT_RIGHT)
    known = by_graph | by_text | _BY_HAND
    return Weights(
        version=version,
        names=first_stage.NAMES,
        coefficients=tuple(round(known.get(name, 0.0), 4) for name in first_stage.NAMES),
        intercept=-_BY_HAND["named"],
    )


def _graph_rows(folder: Path) -> Rows:
    parts = []
    for name in GRAPHS:
        for keep, kinds, weight in _AGES:
            parts.append(_rows(of_graph(folder / name, "valid", keep=keep, kinds=kinds), weight))
    return _together(parts)


def _text_rows(data: Path) -> Rows:
    told = of_passages(data, "fit")
    half = len(told.candidates) // 2
    others = told.candidates[half:] + told.candidates[:half]
    moved = replace(told, candidates=tuple(map(_amid, told.candidates, others)))
    spoilt = [_spoilt(told, how) for how in _SPOILERS]
    return _together([_rows(told, 1.0), _rows(moved, 0.3), *(_rows(each, 0.08) for each in spoilt)])


def _rows(labelled: Labelled, weight: float) -> Rows:
    found = first_stage.features(labelled.candidates, labelled.snapshot).astype(np.float64)
    size = len(labelled.true)
    # Classes count the same, and so do sets of different sizes.
    share = np.where(labelled.true, labelled.true.sum(), (~labelled.true).sum()) * 2.0
    return Rows(
        features=found,
        true=labelled.true,
        weights=weight * 1000 / share
        if 0 < labelled.true.sum() < size
        else np.full(size, weight * 1000 / size),
        groups=np.array([f"{labelled.name} {group}" for group in labelled.groups]),
        sets=np.full(size, labelled.name if weight == 1 else ""),
    )


def _together(parts: Sequence[Rows]) -> Rows:
    true = np.concatenate([part.true for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    weights[true] *= weights[~true].sum() / weights[true].sum()
    return Rows(
        features=np.concatenate([part.features for part in parts]),
        true=true,
        weights=weights / weights.mean(),
        groups=np.concatenate([part.groups for part in parts]),
        sets=np.concatenate([part.sets for part in parts]),
    )


def _amid(each: RelationCandidate, other: RelationCandidate) -> RelationCandidate:
    """Put what a passage says behind another, its title left out: most text is about several things."""
    own, before = each.passages[0], other.passages[0].text.partition("\n")[2]
    said = with_text(own, f"{before} {own.text.partition(chr(10))[2]}")
    return candidate((each.subject.name, each.relation.type, each.object.name), said)


# Claims made wrong on purpose -------------------------------------------------------------------


def _negated(each: RelationCandidate, other: RelationCandidate) -> RelationCandidate | None:
    """Put a "not" before the word that states the relation, or after the copula that does."""
    passage, place = each.passages[0], each.passages[0].text.rfind(each.object.name)
    cues = type_wording(each.relation.type).cues
    for begin, end in sentence_spans(passage.text):
        if begin <= place < end:
            words = list(_WORD.finditer(passage.text, begin, place))
            cuts = [word.start() for word in words if stem(word.group()) in cues]
            cuts += [word.end() for word in words if "=" in cues and _COPULA.fullmatch(word.group())]
            if cuts:
                cut = max(cuts)
                said = with_text(passage, f"{passage.text[:cut]} not {passage.text[cut:]}")
                return candidate((each.subject.name, each.relation.type, each.object.name), said)
    return None


def _of_another(each: RelationCandidate, other: RelationCandidate) -> RelationCandidate | None:
    """Claim it of someone whom the passage does not name."""
    if other.subject.name in each.passages[0].text:
        return None
    return candidate((other.subject.name, each.relation.type, each.object.name), each.passages[0])


def _turned(each: RelationCandidate, other: RelationCandidate) -> RelationCandidate | None:
    """Claim it the other way round."""
    if each.relation.type in _SYMMETRIC:
        return None
    return candidate((each.object.name, each.relation.type, each.subject.name), each.passages[0])


_SPOILERS: tuple[Spoiler, ...] = (_negated, _of_another, _turned)


def _spoilt(told: Labelled, how: Spoiler) -> Labelled:
    true = np.flatnonzero(told.true).tolist()
    made = [
        (place, how(told.candidates[place], told.candidates[other]))
        for place, other in zip(true, [*true[1:], true[0]], strict=True)
    ]
    kept = [(place, each) for place, each in made if each is not None]
    return Labelled(
        name=told.name,
        snapshot=told.snapshot,
        candidates=tuple(each for _, each in kept),
        true=np.zeros(len(kept), dtype=np.bool_),
        kinds=("spoilt",) * len(kept),
        groups=tuple(told.groups[place] for place, _ in kept),
    )


# The fit ----------------------------------------------------------------------------------------


def _fitted(
    rows: Rows,
    names: Sequence[str],
    present: str,
    bounds: tuple[float, float],
    enough: tuple[float, float],
) -> dict[str, float]:
    """Fit one part, and return its coefficients; `present` carries its intercept."""
    columns = [first_stage.NAMES.index(name) for name in names if name not in (present, *_BY_HAND)]
    there = rows.features[:, first_stage.NAMES.index(present)] > 0
    scores = np.zeros(len(there))
    fold = np.array([zlib.crc32(f"fold {group}".encode()) % _FOLDS for group in rows.groups])
    for each in range(_FOLDS):
        coefficients, intercept = _logistic(rows, columns, there & (fold != each))
        mine = fold == each
        scores[mine] = rows.features[mine][:, columns] @ coefficients + intercept
    marks = [
        _marks(scores[there & (rows.sets == name)], rows.true[there & (rows.sets == name)], enough)
        for name in sorted(set(rows.sets.tolist()) - {""})
    ]
    scale, shift = _through(min(low for low, _ in marks), max(high for _, high in marks), bounds)
    coefficients, intercept = _logistic(rows, columns, there)
    found = {
        first_stage.NAMES[column]: scale * value for column, value in zip(columns, coefficients, strict=True)
    }
    return found | {present: scale * intercept + shift}


def _logistic(rows: Rows, columns: list[int], chosen: NDArray[np.bool_]) -> tuple[Floats, float]:
    from sklearn.linear_model import LogisticRegression

    features = rows.features[chosen][:, columns]
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread < 1e-9] = 1.0
    model = LogisticRegression(C=_SOFT, max_iter=3000)
    model.fit((features - mean) / spread, rows.true[chosen], sample_weight=rows.weights[chosen])
    coefficients = model.coef_[0] / spread
    return coefficients, float(model.intercept_[0] - coefficients @ mean)


def _marks(scores: Floats, true: NDArray[np.bool_], enough: tuple[float, float]) -> tuple[float, float]:
    """Return the score under which nearly all claims of a set are false, and that from which they hold."""
    order = np.argsort(-scores)
    right = np.cumsum(true[order]) / np.arange(1, len(order) + 1)
    wrong = np.cumsum(~true[order][::-1]) / np.arange(1, len(order) + 1)
    high = scores[order][max(_last(right >= enough[0]), 0)]
    low = scores[order][::-1][max(_last(wrong >= enough[1]), 0)]
    return float(min(low, high - 0.1)), float(high)


def _last(mask: NDArray[np.bool_]) -> int:
    places = np.flatnonzero(mask)
    return int(places[-1]) if len(places) else -1


def _through(low: float, high: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the scale and shift that lead two scores to the log-odds of the two thresholds."""
    under, over = (float(np.log(bound / (1 - bound))) for bound in bounds)
    scale = (over - under) / (high - low)
    return scale, over - scale * high


if __name__ == "__main__":
    raise SystemExit(main())
