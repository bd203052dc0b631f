"""Rankers of texts: by the reranker that the package carries, by a cross-encoder's scores, by a generator."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.llm.contracts import Generator
from hydramem.llm.passage_reranker import ReadPassage, ReadPassages
from hydramem.search.rerank.rerank_prompt import SYSTEM, Ranking, rerank_prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedText:
    """A text to put in order.

    Attributes:
        spoken: Whether it is a turn of a conversation.
        before: What was said before a turn.
        score: The score by which it was found.
    """

    text: str
    spoken: bool = False
    before: str = ""
    score: float = 0.0


TextRanker = Callable[[str, Sequence[RankedText]], Sequence[int]]
"""Returns the places of texts, best first, from 0; a text that it leaves out comes after the others.

Raises `ModelError` where it has no order to give.
"""

_READING = 0.4
"""How much one in log odds counts, beside one standard deviation of the scores that texts were found by."""


def by_reading(read: ReadPassages) -> TextRanker:
    """Return a ranker by the log odds of passages, which count beside the scores they were found by.

    Turns exchange their places. Other texts keep theirs: an answer of several documents needs some that by
    themselves do not bear on the question, and those would come last.
    """

    def rank(query: str, texts: Sequence[RankedText]) -> Sequence[int]:
        turns = [place for place, one in enumerate(texts) if one.spoken]
        passages = [ReadPassage(text=texts[place].text, before=texts[place].before) for place in turns]
        scores = read(query, passages) if len(turns) > 1 else None
        places = list(range(len(texts)))
        if scores is None:
            return places
        found = np.array([texts[place].score for place in turns])
        found = (found - found.mean()) / (found.std() or 1.0)
        order = np.argsort(-(found + _READING * scores), kind="stable")
        for place, best in zip(turns, order.tolist(), strict=True):
            places[place] = turns[best]
        return places

    return rank


def by_score(score: Callable[[str, Sequence[str]], Sequence[float]]) -> TextRanker:
    """Return a ranker that orders texts by a score, higher first, ties as they were."""

    def rank(query: str, texts: Sequence[RankedText]) -> Sequence[int]:
        scores = score(query, [one.text for one in texts])
        return sorted(range(len(texts)), key=lambda place: -scores[place])

    return rank


def by_generator(generator: Generator) -> TextRanker:
    """Return a ranker that asks a generator, in one call, which candidates help and in what order.

    It raises ModelReplyError where a number is no candidate's, or comes twice.
    """

    def rank(query: str, texts: Sequence[RankedText]) -> Sequence[int]:
        prompt = rerank_prompt(query, [one.text for one in texts])
        reply = generator.generate(prompt, Ranking, system=SYSTEM).value
        wrong = [number for number in reply.numbers if not 1 <= number <= len(texts)]
        if wrong:
            raise ModelReplyError(f"{generator.name}: there is no candidate {wrong[0]}")
        if len(set(reply.numbers)) < len(reply.numbers):
            raise ModelReplyError(f"{generator.name}: a candidate is named twice")
        return [number - 1 for number in reply.numbers]

    return rank


def in_time(ranker: TextRanker, *, milliseconds: float) -> TextRanker:
    """Return a ranker that raises ModelError where the answer is late; a late answer is dropped."""
    seconds = max(0.0, milliseconds) / 1000
    working = threading.Lock()
    late = f"no answer within {milliseconds:.0f} ms (search.rerank_ms)"

    def rank(query: str, texts: Sequence[RankedText]) -> Sequence[int]:
        deadline = monotonic() + seconds
        # A late call is still running: a second one at the same time would delay both.
        if not working.acquire(timeout=seconds):
            raise ModelError(late)
        done = threading.Event()
        answers: list[Sequence[int]] = []
        failures: list[ModelError] = []

        def work() -> None:
            try:
                answers.append(ranker(query, texts))
            except ModelError as error:
                failures.append(error)
            finally:
                working.release()
                done.set()

        threading.Thread(target=work, name="hydramem-rerank", daemon=True).start()
        if not done.wait(max(0.0, deadline - monotonic())):
            raise ModelError(late)
        if failures:
            raise failures[0]
        if not answers:
            raise ModelError("the reranker broke off; the log or standard error says where")
        return answers[0]

    return rank
