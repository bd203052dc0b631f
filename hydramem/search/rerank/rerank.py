"""Rerank: read the best candidates together with the question, within a budget of milliseconds.

Off by default. A local cross-encoder scores each text; a generator puts them in order in one call. A reply
that is late or cannot be used leaves the order as it was, and the recall's result gives the reason.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from hydramem.core.config import EmbeddingConfig, SearchConfig
from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.llm.contracts import Generator
from hydramem.llm.cross_encoder import open_cross_encoder
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.rerank.rerank_prompt import SYSTEM, Ranking, rerank_prompt
from hydramem.storage.vector_rows import indexed_text

TextRanker = Callable[[str, Sequence[str]], Sequence[int]]
"""Returns the places of texts, best first, from 0; a text that it leaves out comes after the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Places of the texts in their new order; `skipped` says why the old order was kept."""

    places: tuple[int, ...]
    skipped: str | None = None


class Reranker:
    """Runs one ranking at a time, each within its budget. Safe to use from many threads.

    Args:
        load: Returns the ranker, None where no model is configured; called once, outside the budget.
        milliseconds: The budget of a call.
    """

    def __init__(self, load: Callable[[], TextRanker | None], *, milliseconds: float) -> None:
        self._load = load
        self._seconds = max(0.0, milliseconds) / 1000
        self._loading = threading.Lock()
        self._working = threading.Lock()
        self._ranker: TextRanker | None = None

    def order(self, query: str, texts: Sequence[str]) -> Order:
        """Return the texts' order.

        Raises:
            ConfigError: The configured model does not exist.
            ModelUnavailableError: The configured model is not on this machine.
        """
        unchanged = tuple(range(len(texts)))
        if len(texts) < 2:
            return Order(places=unchanged)
        ranker = self._loaded()
        if ranker is None:
            return Order(places=unchanged, skipped="rerank: no generator is configured; set llm.provider")
        try:
            ranked = self._in_time(ranker, query, texts)
        except ModelError as error:
            return Order(places=unchanged, skipped=f"rerank: {error}")
        if ranked is None:
            late = f"rerank: no answer within {self._seconds * 1000:.0f} ms (search.rerank_ms)"
            return Order(places=unchanged, skipped=late)
        return Order(places=tuple(dict.fromkeys((*ranked, *unchanged))))

    def _loaded(self) -> TextRanker | None:
        with self._loading:
            if self._ranker is None:
                self._ranker = self._load()
            return self._ranker

    def _in_time(self, ranker: TextRanker, query: str, texts: Sequence[str]) -> Sequence[int] | None:
        """Return the ranker's answer, None where it is late; a late answer is dropped."""
        deadline = monotonic() + self._seconds
        # A late call is still running: a second one at the same time would delay both.
        if not self._working.acquire(timeout=self._seconds):
            return None
        done = threading.Event()
        answers: list[Sequence[int]] = []
        failures: list[ModelError] = []

        def work() -> None:
            try:
                answers.append(ranker(query, texts))
            except ModelError as error:
                failures.append(error)
            finally:
                self._working.release()
                done.set()

        threading.Thread(target=work, name="hydramem-rerank", daemon=True).start()
        if not done.wait(max(0.0, deadline - monotonic())):
            return None
        if failures:
            raise failures[0]
        if not answers:
            raise ModelError("the reranker broke off; the log or standard error says where")
        return answers[0]


def reordered(
    query: str, candidates: Sequence[RecallCandidate], reranker: Reranker, *, most: int
) -> tuple[tuple[RecallCandidate, ...], tuple[str, ...]]:
    """Put candidates in a reranker's order.

    Args:
        query, candidates: What was asked, and the candidates, best first.
        reranker: Reads the first of them.
        most: How many it reads; the others keep their order after them.

    Returns:
        The candidates, and why the stage was skipped, where it was.
    """
    order = reranker.order(query, [indexed_text(one.chunk) for one in candidates[:most]])
    moved = tuple(
        candidates[old] if old == new else replace(candidates[old], moved_from=old + 1)
        for new, old in enumerate(order.places)
    )
    return (*moved, *candidates[most:]), (() if order.skipped is None else (order.skipped,))


def choose_reranker(
    settings: SearchConfig, embedding: EmbeddingConfig, generator: Callable[[], Generator | None]
) -> Reranker | None:
    """Return the configured reranker, None where none is configured. Loads no model yet.

    Args:
        settings: The section `search` of the configuration.
        embedding: Whose `threads` the cross-encoder uses too.
        generator: Returns the generator of the role `rerank`.
    """
    name = settings.rerank.strip()
    if name.casefold() in ("", "none"):
        return None

    def load() -> TextRanker | None:
        if name.casefold() != "llm":
            return by_score(open_cross_encoder(name, threads=embedding.threads))
        chosen = generator()
        return None if chosen is None else by_generator(chosen)

    return Reranker(load, milliseconds=settings.rerank_ms)


def by_score(score: Callable[[str, Sequence[str]], Sequence[float]]) -> TextRanker:
    """Return a ranker that orders texts by a score, higher first, ties as they were."""

    def rank(query: str, texts: Sequence[str]) -> Sequence[int]:
        scores = score(query, texts)
        return sorted(range(len(texts)), key=lambda place: -scores[place])

    return rank


def by_generator(generator: Generator) -> TextRanker:
    """Return a ranker that asks a generator, in one call, which candidates help and in what order.

    It raises ModelReplyError where a number is no candidate's, or comes twice.
    """

    def rank(query: str, texts: Sequence[str]) -> Sequence[int]:
        reply = generator.generate(rerank_prompt(query, texts), Ranking, system=SYSTEM).value
        wrong = [number for number in reply.numbers if not 1 <= number <= len(texts)]
        if wrong:
            raise ModelReplyError(f"{generator.name}: there is no candidate {wrong[0]}")
        if len(set(reply.numbers)) < len(reply.numbers):
            raise ModelReplyError(f"{generator.name}: a candidate is named twice")
        return [number - 1 for number in reply.numbers]

    return rank
