"""Fine-tuning of the reranker on a CPU: a right passage must score above wrong ones of the same question.

The loss is the cross entropy of the right passage among all that are shown (ListNet with one right answer,
Cao et al., 2007). Wrong ones are mostly those that recall puts first.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from benchmarks.train_pairs.encoder import PairEncoder
from benchmarks.train_pairs.fine_tune import fine_tune
from benchmarks.train_pairs.train import arrays
from benchmarks.train_reranker.questions import Question
from hydramem.llm.passage_reranker import MOST_TOKENS, ReadPassage, shown_passage, shown_query

_QUESTIONS, _IN_ONE_SORT = 6, 240
_NEAR, _NEAR_SHOWN, _FAR_SHOWN = 18, 5, 2
_WARM_UP = 40
_AS_KEYWORDS = 0.12
"""Share of the questions that are shown in lower case and without a question mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A question with the passages of one step of training, the right one first."""

    query: str
    passages: tuple[ReadPassage, ...]


def tokenizer(path: str) -> Tokenizer:
    """Return the tokenizer of the carried model, which cuts the longer text first."""
    opened = Tokenizer.from_file(path)
    opened.no_padding()
    opened.enable_truncation(MOST_TOKENS, strategy="longest_first")
    return opened


def train(
    model: PairEncoder,
    questions: Sequence[Question],
    *,
    words: Tokenizer,
    epochs: float,
    seconds: float,
    rate: float = 1.0,
    seed: int = 0,
) -> None:
    """Fine-tune a model in place.

    Args:
        epochs: How often each question is seen, at most.
        seconds: How long to train, at most; the rate falls to zero by whichever comes first.
        rate: Factor of the learning rates; less than 1 to go on from trained weights.
    """
    draw = random.Random(seed)
    torch.manual_seed(seed)
    trained = [one for one in questions if draw_passages(one, random.Random(0)) is not None]

    def loss_of(batch: list[Shown]) -> Tensor:
        pairs = [(one.query, shown_passage(passage)) for one in batch for passage in one.passages]
        with torch.autocast("cpu", torch.bfloat16):
            scores = model(*arrays(words.encode_batch(pairs))).float()[:, 0]
        lists = scores.split([len(one.passages) for one in batch])
        first = torch.tensor([0])
        return torch.stack([nn.functional.cross_entropy(one[None], first) for one in lists]).mean()

    fine_tune(
        model,
        lambda: _batches(trained, draw),
        loss_of,
        steps=max(1, round(epochs * len(trained) / _QUESTIONS)),
        seconds=seconds,
        warm_up=_WARM_UP,
        rate=rate,
    )
    model.eval()


def draw_passages(question: Question, draw: random.Random) -> Shown | None:
    """Draw a right passage and wrong ones, mostly near ones; None where there are too few."""
    right = [one.passage for one in question.candidates if one.right]
    wrong = [one.passage for one in question.candidates if not one.right]
    if not right or len(wrong) < 3:
        return None
    near, far = wrong[:_NEAR], wrong[_NEAR:]
    chosen = (
        draw.choice(right),
        *draw.sample(near, min(_NEAR_SHOWN, len(near))),
        *draw.sample(far, min(_FAR_SHOWN, len(far))),
    )
    query = shown_query(question.query)
    if draw.random() < _AS_KEYWORDS:
        query = query.lower().rstrip("?")
    return Shown(query=query, passages=chosen)


def _batches(questions: Sequence[Question], draw: random.Random) -> Iterator[list[Shown]]:
    """Yield batches of questions whose passages are of like length, in chance order."""
    order = list(questions)
    draw.shuffle(order)
    shown = [one for question in order if (one := draw_passages(question, draw)) is not None]
    batches: list[list[Shown]] = []
    for start in range(0, len(shown), _IN_ONE_SORT):
        window = sorted(shown[start : start + _IN_ONE_SORT], key=lambda one: len(one.passages[0].text))
        batches += [window[place : place + _QUESTIONS] for place in range(0, len(window), _QUESTIONS)]
    draw.shuffle(batches)
    yield from batches
