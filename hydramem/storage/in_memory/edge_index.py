"""Edges in memory, found by key and by either end."""

from collections.abc import Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=tuple[str, ...])

Row = TypeVar("Row")


class EdgeIndex(Generic[Key, Row]):
    """Edges by key, whose first two parts are the ends, with an index of each end."""

    def __init__(self) -> None:
        self.rows: dict[Key, Row] = {}
        self._at: tuple[dict[str, set[Key]], dict[str, set[Key]]] = ({}, {})

    def put(self, key: Key, row: Row) -> None:
        """Insert an edge, or replace the one of this key."""
        self.rows[key] = row
        for end in (0, 1):
            self._at[end].setdefault(key[end], set()).add(key)

    def remove(self, key: Key) -> None:
        """Take an edge out, where there is one of this key."""
        if self.rows.pop(key, None) is not None:
            for end in (0, 1):
                self._at[end][key[end]].discard(key)

    def detach(self, ids: Iterable[str]) -> None:
        """Take out every edge that ends in one of some nodes."""
        for key in self.at(ids):
            self.remove(key)

    def at(self, ids: Iterable[str]) -> set[Key]:
        """Return the keys of the edges that end in one of some nodes."""
        return {key for id in ids for end in (0, 1) for key in self._at[end].get(id, ())}

    def touching(self, ids: Iterable[str], *ends: int) -> list[Row]:
        """Return the edges that have one of some nodes at one of the ends (0, 1), each once."""
        keys = {key for id in ids for end in ends for key in self._at[end].get(id, ())}
        return [self.rows[key] for key in keys]
