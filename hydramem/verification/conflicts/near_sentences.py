"""Sentences of different chunks that may contradict each other: of near chunks, and alike in words.

Of each chunk the few nearest others are looked at, and of those the sentences that share most words: the
number of pairs is bounded, whatever the size of the project.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.storage.chunk_filter import covers
from hydramem.storage.vector_rows import Vector
from hydramem.text.decisive_marks import marks
from hydramem.text.normalize import wording
from hydramem.text.search_terms import words
from hydramem.text.sentences import sentence_spans

_AT_ONCE = 256
_NEAREST = 6
"""Other chunks that a chunk is compared with."""

_MOST_PAIRS = 2000
"""Pairs of chunks whose sentences are compared."""

_SENTENCES = 20
_LONGEST = 300
_LEAST_WORDS = 2
_LEAST_SHARED = 0.25
"""Least share of their words that two sentences have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSentence:
    """A sentence and the chunk that contains it."""

    chunk: Chunk
    text: str

    @property
    def said_at(self) -> datetime:
        """When it was said or recorded."""
        return self.chunk.happened_at or self.chunk.times.recorded_at


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePair:
    """Two sentences about one matter, the older first, and which share of their words both have."""

    older: ChunkSentence
    newer: ChunkSentence
    shared: float


@dataclass(frozen=True, slots=True)
class _SentenceWords:
    sentence: ChunkSentence
    words: frozenset[str]


def near_sentences(
    chunks: Sequence[Chunk], vectors: Mapping[str, Vector], *, most: int
) -> tuple[SentencePair, ...]:
    """Return the pairs of sentences of near chunks, those first that share most words.

    Args:
        chunks: The chunks to compare, of one project.
        vectors: Of the chunks, by id; a chunk without one is not compared.
        most: Most pairs.
    """
    read: dict[str, tuple[_SentenceWords, ...]] = {}
    found: list[SentencePair] = []
    for one, other in _near_chunks([row for row in chunks if row.id in vectors], vectors):
        if may_be_of_one_matter(one, other):
            sides = [read.setdefault(row.id, _sentences(row)) for row in (one, other)]
            found += _alike(sides[0], sides[1])
    found.sort(key=lambda pair: (-pair.shared, pair.older.chunk.id, pair.newer.chunk.id))
    return tuple(found[:most])


def may_be_of_one_matter(one: Chunk, other: Chunk) -> bool:
    """Say whether two chunks can contradict each other: of one scope, one time, one event."""
    events = "event" not in (one.kind, other.kind) or one.happened_at == other.happened_at
    return one.scope == other.scope and events and overlap_in_time(one, other)


def overlap_in_time(one: Chunk, other: Chunk) -> bool:
    """Say whether two chunks hold at one moment."""
    mine, yours = one.times, other.times
    begins = max(filter(None, (mine.valid_from, yours.valid_from)), default=None)
    ends = min(filter(None, (mine.valid_to, yours.valid_to)), default=None)
    return begins is None or ends is None or covers(None, ends, begins)


def in_order(one: ChunkSentence, other: ChunkSentence) -> tuple[ChunkSentence, ChunkSentence]:
    """Return two sentences, the one said earlier first."""
    older, newer = sorted((one, other), key=lambda each: (each.said_at, each.chunk.id))
    return older, newer


def _near_chunks(chunks: Sequence[Chunk], vectors: Mapping[str, Vector]) -> Iterator[tuple[Chunk, Chunk]]:
    """Yield pairs of near chunks, the nearest first, computed in blocks of rows."""
    if len(chunks) < 2:
        return
    table = np.stack([vectors[row.id] for row in chunks]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    most = min(_NEAREST, len(chunks) - 1)
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(chunks), _AT_ONCE):
        cosines = table[start : start + _AT_ONCE] @ table.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        nearest = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
        for row, places in enumerate(nearest.tolist()):
            for place in places:
                pair = (min(start + row, place), max(start + row, place))
                found[pair] = float(cosines[row, place])
    best = sorted(found, key=lambda pair: (-found[pair], pair))[:_MOST_PAIRS]
    yield from ((chunks[one], chunks[other]) for one, other in best)


def _sentences(chunk: Chunk) -> tuple[_SentenceWords, ...]:
    """Return the short sentences of a chunk; questions and headings state nothing."""
    spans = sentence_spans(chunk.text)[:_SENTENCES]
    texts = (" ".join(chunk.text[start:end].split()) for start, end in spans)
    return tuple(
        _SentenceWords(ChunkSentence(chunk=chunk, text=text), held)
        for text in texts
        if len(text) <= _LONGEST and not text.endswith(("?", ":"))
        if len(held := frozenset(words(text))) >= _LEAST_WORDS
    )


def _alike(mine: Sequence[_SentenceWords], yours: Sequence[_SentenceWords]) -> Iterator[SentencePair]:
    for one in mine:
        for other in yours:
            shared = len(one.words & other.words) / len(one.words | other.words)
            if shared >= _LEAST_SHARED and _one_topic(one.sentence, other.sentence):
                older, newer = in_order(one.sentence, other.sentence)
                yield SentencePair(older=older, newer=newer, shared=shared)


def _one_topic(one: ChunkSentence, other: ChunkSentence) -> bool:
    """Say whether two sentences may speak of one thing, and do not say the same.

    Sentences that name no common thing are about what stands above them: under other headings, or in another
    document without any, "the limit" is another limit.
    """
    if wording(one.text) == wording(other.text):
        return False
    if marks(one.text).names & marks(other.text).names:
        return True
    return _place(one.chunk) == _place(other.chunk)


def _place(chunk: Chunk) -> tuple[object, ...]:
    return tuple(heading.casefold() for heading in chunk.heading_path) or (chunk.document,)
