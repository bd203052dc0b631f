"""Rerank: read the best candidates together with the question.

A reranker that has no order to give leaves the order as it was, and the recall's result says why.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.config import EmbeddingConfig, SearchConfig
from hydramem.core.errors import ModelError
from hydramem.llm.contracts import Generator
from hydramem.llm.cross_encoder import open_cross_encoder
from hydramem.llm.passage_reranker import shared_reranker
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.rerank.text_rankers import (
    RankedText,
    TextRanker,
    by_generator,
    by_reading,
    by_score,
    in_time,
)
from hydramem.storage.vector_rows import indexed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPlaces:
    """Places of the texts in their new order; `skipped` says why the old order was kept."""

    places: tuple[int, ...]
    skipped: str | None = None


class Reranker:
    """Puts texts in order. Safe to use from many threads.

    Args:
        load: Returns the ranker, None where no model is configured; called once.
    """

    def __init__(self, load: Callable[[], TextRanker | None]) -> None:
        self._load = load
        self._loading = threading.Lock()
        self._ranker: TextRanker | None = None

    def order(self, query: str, texts: Sequence[RankedText]) -> RankedPlaces:
        """Return the texts' order.

        Raises:
            ConfigError: The configured model does not exist.
            ModelUnavailableError: The configured model is not on this machine.
        """
        unchanged = tuple(range(len(texts)))
        if len(texts) < 2:
            return RankedPlaces(places=unchanged)
        ranker = self._loaded()
        if ranker is None:
            return RankedPlaces(
                places=unchanged, skipped="rerank: no generator is configured; set llm.provider"
            )
        try:
            ranked = ranker(query, texts)
        except ModelError as error:
            return RankedPlaces(places=unchanged, skipped=f"rerank: {error}")
        return RankedPlaces(places=tuple(dict.fromkeys((*ranked, *unchanged))))

    def _loaded(self) -> TextRanker | None:
        with self._loading:
            if self._ranker is None:
                self._ranker = self._load()
            return self._ranker


def reordered(
    query: str,
    candidates: Sequence[RecallCandidate],
    reranker: Reranker,
    *,
    most: int,
    before: Mapping[str, str],
) -> tuple[tuple[RecallCandidate, ...], tuple[str, ...]]:
    """Put candidates in a reranker's order; they exchange their scores.

    The part `rerank` of a score is what it gained or lost.

    Args:
        query, candidates: What was asked, and the candidates, best first.
        reranker: Reads the first of them.
        most: How many it reads; the others keep their order after them.
        before: By the id of a turn's chunk, what was said before it.

    Returns:
        The candidates, and why the stage was skipped, where it was.
    """
    texts = [
        RankedText(
            text=indexed_text(one.chunk),
            spoken=one.chunk.kind == "turn",
            before=before.get(one.chunk.id, ""),
            score=one.fused.score,
        )
        for one in candidates[:most]
    ]
    order = reranker.order(query, texts)
    moved = tuple(
        _moved(candidates[old], old, to=candidates[new].fused.score) if old != new else candidates[old]
        for new, old in enumerate(order.places)
    )
    return (*moved, *candidates[most:]), (() if order.skipped is None else (order.skipped,))


def _moved(candidate: RecallCandidate, place: int, *, to: float) -> RecallCandidate:
    return replace(candidate, fused=candidate.fused.with_score(to, "rerank"), moved_from=place + 1)


def choose_reranker(
    settings: SearchConfig, embedding: EmbeddingConfig, generator: Callable[[], Generator | None]
) -> Reranker | None:
    """Return the configured reranker, None where none is configured. Loads no model yet.

    The carried reranker has no budget of time, since what it reads is bounded.

    Args:
        settings: The section `search` of the configuration.
        embedding: Whose `threads` a fetched cross-encoder uses too.
        generator: Returns the generator of the role `rerank`.
    """
    name = settings.rerank.strip()
    if name.casefold() in ("", "none"):
        return None

    def load() -> TextRanker | None:
        if name.casefold() == "local":
            return by_reading(shared_reranker())
        if name.casefold() != "llm":
            scores = open_cross_encoder(name, threads=embedding.threads)
            return in_time(by_score(scores), milliseconds=settings.rerank_ms)
        chosen = generator()
        return None if chosen is None else in_time(by_generator(chosen), milliseconds=settings.rerank_ms)

    return Reranker(load)
