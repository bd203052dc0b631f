"""A table's rows in memory: exact cosine with every row that a filter admits, filters for full text, ids.

Reading 100,000 vectors from a table and testing its columns takes LanceDB and PostgreSQL a hundred
milliseconds and more; one pass over the same numbers in memory takes about five. It costs 4 bytes a dimension
and some 400 more a row: 190 MB for 100,000 rows of 384 dimensions.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.core.runtime.freed_memory import return_freed_memory
from hydramem.storage.cached_rows.row_arrays import BLOCK, Mask, RowArrays, row_array_columns
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import Scored, Vector, best_first

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[[Sequence[str]], "Iterable[pa.Table]"]
"""Reads some columns of every row of the table, with its row numbers, in pieces."""

# Where fewer are admitted, it pays to leave the others out first.
_FEW = 0.3

# A pass over so many blocks is shared with one more thread: one core does not exhaust the memory's speed.
_BLOCKS_A_THREAD = 8
_THREADS = min(4, os.cpu_count() or 1)


class RowCache:
    """The rows of one table in memory: loaded at the first search, kept current by the table's writer."""

    def __init__(self, names: Sequence[str], dimension: int, read: Read) -> None:
        """Hold nothing yet."""
        self._columns = row_array_columns(names)
        self._dimension = dimension
        self._read = read
        self._lock = threading.RLock()
        self._rows: RowArrays | None = None
        self._last: tuple[ChunkFilter | None, Sequence[str], Mask] | None = None

    @property
    def loaded(self) -> bool:
        """Whether the rows are in memory."""
        return self._rows is not None

    def __len__(self) -> int:
        cached = self._rows
        return 0 if cached is None else len(cached)

    # Following the table ------------------------------------------------------------------------
    def load(self) -> None:
        """Read the rows now, and not at the first search."""
        with self._lock:
            self._loaded()

    @contextmanager
    def dropped_on_error(self) -> Iterator[None]:
        """Forget the rows where a change of the table fails: its outcome is unknown."""
        try:
            yield
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Forget the rows; the next search loads them."""
        with self._lock:
            self._rows = self._last = None

    def put(self, rows: "pa.Table") -> None:
        """Take in rows that were written; before the first search nothing is cached."""
        with self._changing() as cached:
            if cached is not None:
                cached.remove(rows["id"].to_pylist())
                cached.append(rows)

    def remove(self, ids: Sequence[str]) -> None:
        """Take out rows that were deleted."""
        with self._changing() as cached:
            if cached is not None:
                cached.remove(ids)

    @contextmanager
    def _changing(self) -> Iterator[RowArrays | None]:
        with self._lock:
            yield self._rows
            self._last = None
            if self._rows is not None and self._rows.wasteful:
                self.drop()

    def renumber(self) -> None:
        """Read the table's row numbers again after they changed."""
        if self._rows is not None:
            pieces = list(self._read(("id",)))
            with self._lock:
                if self._rows is not None:
                    self._rows.by_row.clear()
                    for piece in pieces:
                        self._rows.number(piece)

    # Searching ----------------------------------------------------------------------------------
    def share(self, where: ChunkFilter) -> float:
        """Return the share of rows that a filter admits, 0 to 1."""
        with self._lock:
            mask = self._mask(where, ())
        return float(mask.mean()) if len(mask) else 1.0

    def admitted(self, ids: Sequence[str | None], where: ChunkFilter) -> tuple[bool, ...]:
        """Say of each id whether its row passes a filter; an id that is not there does not."""
        with self._lock:
            mask, place = self._mask(where, ()), self._loaded().place
            places = [None if id is None else place.get(id) for id in ids]
            return tuple(place is not None and bool(mask[place]) for place in places)

    def ids(self, numbers: Sequence[int], look_up: "Callable[[Sequence[int]], pa.Table]") -> list[str | None]:
        """Return the ids of row numbers of the table; None for a row that has gone meanwhile.

        Args:
            look_up: Reads `id` and row number of those that are not known here: rows written since.
        """
        with self._lock:
            cached = self._loaded()
            unknown = [number for number in numbers if number not in cached.by_row]
        if unknown:
            rows = look_up(unknown)
            with self._lock:
                cached.number(rows)
        return [cached.by_row.get(number) for number in numbers]

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector] | None:
        """Return vectors by id as they were written; None where that is not in memory."""
        with self._lock:
            cached = self._rows
            return None if cached is None or cached.scaled else cached.vectors_of(ids)

    def without_vector(self, ids: Sequence[str]) -> list[str] | None:
        """Return those of some ids whose rows have no vector; None where the rows are not in memory."""
        with self._lock:
            cached = self._rows
            return None if cached is None else cached.without_vector(ids)

    def nearest(
        self, query: Vector, where: ChunkFilter | None, projects: Sequence[str], limit: int
    ) -> tuple[Scored, ...]:
        """Return the rows nearest by cosine among those that are admitted, best first, ties by id.

        Args:
            query: Of the table's dimension, not zero.
            where: What to admit, for a table of chunks.
            projects: What to admit, for any other; empty admits all.
        """
        with self._lock:
            mask, cached = self._mask(where, projects), self._loaded()
            blocks, ids, slots, count = tuple(cached.blocks), cached.ids, cached.slots, cached.vectors
        unit = np.asarray(query / np.linalg.norm(query.astype(np.float64)), dtype=np.float32)
        places = np.flatnonzero(mask & (slots >= 0))
        scores = _cosines(blocks, unit, slots[places], count)
        if len(places) > limit:
            least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            best = np.flatnonzero(scores >= least)
            places, scores = places[best], scores[best]
        return best_first((ids[place] for place in places), scores, limit)

    def _loaded(self) -> RowArrays:
        if self._rows is None:
            cached = RowArrays(self._columns, self._dimension)
            for piece in self._read(self._columns):
                cached.append(piece)
            self._rows = cached
            return_freed_memory()
        return self._rows

    def _mask(self, where: ChunkFilter | None, projects: Sequence[str]) -> Mask:
        # The vector arm and the text arm of one recall ask with the same filter.
        last = self._last
        if last is None or last[0] != where or last[1] != projects:
            last = self._last = where, projects, self._loaded().admitted(where, projects)
        return last[2]


def _cosines(blocks: Sequence[Vector], unit: Vector, slots: NDArray[Any], count: int) -> NDArray[np.float32]:
    """Return the cosines of the vectors at some slots; `count` is how many the blocks hold.

    Row by row: the threads of a matrix product would wait for cores that other work of a recall has.
    """
    if len(slots) < _FEW * count:
        parts = [np.zeros(0, dtype=np.float32)]
        ends = np.searchsorted(slots, np.arange(len(blocks) + 1) * BLOCK)
        for number, block in enumerate(blocks):
            inside = slots[ends[number] : ends[number + 1]] - number * BLOCK
            parts.append(np.vecdot(block[inside], unit))
        return np.clip(np.concatenate(parts), -1.0, 1.0)
    scores = np.empty(count, dtype=np.float32)
    left = iter(range(-(-count // BLOCK)))
    threads = min(len(blocks) // _BLOCKS_A_THREAD, _THREADS - 1)
    others = [_executor().submit(_score, blocks, left, unit, scores) for _ in range(threads)]
    _score(blocks, left, unit, scores)
    for other in others:
        if not other.cancel():  # one that no core had time for has nothing left to do
            other.result()
    return np.clip(scores if len(slots) == count else scores[slots], -1.0, 1.0)


def _score(blocks: Sequence[Vector], left: Iterator[int], unit: Vector, scores: NDArray[np.float32]) -> None:
    """Write the cosines of blocks' vectors into their places, each thread taking the next block."""
    for number in left:
        part = scores[number * BLOCK : (number + 1) * BLOCK]
        np.vecdot(blocks[number][: len(part)], unit, out=part)


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="hydramem-cosine")
