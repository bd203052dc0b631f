"""Fit how likely two memories say the same: python -m benchmarks.aging.fit_same [--test FILE ...].

Two authors' memories that aged show what is near to what; a third's texts have beside each what says the
same, the opposite and what holds since, in other words. What is reported of each was fitted on the others.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.aging.ailments import TOGETHER, cases_of
from benchmarks.aging.rest import rest_of
from benchmarks.aging.texts import TEXTS, one_line, read_texts
from hydramem.core.config import EmbeddingConfig
from hydramem.garden.phases.supersede.replacement_probability import crowd_of
from hydramem.garden.phases.supersede.same_probability import (
    LEAST_JOINED,
    SameFeatures,
    same_features,
)
from hydramem.ingest.memories.similarity import background, nearness
from hydramem.llm.choose import choose_embedder
from hydramem.llm.pair_classifier import shared_classifier
from hydramem.text.restated_text import can_restate, nothing_decisive_differs, overlap

RESTATED = Path(__file__).parents[1] / "data" / "restated"
Label = Literal["same", "state", "opposite", "changed", "other"]
Scores = NDArray[np.float64]

_NEIGHBOURS, _TURNS = 8, 800
_STATE_WEIGHT, _RESTATED_WEIGHT = 5.0, 3.0
"""What a pair of two states of one fact, and one of the texts written for this, weigh in the fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts, what the one is to the other, what shows it, and what it weighs in the fit."""

    author: str
    label: Label
    features: SameFeatures
    can_be_joined: bool
    weight: float


class PairReader:
    """Reads pairs of near texts with the package's own models."""

    def __init__(self) -> None:
        self._embed = choose_embedder(EmbeddingConfig()).embed_documents
        self._judge = shared_classifier()
        self._least = background(self._embed)

    def near_pairs(
        self,
        author: str,
        texts: Sequence[str],
        label: Callable[[int, int], Label | None],
        weight: float = 1.0,
    ) -> Iterator[LabelledPair]:
        """Yield the pairs of near texts that have a label."""
        table = np.asarray(self._embed(texts), dtype=np.float32)
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        cosines = table @ table.T
        np.fill_diagonal(cosines, -1.0)
        near = np.argsort(-cosines, axis=1)[:, :_NEIGHBOURS]
        scores = [
            [nearness(float(cosines[at, to]), self._least) for to in near[at]] for at in range(len(texts))
        ]
        crowds = [crowd_of(each) for each in scores]
        for one, others in enumerate(near.tolist()):
            for other, score in zip(others, scores[one], strict=True):
                what = label(one, other)
                if what is None or (one > other and one in near[other]):
                    continue
                (forth,), (back,) = (
                    self._judge(texts[other], [texts[one]]),
                    self._judge(texts[one], [texts[other]]),
                )
                if forth is None or back is None:
                    continue
                features = same_features(
                    forth,
                    back,
                    nearness=score,
                    crowds=(crowds[one], crowds[other]),
                    nearest=int(near[one][0] == other) + int(near[other][0] == one),
                    may_restate=can_restate(texts[one], texts[other]),
                    shared=overlap(texts[one], texts[other]),
                )
                joined = nothing_decisive_differs(texts[one], texts[other])
                yield LabelledPair(
                    author=author,
                    label=what,
                    features=features,
                    can_be_joined=joined,
                    weight=_STATE_WEIGHT if what == "state" else weight,
                )


def aged_pairs(reader: PairReader, author: Path, turns: Sequence[str]) -> list[LabelledPair]:
    """Return the near pairs of an author's memory that aged, among turns of conversations."""
    case = cases_of(read_texts(author.parent, author=author.name), seed=0)[TOGETHER]
    texts = list(dict.fromkeys((*(one_line(each.text) for each in case.aged.told), *turns)))
    group = {text: number for number, same in enumerate(case.same) for text in same}
    fact = {text: number for number, states in enumerate(case.changed) for text in states}

    def label(one: int, other: int) -> Label | None:
        pair = texts[one], texts[other]
        if len({group.get(text, text) for text in pair}) == 1:
            return "same"
        return "state" if len({fact.get(text, text) for text in pair}) == 1 else "other"

    return list(reader.near_pairs(author.name, texts, label))


def restated_pairs(reader: PairReader, file: Path, turns: Sequence[str]) -> list[LabelledPair]:
    """Return the pairs of an author who wrote what says the same, the opposite, and what holds since."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    kinds: tuple[tuple[str, Label], ...] = (
        ("again", "same"),
        ("opposite", "opposite"),
        ("changed", "changed"),
    )
    found: list[LabelledPair] = []
    for kind, meant in kinds:
        texts = [*(one_line(row["text"]) for row in rows), *(one_line(row[kind]) for row in rows), *turns]
        wanted = {frozenset((place, place + len(rows))) for place in range(len(rows))}

        def label(
            one: int, other: int, wanted: set[frozenset[int]] = wanted, meant: Label = meant
        ) -> Label | None:
            return meant if frozenset((one, other)) in wanted else None

        found += reader.near_pairs(file.stem, texts, label, _RESTATED_WEIGHT)
    return found


def fitted(pairs: Sequence[LabelledPair]) -> tuple[Scores, float]:
    """Return weights of the parts of `SameFeatures`, and an intercept."""
    values = _values(pairs)
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    same, weighs = [pair.label == "same" for pair in pairs], [pair.weight for pair in pairs]
    model = LogisticRegression(max_iter=5000).fit((values - mean) / spread, same, sample_weight=weighs)
    weights: Scores = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ mean)


def _values(pairs: Sequence[LabelledPair]) -> Scores:
    return np.array([astuple(pair.features) for pair in pairs], dtype=np.float64)


def joined(pairs: Sequence[LabelledPair], weights: Scores, intercept: float) -> dict[str, tuple[int, int]]:
    """Return how many pairs of each label are joined, and how many there are."""
    chance = 1 / (1 + np.exp(-(_values(pairs) @ weights + intercept)))
    counts: dict[str, tuple[int, int]] = {}
    for pair, likely in zip(pairs, chance, strict=True):
        some, every = counts.get(pair.label, (0, 0))
        counts[pair.label] = some + int(pair.can_be_joined and likely >= LEAST_JOINED), every + 1
    return counts


def main() -> None:
    """Fit, and print the weights with what they join of each author."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the sets; else HYDRAMEM_BENCH_DATA")
    parser.add_argument("--test", nargs="*", type=Path, default=(), help="texts that nothing was fitted on")
    given = parser.parse_args()
    turns = rest_of(Path(given.data or os.environ["HYDRAMEM_BENCH_DATA"]), _TURNS, seed=0).memories
    reader = PairReader()
    by_author = {
        folder.name: aged_pairs(reader, folder, turns)
        for folder in sorted(TEXTS.iterdir())
        if folder.is_dir()
    }
    by_author |= {file.stem: restated_pairs(reader, file, turns) for file in sorted(RESTATED.glob("*.jsonl"))}
    for author, own in by_author.items():
        others = [pair for name, pairs in by_author.items() if name != author for pair in pairs]
        print(f"{author}, fitted on the others: {joined(own, *fitted(others))}")
    weights, intercept = fitted([pair for pairs in by_author.values() for pair in pairs])
    for file in given.test:
        print(f"{file.stem}, unread: {joined(restated_pairs(reader, file, turns), weights, intercept)}")
    print("intercept", round(intercept, 3), "weights", tuple(weights.round(3).tolist()))


if __name__ == "__main__":
    main()
