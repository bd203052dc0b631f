"""What a store holds already of the rows of a dump: by id, or read side by side as both are sorted."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from hydramem.storage.exchange.layout import Key, Part
from hydramem.storage.schema import EdgeTable
from hydramem.storage.store import GraphStore

_BATCH = 1000

Standing = Callable[[Sequence[Key]], Mapping[Key, Any]]
"""Returns the rows that a store holds under some keys, which are later ones than were asked for before."""


def standing(part: Part, graph: GraphStore, met: Collection[str]) -> Standing:
    """Return what finds a part's rows in a store.

    Args:
        part: Whose rows.
        graph: The store.
        met: Node tables of which the store held a row of the dump: edges can be there only between such.
    """
    if (by_id := by_ids(part, graph)) is not None:
        return by_id
    if isinstance(part.table, EdgeTable) and not {part.table.source, part.table.target} <= set(met):
        return lambda keys: {}
    return _InStep(graph.scan(part.table, _BATCH), part).at


def by_ids(part: Part, graph: GraphStore) -> Standing | None:
    """Return what looks a part's rows up by id; None where the store has no such look-up."""
    readers: Mapping[str, Callable[[Sequence[str]], tuple[Any, ...]]] = {
        "Document": graph.documents,
        "Session": graph.sessions,
        "Entity": graph.entities,
        "Chunk": graph.chunks,
    }
    read = readers.get(part.table.name)
    if read is None:
        return None
    return lambda keys: {part.order(row): row for row in read([key[0] for key in keys])}


class _InStep:
    """A table of the store, read as far as the dump has come."""

    def __init__(self, batches: Iterator[tuple[Any, ...]], part: Part) -> None:
        self._batches = batches
        self._order = part.order
        self._ahead: dict[Key, Any] = {}
        self._last: Key | None = None
        self._ended = False

    def at(self, keys: Sequence[Key]) -> Mapping[Key, Any]:
        """Return the rows under some keys, in the order of the table."""
        while not self._ended and (self._last is None or self._last < keys[-1]):
            batch = {self._order(row): row for row in next(self._batches, ())}
            self._ended = not batch
            self._ahead.update(batch)
            self._last = max(batch, default=self._last)
        found = {key: self._ahead[key] for key in keys if key in self._ahead}
        self._ahead = {key: row for key, row in self._ahead.items() if key > keys[-1]}
        return found
