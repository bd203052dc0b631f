"""The reranker that the package carries: how well a passage answers a question, by reading both together.

The encoder of the pair classifier, fine-tuned on questions and passages (`benchmarks/train_reranker`).
`data/reranker/card.json` has what it was trained on and how it does on sets that were left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hydramem.llm.local_embedder import model_errors
from hydramem.llm.pair_model import PairModel, raw_scores
from hydramem.text.english import is_english
from hydramem.text.surrogates import well_formed

MOST_TOKENS = 104
"""Word pieces of a question and a passage together; the longer of the two is cut first."""

_WORDS_BEFORE, _MOST_WORDS, _MOST_CHARS = 24, 100, 1200
_MODEL = PairModel(name="reranker", file="reranker/reranker.onnx", most_tokens=MOST_TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPassage:
    """A passage, and in a conversation what was said before it, which it may answer."""

    text: str
    before: str = ""


ReadPassages = Callable[[str, Sequence[ReadPassage]], NDArray[np.float64] | None]
"""Scores passages by a question, log odds of shape (passages,); None where it cannot read them.

Raises `ModelError` where the model failed.
"""


class PassageReranker:
    """Runs the model in this process; loads it once, at first use, whichever thread asks."""

    def __init__(self, model: PairModel = _MODEL) -> None:
        self._model = model

    def __call__(self, query: str, passages: Sequence[ReadPassage]) -> NDArray[np.float64] | None:
        """Return a score for each passage, of shape (passages,); higher answers better.

        Scores are log odds up to a constant of the question. None where the passages are not English, which
        is all that it learnt.

        Raises:
            ModelError: The model's file is missing or damaged, or it failed.
        """
        if not is_english(" ".join(one.text[:_MOST_CHARS] for one in passages)):
            return None
        session, tokenizer = self._model.opened()
        with model_errors(self._model.name):
            pairs = [(shown_query(query), shown_passage(one)) for one in passages]
            encodings = tokenizer.encode_batch(pairs)
            # One at a time: 8-bit values are scaled over a batch, so that the others would change a score.
            return np.array([raw_scores(session, [one])[0, 0] for one in encodings])


@cache
def shared_reranker() -> PassageReranker:
    """Return the reranker of this process: stores share one, since its model takes memory."""
    return PassageReranker()


def shown_query(query: str) -> str:
    """Return what of a question the model reads."""
    return " ".join(well_formed(query[:_MOST_CHARS]).split()[:_MOST_WORDS])


def shown_passage(passage: ReadPassage) -> str:
    """Return what of a passage the model reads: the end of what was said before, a bar, and its text."""
    text = " ".join(well_formed(passage.text[:_MOST_CHARS]).split()[:_MOST_WORDS])
    before = " ".join(well_formed(passage.before[-_MOST_CHARS:]).split()[-_WORDS_BEFORE:])
    return f"{before} | {text}" if before else text
