"""The words of a table's rows in memory: BM25 of every row that has a word of a query, in one pass.

It takes 8 bytes for each word of each row, and some 200 for each word that is known: 13 MB for 20,000 rows of
45 words each.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.storage import bm25
from hydramem.storage.cached_rows.row_arrays import GONE_ROWS, GONE_SHARE, GrowingArray
from hydramem.storage.vector_rows import Scored, best_first

Admitted = Callable[[Sequence[str]], Sequence[bool]]
"""Says of each of some ids whether a filter admits its row."""

# Of the best rows, so many for each wanted are tested against a filter first; then more and more.
_TAKEN_OF_LIMIT, _MORE = 2, 8
_PAIR = Struct("=ii")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStatistics:
    """What BM25 needs to know of all rows.

    Attributes:
        rows, length: How many rows there are, and how many words they have in all.
        holding: How many rows hold each word that is asked for.
    """

    rows: int
    length: int
    holding: Mapping[str, int]


class WordIndex:
    """Which rows hold which word how often. Safe for many readers while one writer changes it.

    A row has a place. What stands at a place never changes: a row that is written again gets another, and
    the places of rows that are gone stay until they are many.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: list[str] = []
        self._place: dict[str, int] = {}
        self._here = GrowingArray(np.bool_)
        self._lengths = GrowingArray(np.int32)
        self._versions: list[int] = []
        # Pairs of a place and a count, as 32-bit integers one after the other.
        self._pairs: dict[str, bytes] = {}
        # Those of rows that came since a word was last read: for one row, no pairs of many are copied.
        self._added: dict[str, bytearray] = {}

    def load(
        self,
        ids: Sequence[str],
        lengths: Sequence[int],
        versions: Sequence[int],
        pairs: Mapping[str, bytes],
    ) -> None:
        """Take many rows into an empty index.

        Args:
            ids, lengths, versions: Of each row: its id, how many words it has, and what tells its text from
                another.
            pairs: By word, pairs of a row's place in these lists and how often the row holds the word, as
                32-bit integers of this machine.
        """
        self._pairs.update(pairs)
        self._append(ids, lengths, versions)

    def _append(self, ids: Sequence[str], lengths: Sequence[int], versions: Sequence[int]) -> None:
        self._place.update(zip(ids, range(len(self._ids), len(self._ids) + len(ids)), strict=True))
        self._ids.extend(ids)
        self._versions.extend(versions)
        self._here.extend(np.ones(len(ids), dtype=np.bool_))
        self._lengths.extend(np.array(lengths, dtype=np.int32))

    def put(self, id: str, version: int, words: Callable[[], Counter[str]]) -> None:
        """Take a row in, or its new text in the place of another; `words` is called where the text is new."""
        place = self._place.get(id)
        if place is not None and self._versions[place] == version:
            return
        counted = words()
        with self._lock:
            self._leave(id)
            place = len(self._ids)
            self._append([id], [counted.total()], [version])
            for word, count in counted.items():
                self._added.setdefault(word, bytearray()).extend(_PAIR.pack(place, count))

    def remove(self, ids: Iterable[str]) -> None:
        """Take rows out; ids that are not there are no error."""
        with self._lock:
            for id in ids:
                self._leave(id)

    def _leave(self, id: str) -> None:
        if (place := self._place.pop(id, None)) is not None:
            self._here.view()[place] = False

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are gone that it pays to read the table again."""
        gone = len(self._ids) - len(self._place)
        return gone > max(GONE_ROWS, GONE_SHARE * len(self._ids))

    def statistics(self, words: Iterable[str]) -> TextStatistics:
        """Return the statistics of all rows."""
        found, here, lengths = self._read(words)
        return _statistics(found, here, lengths)

    def _read(self, words: Iterable[str]) -> tuple[dict[str, NDArray[Any]], NDArray[Any], NDArray[Any]]:
        """Return the pairs of words, which rows are there, and their lengths."""
        with self._lock:
            pairs = {word: self._pairs_of(word) for word in words}
            here, lengths = self._here.view(), self._lengths.view()
        found = {word: np.frombuffer(held, dtype=np.int32).reshape(-1, 2) for word, held in pairs.items()}
        return found, here, lengths

    def _pairs_of(self, word: str) -> bytes:
        if (added := self._added.pop(word, None)) is not None:
            self._pairs[word] = self._pairs.get(word, b"") + added
        return self._pairs.get(word, b"")

    def matching(self, asked: Counter[str], admitted: Admitted, limit: int) -> tuple[Scored, ...]:
        """Return the rows that match words best by BM25 among those that are admitted, ties by id.

        Args:
            asked: Words of the query, with their counts.
            limit: At least 1.
        """
        found, here, lengths = self._read(asked)
        scores = _scores(asked, found, here, lengths)
        places = np.flatnonzero((scores > 0) & here)
        taken = limit * _TAKEN_OF_LIMIT
        while True:
            best = _best(places, scores, taken)
            ids = [self._ids[place] for place in best.tolist()]
            passing = np.array(admitted(ids), dtype=np.bool_)
            if len(best) == len(places) or np.count_nonzero(passing) >= limit:
                kept = [id for id, passes in zip(ids, passing, strict=True) if passes]
                return best_first(kept, scores[best[passing]], limit)
            taken *= _MORE


def _statistics(
    found: Mapping[str, NDArray[Any]], here: NDArray[Any], lengths: NDArray[Any]
) -> TextStatistics:
    return TextStatistics(
        rows=int(np.count_nonzero(here)),
        length=int(lengths[here].sum(dtype=np.int64)),
        holding={word: int(np.count_nonzero(here[pairs[:, 0]])) for word, pairs in found.items()},
    )


def _scores(
    asked: Counter[str], found: Mapping[str, NDArray[Any]], here: NDArray[Any], lengths: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the score of each place; those of rows that are gone mean nothing."""
    known = _statistics(found, here, lengths)
    scores = np.zeros(len(here))
    mean = known.length / max(1, known.rows) or 1.0
    for word, pairs in found.items():
        if known.holding[word]:
            weight = asked[word] * bm25.rarity(known.holding[word], known.rows)
            places, counts = pairs[:, 0], pairs[:, 1].astype(np.float64)
            scores[places] += weight * bm25.word_score(counts, lengths[places], mean)
    return scores


def _best(places: NDArray[Any], scores: NDArray[np.float64], count: int) -> NDArray[Any]:
    """Return the places of the best scores, and all that are as good as the last of them."""
    if count >= len(places):
        return places
    of_places = scores[places]
    least = np.partition(of_places, len(places) - count)[len(places) - count]
    best: NDArray[Any] = places[of_places >= least]
    return best
