"""Rows that a full-text index does not have yet, in memory.

LanceDB scans such rows at every search, each write's fragment by itself: after a hundred writes that takes
three times as long as the index. Here their words are kept, and scored by the index's own formula: BM25
(Robertson and Zaragoza, 2009) with k1 = 1.2 and b = 0.75, over the tokens of the index's own tokenizer. The
counts of the index cannot be read. Its mean length, and in how many rows a frequent word stands, are
estimated from a sample of rows; the rows of a rare word are counted by asking the index for them.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Tokens = Sequence[str]

# Beyond either, LanceDB scans: a bulk is written, and its upkeep follows.
_MOST_ROWS, _MOST_CHARS = 4096, 1 << 23

_K1, _B = 1.2, 0.75

# A word in so many rows of the sample is frequent: its share is known to within half, its rarity to a tenth.
_FREQUENT = 4

_MOST_COUNTED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReads:
    """What is asked of the table and of its index.

    Attributes:
        tokens: Cuts texts into the index's tokens.
        sample: Returns the number of rows in the table, and the texts of some at random by id.
        rows_with: Counts the rows in the index that have a token, up to a bound.
    """

    tokens: Callable[[Sequence[str]], Sequence[Tokens]]
    sample: Callable[[], tuple[int, Mapping[str, str]]]
    rows_with: Callable[[str, int], int]


class UnindexedText:
    """The rows of one table that its full-text index lacks: kept by its writer, read by any thread."""

    def __init__(self, reads: IndexReads, *, complete: bool) -> None:
        """Hold no row.

        Args:
            reads: The table and its index.
            complete: Whether the index has every row now. Where not, which it lacks is unknown.
        """
        self._reads = reads
        self._lock = threading.RLock()
        self._complete = complete
        self._moment = 0
        self._texts: dict[str, tuple[int, str]] = {}
        self._chars = 0
        self._pending: dict[str, str] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._places: dict[str, dict[str, int]] = {}
        self._index: _IndexCounts | None = None

    def __len__(self) -> int:
        return len(self._texts)

    # Following the table ------------------------------------------------------------------------
    def put(self, rows: "pa.Table") -> None:
        """Take in rows that were written."""
        with self._lock:
            if not self._complete:
                return
            self._moment += 1
            for id, text in zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True):
                self._forget(id)
                self._texts[id] = self._moment, text
                self._pending[id] = text
                self._chars += len(text)
            if len(self._texts) > _MOST_ROWS or self._chars > _MOST_CHARS:
                self.drop()

    def remove(self, ids: Iterable[str]) -> None:
        """Take out rows that were deleted."""
        with self._lock:
            for id in ids:
                self._forget(id)

    def drop(self) -> None:
        """Forget the rows where it is unknown which the index lacks, or where they are too many."""
        with self._lock:
            self._clear()
            self._complete = False

    def moment(self) -> int:
        """Return a number that grows with each write."""
        with self._lock:
            return self._moment

    def indexed(self, moment: int) -> None:
        """Forget the rows that were written before a moment: the index has them now."""
        with self._lock:
            for id in [id for id, (written, _) in self._texts.items() if written <= moment]:
                self._forget(id)
            self._index = None

    def restart(self, *, unindexed: int) -> None:
        """Note how many rows the index lacks, while no one writes."""
        with self._lock:
            if unindexed == 0:
                self._clear()
                self._complete = True
            elif unindexed != len(self._texts):
                self.drop()

    def _clear(self) -> None:
        self._texts, self._pending, self._chars = {}, {}, 0
        self._counts, self._places, self._index = {}, {}, None

    def _forget(self, id: str) -> None:
        known = self._texts.pop(id, None)
        if known is None:
            return
        self._chars -= len(known[1])
        self._pending.pop(id, None)
        for word in self._counts.pop(id, ()):
            self._places[word].pop(id)
            if not self._places[word]:
                del self._places[word]

    # Searching ----------------------------------------------------------------------------------
    def matching(self, query: str) -> Sequence[tuple[str, float]] | None:
        """Return the rows that have a word of a query, with their scores; None where LanceDB has to scan."""
        with self._lock:
            if not self._complete:
                return None
            if not self._texts:
                return ()
            self._read_pending()
            asked = Counter(self._reads.tokens([query])[0])
            shared = {word: times for word, times in asked.items() if word in self._places}
            if not shared:
                return ()
            weights = {word: times * self._rarity(word) for word, times in shared.items()}
            mean = self._mean_length()
            found = {id for word in shared for id in self._places[word]}
            return [(id, _score(self._counts[id], weights, mean)) for id in found]

    def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the scores that texts would have if they were rows too; 0 without a word of a query."""
        tokens, *read = self._reads.tokens([query, *texts])
        asked, counts = Counter(tokens), [Counter(words) for words in read]
        shared = {word for word in asked if any(word in each for each in counts)}
        if not shared:
            return (0.0,) * len(counts)
        with self._lock:
            self._read_pending()
            weights = {word: asked[word] * self._rarity(word, among=counts) for word in shared}
            mean = self._mean_length(among=counts)
        return tuple(_score(each, weights, mean) for each in counts)

    def _read_pending(self) -> None:
        if not self._pending:
            return
        read = self._reads.tokens(list(self._pending.values()))
        ids, self._pending = list(self._pending), {}
        for id, words in zip(ids, read, strict=True):
            counts = self._counts[id] = Counter(words)
            for word, count in counts.items():
                self._places.setdefault(word, {})[id] = count

    def _rarity(self, word: str, among: Sequence[Counter[str]] = ()) -> float:
        """Return how much a word says: its inverse document frequency among the rows of index and memory.

        Args:
            word: The word.
            among: Counts of further texts that are taken for rows.
        """
        index = self._indexed_counts()
        rows = index.rows + len(self._texts) + len(among)
        holding = index.rows_with(word, self._reads.rows_with) + len(self._places.get(word, ()))
        holding += sum(word in each for each in among)
        return math.log(1.0 + (rows - holding + 0.5) / (holding + 0.5))

    def _mean_length(self, among: Sequence[Counter[str]] = ()) -> float:
        index = self._indexed_counts()
        held = [*self._counts.values(), *among]
        words = index.mean_length * index.rows + sum(counts.total() for counts in held)
        return words / (index.rows + len(held))

    def _indexed_counts(self) -> "_IndexCounts":
        if self._index is None:
            rows, texts = self._reads.sample()
            indexed = [text for id, text in texts.items() if id not in self._texts]
            words = self._reads.tokens(indexed) if indexed else ()
            self._index = _IndexCounts(max(0, rows - len(self._texts)), words)
        return self._index


def _score(counts: Counter[str], weights: Mapping[str, float], mean: float) -> float:
    longer = _K1 * (1.0 - _B + _B * counts.total() / mean)
    return sum(
        weight * count * (_K1 + 1.0) / (count + longer)
        for word, weight in weights.items()
        if (count := counts[word])
    )


class _IndexCounts:
    """The counts of an index that BM25 needs, as far as a sample of its rows tells them."""

    def __init__(self, rows: int, sampled: Sequence[Tokens]) -> None:
        self.rows = rows if sampled else 0
        self.mean_length = sum(map(len, sampled)) / max(1, len(sampled))
        self._sampled = len(sampled)
        self._seen = Counter(word for words in sampled for word in set(words))
        self._counted: dict[str, int] = {}

    def rows_with(self, word: str, count: Callable[[str, int], int]) -> int:
        """Return in how many rows a word stands: estimated for a frequent one, counted for a rare one."""
        seen = self._seen[word]
        if self._sampled >= self.rows or seen >= _FREQUENT:
            return min(self.rows, round(seen * self.rows / max(1, self._sampled)))
        if word not in self._counted:
            if len(self._counted) >= _MOST_COUNTED:
                self._counted.clear()
            # A word so rare in the sample stands with near certainty in fewer rows than that.
            self._counted[word] = count(word, 4 * _FREQUENT * self.rows // self._sampled)
        return self._counted[word]
