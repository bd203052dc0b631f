"""The pair classifier: what a new memory is to an old one, by a small cross-encoder that the package carries.

All-MiniLM-L6-v2, fine-tuned on pairs of short English texts (`benchmarks/train_pairs`). It never decides by
itself that a memory ends: it ranks, links and asks. `data/pairs/card.json` has its labels, its calibration,
the bounds from which it is believed, and how it does on pairs of other authors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.llm.held_model import HeldModel
from hydramem.llm.local_embedder import model_errors
from hydramem.llm.pair_model import PairModel, raw_scores
from hydramem.text.english import is_english
from hydramem.text.surrogates import well_formed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_MODEL = PairModel(name="pair classifier", file="pairs/pairs.onnx")
_MOST_CHARS = 1000
_MOST_TOKENS = 128
"""Of a pair. It learnt from texts of a sentence or two: of longer ones it says nothing."""

_PAIRS_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PairJudgement:
    """How likely each thing is that a new text may be to an old one; they add up to 1.

    Attributes:
        update: It replaces the old text: both cannot hold, and the matter changes in the course of time.
        duplicate: It says the same, or less.
        refine: It says the same, and more.
        contradict: Both cannot hold, and the matter does not change.
        unrelated: Both stay.
    """

    update: float
    duplicate: float
    refine: float
    contradict: float
    unrelated: float

    @property
    def supersedes(self) -> float:
        """How likely the old text does not hold beside the new one."""
        return self.update + self.contradict


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBounds:
    """Probabilities from which a judgement is acted on; below all of them nothing is said.

    Attributes:
        supersedes: From which a new memory may supersede the old one.
        ends: From which it is believed that one text ends another, as its words say.
        duplicate: From which it says the same.
        refine: From which it extends the old one.
        near: From which a caller is told of the old memory at all.
    """

    supersedes: float
    ends: float
    duplicate: float
    refine: float
    near: float


JudgePairs = Callable[[str, Sequence[str]], Sequence[PairJudgement | None]]
"""Judges a new text against old ones; None where a pair is too long, or not English.

Raises `ModelError` where the model failed.
"""


def judge_none(new: str, old: Sequence[str]) -> Sequence[PairJudgement | None]:
    """Judge nothing: for where no classifier is used."""
    return [None] * len(old)


class PairClassifier:
    """Runs the model in this process; loads it once, at first use, whichever thread asks."""

    def __init__(self, model: PairModel | None = None) -> None:
        self._model = model or _MODEL

    @property
    def held(self) -> "HeldModel[tuple[InferenceSession, Tokenizer]]":
        """The model, in memory or not."""
        return self._model.held

    def __call__(self, new: str, old: Sequence[str]) -> Sequence[PairJudgement | None]:
        """Judge a new text against old ones.

        Raises:
            ModelError: The model's file is missing or damaged, or it failed.
        """
        return self.judge_pairs([(new, text) for text in old])

    def judge_pairs(self, pairs: Sequence[tuple[str, str]]) -> Sequence[PairJudgement | None]:
        """Judge pairs of a new and an old text, those of a length together: twice as fast as one by one.

        Raises:
            ModelError: The model's file is missing or damaged, or it failed.
        """
        found: list[PairJudgement | None] = [None] * len(pairs)
        short = [place for place, (new, old) in enumerate(pairs) if can_judge(new, old)]
        if not short:
            return found
        session, tokenizer = self._model.opened()
        with model_errors(_MODEL.name):
            texts = [(well_formed(old), well_formed(new)) for new, old in (pairs[place] for place in short)]
            encodings = dict(zip(short, tokenizer.encode_batch(texts), strict=True))
            fitting = [place for place in short if len(encodings[place].ids) <= _MOST_TOKENS]
            fitting.sort(key=lambda place: len(encodings[place].ids))
            for start in range(0, len(fitting), _PAIRS_AT_ONCE):
                some = fitting[start : start + _PAIRS_AT_ONCE]
                rows = _probabilities(raw_scores(session, [encodings[place] for place in some]))
                for place, row in zip(some, rows, strict=True):
                    found[place] = PairJudgement(**dict(zip(card()["labels"], row, strict=True)))
        return found


@cache
def shared_classifier() -> PairClassifier:
    """Return the classifier of this process: stores share one, since its model takes memory."""
    return PairClassifier()


def can_judge(new: str, old: str) -> bool:
    """Say whether the classifier can judge two texts: both are short, and English together."""
    return max(len(new), len(old)) <= _MOST_CHARS and is_english(f"{old} {new}")


def _probabilities(scores: NDArray[np.float64]) -> list[list[float]]:
    """Return rows of calibrated probabilities, in the order of the card's labels."""
    scores = scores / card()["temperature"]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    rows: list[list[float]] = (powers / powers.sum(axis=1, keepdims=True)).tolist()
    return rows


def card() -> dict[str, Any]:
    """Return the data card of the model: its labels, calibration and held-out table."""
    return _MODEL.card


def bounds() -> PairBounds:
    """Return the probabilities from which a judgement is acted on, as the data card has them."""
    return PairBounds(**card()["bounds"])
