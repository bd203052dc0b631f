"""Records with vectors of another embedder: items of a memory, and an index of them in this process.

The store embeds texts itself, so a vector that a framework brings can be compared only with vectors of that
framework. They are kept in their items, and compared here one by one: 10,000 of 1,536 numbers take 60 MB and
some 10 ms. Before each read the index takes over what was put since, by any process. What another process
deletes, or an undo brings back, it sees when it reads all items again, after at most half a minute.
"""

import base64
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.core.inputs import ItemInput
from hydramem.core.results.item_results import ItemView

if TYPE_CHECKING:
    from hydramem import Memory

VECTOR = "embedding"
"""The field of a value that holds its vector: base64 of little-endian float32."""

_FIRST_PAGE = 20
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRecord:
    """An item and its vector.

    Attributes:
        value: The item's value without the vector.
        vector: Of length 1, shape (dimensions,); None where it has none.
        updated_at: When the item was put; None where this process put it and has not read it.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    vector: NDArray[np.float32] | None
    updated_at: datetime | None = None


def with_vector(value: Mapping[str, Any], vector: Sequence[float] | None) -> dict[str, Any]:
    """Return the value of an item with a vector in it; None or an empty one leaves it out."""
    if vector is None or not len(vector):
        return dict(value)
    packed = np.asarray(vector, dtype="<f4").tobytes()
    return {**value, VECTOR: base64.b64encode(packed).decode("ascii")}


def vector_in(value: Mapping[str, Any]) -> list[float] | None:
    """Return the vector of an item as it was given, rounded to float32."""
    packed = value.get(VECTOR)
    return None if packed is None else np.frombuffer(base64.b64decode(packed), dtype="<f4").tolist()


def unit(vector: Sequence[float]) -> NDArray[np.float32] | None:
    """Return a vector scaled to length 1; None for one without direction."""
    array = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(array))
    return array / length if length else None


class RecordIndex:
    """All items at and below a namespace; safe to use from many threads."""

    def __init__(
        self, memory: "Memory", root: Sequence[str], project: str | None, *, seconds: float = 30.0
    ) -> None:
        """Index a namespace; nothing is read before the first use.

        Args:
            memory: Holds the items.
            root: Labels that the namespaces of all records begin with.
            project: Project of the items; that of the memory by default.
            seconds: After how long all items are read again.
        """
        self._memory = memory
        self._root = tuple(root)
        self._project = project
        self._lock = threading.RLock()
        self._rows: dict[str, IndexedRecord] = {}
        self._seconds = seconds
        self._read_at: float | None = None

    def rows(self) -> list[IndexedRecord]:
        """Return the records as they are now, in no order."""
        with self._lock:
            return list(self._current().values())

    def record(self, key: str) -> IndexedRecord | None:
        """Return one record by its key, which is in one namespace only."""
        with self._lock:
            return self._current().get(key)

    def write(self, puts: Sequence[ItemInput], deletes: Iterable[str] = ()) -> None:
        """Put and delete records, in one transaction; a key that is in another namespace moves.

        Args:
            puts: The records.
            deletes: Keys.

        Raises:
            InvalidInputError: An item is wrong; nothing is written.
        """
        with self._lock:
            rows = self._current()
            put = {item.key: tuple(item.namespace) for item in puts}
            moved = [key for key, labels in put.items() if key in rows and rows[key].namespace != labels]
            gone = [rows[key] for key in (*moved, *deletes) if key in rows]
            removals = [ItemInput(namespace=row.namespace, key=row.key) for row in gone]
            if not puts and not removals:
                return
            self._memory.put_items([*removals, *puts], project=self._project)
            for row in gone:
                rows.pop(row.key, None)
            rows.update({item.key: _indexed(item.namespace, item.key, item.value or {}) for item in puts})

    def stored(self, found: Sequence[IndexedRecord]) -> dict[str, ItemView]:
        """Return the items of records by key as the store has them; those that are gone are left out."""
        keys: dict[tuple[str, ...], list[str]] = {}
        for row in found:
            keys.setdefault(row.namespace, []).append(row.key)
        return {
            item.key: item
            for namespace, named in keys.items()
            for item in self._memory.get_items(namespace, named, refresh=False, project=self._project)
        }

    def _current(self) -> dict[str, IndexedRecord]:
        now = time.monotonic()
        if self._read_at is None or now - self._read_at >= self._seconds:
            self._rows, self._read_at = {row.key: row for row in self._read(_PAGE)}, now
            return self._rows
        for row in self._read(_FIRST_PAGE):  # last put first, so that the first known one ends it
            known = self._rows.get(row.key)
            if known is not None and known.updated_at == row.updated_at:
                break
            self._rows[row.key] = row
        return self._rows

    def _read(self, limit: int) -> Iterator[IndexedRecord]:
        offset = 0
        while True:
            page = self._memory.search_items(
                self._root, limit=limit, offset=offset, refresh=False, project=self._project
            )
            for item in page:
                yield _indexed(item.namespace, item.key, item.value, item.updated_at)
            if len(page) < limit:
                return
            offset, limit = offset + limit, _PAGE


def _indexed(
    namespace: Sequence[str], key: str, value: Mapping[str, Any], updated_at: datetime | None = None
) -> IndexedRecord:
    vector = vector_in(value)
    return IndexedRecord(
        namespace=tuple(namespace),
        key=key,
        value={name: each for name, each in value.items() if name != VECTOR},
        vector=None if vector is None else unit(vector),
        updated_at=updated_at,
    )
