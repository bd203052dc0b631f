"""Append-only columns: a writer grows them while readers hold views that never change."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BEGINNING = np.iinfo(np.int64).min
"""Stands for an interval that has no start."""
END = np.iinfo(np.int64).max
"""Stands for an interval that has no end."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime | None, default: int) -> int:
    """Return a moment as microseconds since 1970 in UTC, or the default where there is none."""
    return default if moment is None else (moment - _EPOCH) // _MICROSECOND


def moment_of(stamp: int) -> datetime | None:
    """Return the moment that a column holds as microseconds since 1970; None for `BEGINNING` and `END`."""
    return None if stamp in (BEGINNING, END) else _EPOCH + stamp * _MICROSECOND


class GrowingColumn:
    """A numpy array that grows at the end.

    Rows past a view's end may be written without the view's reader noticing, so growing copies
    nothing; changing a row that a view shows copies the column first.
    """

    def __init__(self, data: Array) -> None:
        self._data = data
        self._size = len(data)
        self._seen = len(data)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, row: int) -> Any:
        return self._data[row]

    def append(self, value: object) -> None:
        """Add a row."""
        self._make_room(len(value) if isinstance(value, bytes) else 0)
        self._data[self._size] = value
        self._size += 1

    def extend(self, values: Array) -> None:
        """Add rows."""
        self._data = np.concatenate([self._data[: self._size], values.astype(self._data.dtype)])
        self._size, self._seen = len(self._data), 0

    def set(self, row: int, value: object) -> None:
        """Change a row, or append it where it is the next one; views taken before keep the old value."""
        if row == self._size:
            self.append(value)
            return
        if self._data[row] == self._data.dtype.type(value):
            return
        if row < self._seen:
            self._data = self._data.copy()
            self._seen = 0
        self._data[row] = value

    def view(self) -> Array:
        """Return the rows as they are now, read-only."""
        self._seen = self._size
        view = self._data[: self._size]
        view.flags.writeable = False
        return view

    def _make_room(self, width: int) -> None:
        # A longer byte string than any before widens the column instead of being cut.
        wider = width > self._data.dtype.itemsize and self._data.dtype.kind == "S"
        if not wider and self._size < len(self._data):
            return
        dtype = np.dtype(f"S{width}") if wider else self._data.dtype
        grown = np.zeros(max(16, self._size + self._size // 8 + 1), dtype=dtype)
        grown[: self._size] = self._data[: self._size]
        self._data, self._seen = grown, 0


class Codes:
    """Small integers for strings that repeat; -1 represents none. Codes are never reused."""

    def __init__(self, values: list[str]) -> None:
        self.values = values
        self.codes = {value: code for code, value in enumerate(values)}

    def of(self, value: str | None) -> int:
        """Return a string's code, giving it the next one where it is new."""
        if value is None:
            return -1
        code = self.codes.get(value)
        if code is None:
            code = self.codes[value] = len(self.values)
            self.values.append(value)
        return code


def buffer_of(column: Array) -> Any:
    """Return the memory that a view shows: while two views share it, the rows of both are equal."""
    return column if column.base is None else column.base


# From Arrow to numpy ----------------------------------------------------------------------------
def numbers(column: Any, dtype: Any, missing: object) -> Array:
    """Return an Arrow column as an array of a type, with a value for what is missing."""
    # Copied out: Arrow's own buffers would keep the whole table in memory.
    values: Array = column.combine_chunks().fill_null(missing).to_numpy(zero_copy_only=False)
    return values.astype(dtype)


def timestamps(column: Any, missing: int) -> Array:
    """Return a column of timestamps as microseconds since 1970."""
    import pyarrow as pa

    return numbers(column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()), np.int64, missing)


def coded(column: Any) -> tuple[Array, Codes]:
    """Return a column of strings as codes; -1 where it has none."""
    encoded = column.combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    return codes, Codes(encoded.dictionary.to_pylist())


def places_in(column: Any, values: tuple[str, ...]) -> Array:
    """Return the place of each string of a column in a list of values; -1 where it is not in there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(column.combine_chunks(), value_set=pa.array(values))
    return numbers(pa.chunked_array([places]), np.int8, -1)


def id_bytes(column: Any) -> Array:
    """Return a column of ids as byte strings."""
    arrays = [_encoded(chunk) for chunk in column.chunks if len(chunk)]
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype="S34")


def _encoded(chunk: Any) -> Array:
    # A chunk at a time: no other thread runs while one is turned into a list.
    if chunk.null_count == len(chunk):
        return np.zeros(len(chunk), dtype="S34")
    return np.array([value.encode() for value in chunk.fill_null("").to_pylist()])
