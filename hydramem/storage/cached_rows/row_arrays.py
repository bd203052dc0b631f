"""Rows of a table as arrays: vectors, the columns that filters look at, and the table's own row numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.storage.chunk_filter import ChunkFilter, within_scope
from hydramem.storage.vector_rows import Vector

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[Any]
Mask = NDArray[np.bool_]
ROW_ID = "_rowid"
BLOCK = 4096
"""Vectors in one array: a table grows without its vectors being copied."""
_WORDS = ("project", "kind", "layer", "state", "document", "session", "scope")
_LISTS = ("categories",)

# What represents null: an interval without a bound, and a number that is never large enough.
_NEVER, _ALWAYS = np.iinfo(np.int64).min, np.iinfo(np.int64).max

_NUMBERS: Mapping[str, tuple[Any, Any]] = {
    "private": (np.bool_, False),
    "confidence": (np.float64, np.nan),
    "happened_at": (np.int64, _NEVER),
    "valid_from": (np.int64, _NEVER),
    "valid_to": (np.int64, _ALWAYS),
    "recorded_at": (np.int64, _NEVER),
    "retired_at": (np.int64, _ALWAYS),
    "expires_at": (np.int64, _ALWAYS),
}

# Vectors whose length is 1 but for rounding are held as they came.
_ROUNDING = 1e-6

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Rows that were replaced or removed are left out once they are as many, and this share.
GONE_ROWS, GONE_SHARE = 2000, 0.2


def microseconds(moment: datetime) -> int:
    """Return a moment as it is held: microseconds since 1970, exact over the years 1 to 9999."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def row_array_columns(names: Sequence[str]) -> tuple[str, ...]:
    """Return those columns of a table that are held."""
    return tuple(
        name for name in ("id", "vector", *_WORDS, *_LISTS, *_NUMBERS) if name == "id" or name in names
    )


class RowArrays:
    """Rows in the order they came; those that are gone stay until they are many.

    What was appended is never written again: who took `blocks`, `ids` and a mask may work on them while
    more rows come.
    """

    def __init__(self, columns: Sequence[str], dimension: int) -> None:
        """Hold no row yet.

        Args:
            columns: What `held_columns` gave.
        """
        self._dimension = dimension
        self.ids: list[str] = []
        self.blocks: list[Vector] = []
        self.place: dict[str, int] = {}
        self.by_row: dict[int, str] = {}
        # Whether a vector is held in another length than it came in.
        self.scaled = False
        self._vectors = 0
        self._here = GrowingArray(np.bool_)
        self._slots = GrowingArray(np.int32)
        self._words = {name: _Codes() for name in columns if name in _WORDS}
        self._lists = {name: _Codes() for name in columns if name in _LISTS}
        self._numbers = {name: _Numbers(*_NUMBERS[name]) for name in columns if name in _NUMBERS}

    def __len__(self) -> int:
        return len(self.ids)

    def vectors_of(self, ids: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors of rows by id; rows that are gone or have none are left out."""
        slots = self.slots
        found = ((id, int(slots[self.place[id]])) for id in ids if id in self.place)
        # A copy, lest it keep all of its block.
        return {id: self.blocks[slot // BLOCK][slot % BLOCK].copy() for id, slot in found if slot >= 0}

    def without_vector(self, ids: Iterable[str]) -> list[str]:
        """Return those of some ids whose rows have no vector."""
        slots = self.slots
        return [id for id in ids if id in self.place and slots[self.place[id]] < 0]

    @property
    def slots(self) -> Array:
        """Where each row's vector is among all that `blocks` hold; -1 for a row without one."""
        return self._slots.view()

    @property
    def vectors(self) -> int:
        """How many vectors the blocks hold."""
        return self._vectors

    def append(self, rows: "pa.Table") -> None:
        """Add rows of ids that are not there."""
        if rows.num_rows == 0:
            return
        ids = rows["id"].to_pylist()
        self._append_vectors(rows["vector"].combine_chunks())
        self.place.update(zip(ids, range(len(self.ids), len(self.ids) + len(ids)), strict=True))
        self.ids.extend(ids)
        self._here.extend(np.ones(len(ids), dtype=np.bool_))
        for name, words in self._words.items():
            words.extend(rows[name])
        for name, lists in self._lists.items():
            lists.extend_values([tuple(value or ()) for value in rows[name].to_pylist()])
        for name, numbers in self._numbers.items():
            numbers.extend(rows[name])
        if ROW_ID in rows.column_names:
            self.number(rows)

    def number(self, rows: "pa.Table") -> None:
        """Note the table's row numbers of some ids. A number is never used again for another row."""
        self.by_row.update(zip(rows[ROW_ID].to_pylist(), rows["id"].to_pylist(), strict=True))

    def _append_vectors(self, column: "pa.Array") -> None:
        present = column.is_valid().to_numpy(zero_copy_only=False)
        slots = np.where(present, self._vectors - 1 + np.cumsum(present), -1)
        self._slots.extend(slots.astype(np.int32))
        values = column.drop_null().flatten().to_numpy(zero_copy_only=False)
        self._lay_out(values.reshape(-1, self._dimension))

    def _lay_out(self, vectors: Vector) -> None:
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        other = np.abs(lengths - 1) > _ROUNDING
        units = vectors
        if other.any():
            self.scaled = True
            units = np.where(other[:, None], vectors / lengths[:, None], vectors).astype(np.float32)
        begin = 0
        while begin < len(units):
            within = self._vectors % BLOCK
            if within == 0:
                self.blocks.append(np.empty((BLOCK, self._dimension), dtype=np.float32))
            count = min(BLOCK - within, len(units) - begin)
            self.blocks[-1][within : within + count] = units[begin : begin + count]
            self._vectors += count
            begin += count

    def remove(self, ids: Iterable[str]) -> None:
        """Mark rows as gone; ids that are not there are no error."""
        places = [place for id in dict.fromkeys(ids) if (place := self.place.pop(id, None)) is not None]
        self._here.view()[places] = False

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are gone that it pays to read the table again."""
        gone = len(self.ids) - len(self.place)
        return gone > max(GONE_ROWS, GONE_SHARE * len(self.ids))

    def admitted(self, where: ChunkFilter | None, projects: Sequence[str]) -> Mask:
        """Say for each row whether it is there and passes a filter, or, without one, is of some project."""
        mask = self._here.view().copy()
        if where is None:
            return self._among(mask, {"project": projects})
        mask = self._among(mask, where.allowed)
        if where.scope is not None:
            scope = where.scope
            mask &= self._words["scope"].where(lambda held: within_scope(held, scope))
        if where.categories:
            wanted = set(where.categories)
            mask &= self._lists["categories"].where(lambda held: not wanted.isdisjoint(held))
        if not where.include_private and self._numbers["private"].any:
            mask &= ~self._numbers["private"].view()
        mask &= self._numbers["confidence"].view() >= where.min_confidence
        return self._within_moments(mask, where)

    def _among(self, mask: Mask, allowed: Mapping[str, Sequence[str]]) -> Mask:
        for name, values in allowed.items():
            if values and not self._words[name].all_of(values):
                mask &= self._words[name].one_of(values)
        return mask

    def _within_moments(self, mask: Mask, where: ChunkFilter) -> Mask:
        happened = self._numbers["happened_at"].view()
        if where.happened_from is not None:
            mask &= happened >= microseconds(where.happened_from)
        if where.happened_to is not None:
            mask &= (happened != _NEVER) & (happened <= microseconds(where.happened_to))
        if where.at is not None:
            mask = self._begun(mask, "valid_from", where.at)
            mask = self._not_over(mask, "valid_to", where.at)
            mask = self._not_over(mask, "expires_at", where.at)
        if where.known_at is not None:
            mask = self._begun(mask, "recorded_at", where.known_at)
            mask = self._not_over(mask, "retired_at", where.known_at)
        return mask

    def _begun(self, mask: Mask, name: str, moment: datetime) -> Mask:
        numbers = self._numbers[name]
        return mask & (numbers.view() <= microseconds(moment)) if numbers.any else mask

    def _not_over(self, mask: Mask, name: str, moment: datetime) -> Mask:
        numbers = self._numbers[name]
        return mask & (numbers.view() > microseconds(moment)) if numbers.any else mask


class GrowingArray:
    """An array that grows at the end."""

    def __init__(self, dtype: Any) -> None:
        self._data = np.empty(0, dtype=dtype)
        self._size = 0

    def extend(self, values: Array) -> None:
        """Add values."""
        size = self._size + len(values)
        if size > len(self._data):
            grown = np.empty(size + size // 8, dtype=self._data.dtype)
            grown[: self._size] = self._data[: self._size]
            self._data = grown
        self._data[self._size : size] = values
        self._size = size

    def view(self) -> Array:
        """Return the values there are."""
        return self._data[: self._size]


class _Numbers:
    """A column of numbers or moments; `any` says whether one of them was ever not null and not false."""

    def __init__(self, dtype: Any, missing: Any) -> None:
        self._missing = missing
        self._column = GrowingArray(dtype)
        self.any = False

    def extend(self, column: "pa.ChunkedArray") -> None:
        """Add the values of an Arrow column."""
        filled = column.combine_chunks().fill_null(self._missing).to_numpy(zero_copy_only=False)
        self.any = self.any or bool((filled != self._missing).any())
        self._column.extend(filled)

    def view(self) -> Array:
        """Return the values there are."""
        return self._column.view()


class _Codes:
    """A column of values that repeat, as small integers; -1 represents null."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}
        self._column = GrowingArray(np.int32)
        self._nulls = False

    def extend(self, column: "pa.ChunkedArray") -> None:
        """Add the values of an Arrow column of strings."""
        encoded = column.combine_chunks().dictionary_encode()
        self._nulls = self._nulls or encoded.null_count > 0
        # The last place answers for null.
        table = np.array([*map(self._code, encoded.dictionary.to_pylist()), -1], dtype=np.int32)
        self._column.extend(table[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)])

    def extend_values(self, values: Sequence[object]) -> None:
        """Add values one by one."""
        self._column.extend(np.array([self._code(value) for value in values], dtype=np.int32))

    def _code(self, value: object) -> int:
        return self._codes.setdefault(value, len(self._codes))

    def all_of(self, values: Iterable[object]) -> bool:
        """Say whether every row is known to have one of these values."""
        return not self._nulls and self._codes.keys() <= set(values)

    def one_of(self, values: Iterable[object]) -> Mask:
        """Say for each row whether it has one of these values."""
        codes = [self._codes[value] for value in dict.fromkeys(values) if value in self._codes]
        column = self._column.view()
        mask: Mask = column == codes[0] if len(codes) == 1 else np.isin(column, codes)
        return mask

    def where(self, admits: Callable[[Any], bool]) -> Mask:
        """Say for each row whether its value is admitted; null is not."""
        table = np.array([*(admits(value) for value in self._codes), False], dtype=np.bool_)
        mask: Mask = table[self._column.view()]
        return mask
