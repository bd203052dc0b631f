"""Relevance: how likely it is that what was found bears on a query.

A logistic over seven numbers: how near the best chunk is in meaning, how far it stands out from the next, how
near the best of so many chunks is by chance, how much the query is like talk that asks nothing, the largest
share of the query's words in one of the first hits, how many words it has, and which of its names no hit has.
The numbers mean the same for every embedder, since cosines are measured between two
anchors of the embedder: what nearness means nothing to it, and what answers are to it. Queries and hits that
are both not English have weights of their own: there, an English model finds everything near, and what tells
is how far the best chunk stands out and how many rows of letters of the query a hit has.
`benchmarks/relevance` fits the weights on stores of several kinds, each left out in turn.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.search.relevance.shared_grams import shared_grams
from hydramem.text.english import is_english
from hydramem.text.search_terms import distinct_words, words

READ = 5
"""How many of the first hits are read."""

BY_WORDS = ("share", "length", "missing_names")
"""What relevance is made of without vectors, as `data/relevance/weights.json` names the numbers."""

BY_MEANING = ("nearness", "stands_out", "chance", "talk", *BY_WORDS)
"""The same with vectors."""

NOT_ENGLISH = ("stands_out", "share", "grams", "length")
"""The same for a query and hits in another language."""

_LIKEST = 3
_JUDGED = 20
"""How many of the first hits are judged by themselves; later ones by their rank alone."""
_NEXT = slice(1, 20)
"""The nearest chunks that the best one is compared with."""
_NAME = re.compile(r"(?<![.?!:]\s)(?<=\s)[^\W\d_a-z][\w'’-]+")
_FIRST_PERSON = frozenset({"I", "I'm", "I've", "I'd", "I'll"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """What cosines of an embedder mean.

    Attributes:
        low: Mean cosine of a phrase that asks nothing to the nearest of some statements.
        high: Mean cosine of a question to the statement that answers it.
        nothing_asked: Unit vectors of phrases that ask nothing, of shape (phrases, dimension).
    """

    low: float
    high: float
    nothing_asked: NDArray[np.float32]

    def between(self, cosine: float) -> float:
        """Return a cosine as 0 at `low` and 1 at `high`; it may lie outside."""
        return (cosine - self.low) / max(self.high - self.low, 1e-3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceWeights:
    """The fitted weights of a logistic: one for each of its numbers, and the intercept."""

    values: Mapping[str, float]
    intercept: float

    def probability(self, numbers: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1, for numbers by name."""
        return _sigmoid(self.intercept + sum(weight * numbers[name] for name, weight in self.values.items()))


@cache
def fitted() -> Mapping[str, Any]:
    """The weights and their table, as `python -m benchmarks relevance --fit` writes them."""
    text = (files("hydramem") / "data" / "relevance" / "weights.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@cache
def weights(kind: str) -> RelevanceWeights:
    """Return the weights `by_meaning`, `by_words` or `not_english`."""
    table = fitted()[kind]
    return RelevanceWeights(values=table["weights"], intercept=table["intercept"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A query, and what it was compared with.

    Attributes:
        vector: The query's vector; None where the search uses none.
        cosines: Those of the nearest chunks to it, by id, best first.
        anchors: What cosines of the embedder mean; None without a vector.
        chunks: How many chunks were searched.
        unseen: Chunks without a vector yet: their words alone may speak for them.
    """

    query: str
    vector: NDArray[np.float32] | None = None
    cosines: Mapping[str, float] = field(default_factory=dict)
    anchors: Anchors | None = None
    chunks: int = 1
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedHit:
    """A hit as relevance sees it.

    Attributes:
        text: Its text, as it is indexed.
        led_to: Share of its score, 0 to 1, that comes from other hits and from the graph.
    """

    id: str
    text: str
    led_to: float = 0.0


def relevances(hits: Sequence[RankedHit], searched: Searched) -> list[float]:
    """Return the probability, 0 to 1, that each hit bears on a query.

    The first hit's is that the query is answered at all; it cannot tell that an answer is missing among
    things of its own matter. A later hit's is the share of it that its rank has, as far as the hit speaks
    for itself or other hits lead to it.

    Args:
        hits: Best first.
    """
    if not hits:
        return []
    texts = [one.text for one in hits[:READ]]
    english = in_english(searched.query, texts)
    cosines = list(searched.cosines.values())
    of_query = _of_query(searched, cosines)
    best = _probability(searched, texts, max(cosines, default=0.0), of_query, english=english)
    if not searched.unseen.isdisjoint(one.id for one in hits[:READ]):
        best = max(best, weights("by_words").probability(by_words(searched.query, texts)))
    found, farthest = [best], min(cosines, default=0.0)
    for rank, one in enumerate(hits[1:], 1):
        share = 1.0
        if rank < _JUDGED:
            cosine = searched.cosines.get(one.id, farthest)
            own = _probability(searched, [one.text], cosine, of_query, english=english)
            share = max(own, one.led_to)
        found.append(best * at_rank(rank) * share)
    return found


def _of_query(searched: Searched, cosines: Sequence[float]) -> dict[str, float]:
    """Return the numbers by meaning of the nearest chunk; none without vectors."""
    if searched.vector is None or not cosines or searched.anchors is None:
        return {}
    return by_meaning(searched.vector, cosines, searched.anchors, searched.chunks)


def _probability(
    searched: Searched, texts: Sequence[str], cosine: float, of_query: Mapping[str, float], *, english: bool
) -> float:
    """Return the probability that texts bear on a query, of which the nearest has a cosine."""
    numbers = by_words(searched.query, texts)
    if not of_query or searched.anchors is None:
        return weights("by_words").probability(numbers)
    # Only how near this text is differs from the nearest chunk's numbers.
    nearness = searched.anchors.between(cosine)
    others = of_query["nearness"] - of_query["stands_out"]
    numbers |= {**of_query, "nearness": nearness, "stands_out": nearness - others}
    if not english:
        numbers["grams"] = shared_grams(searched.query, texts)
    return weights("by_meaning" if english else "not_english").probability(numbers)


def in_english(query: str, texts: Sequence[str]) -> bool:
    """Say whether a query or the first hits are English; keywords alone do not show their language."""
    return is_english(query) or not texts or is_english("\n".join(texts[:READ]))


def by_meaning(
    vector: NDArray[np.float32], cosines: Sequence[float], anchors: Anchors, chunks: int
) -> dict[str, float]:
    """Return the numbers that vectors give: `nearness`, `stands_out`, `chance` and `talk`.

    The largest of n independent normal values is near the square root of 2 ln n standard deviations.
    """
    likest = np.sort(anchors.nothing_asked @ vector)[-_LIKEST:]
    others = float(np.mean(cosines[_NEXT])) if len(cosines) > 1 else anchors.low
    return {
        "nearness": anchors.between(cosines[0]),
        "stands_out": anchors.between(cosines[0]) - anchors.between(others),
        "chance": math.sqrt(2 * math.log(max(chunks, 2))),
        "talk": anchors.between(float(likest.mean())),
    }


def by_words(query: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the numbers that words give: `share`, `length` and `missing_names`."""
    asked, names = distinct_words(query), _words_of_names(query)
    held = [distinct_words(text) for text in texts[:READ]]
    everything = frozenset[str]().union(*held)
    return {
        "share": max((len(asked & each) / len(asked) for each in held), default=0.0) if asked else 0.0,
        "length": math.log1p(len(asked)),
        "missing_names": sum(word not in everything for word in names) / len(names) if names else 0.0,
    }


@lru_cache(maxsize=16)
def _words_of_names(query: str) -> tuple[str, ...]:
    return tuple(word for name in _names(query) for word in words(name))


def _names(query: str) -> list[str]:
    """Return the capitalised words inside sentences; in German, say, capitals tell nothing of names."""
    found = [name for name in _NAME.findall(query) if name not in _FIRST_PERSON]
    return found if found and is_english(query) else []


def at_rank(rank: int) -> float:
    """Return the share of the first hit's relevance that a hit at a rank, from 0, has.

    It is how often that rank holds an answer where the first five hold one, beside the first.
    """
    curve = fitted()["rank"]
    return _sigmoid(curve["intercept"] + curve["log"] * math.log1p(rank)) / _sigmoid(curve["intercept"])


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -40.0), 40.0)))
