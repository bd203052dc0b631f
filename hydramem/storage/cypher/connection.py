"""One connection to an open database, with parameters that its engine may not be able to read."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

# Kuzu keeps each statement that a connection has prepared, its parameters with it, until the connection is
# closed. It frees them at 0.2 ms each, and Python runs nothing else meanwhile. So each statement is prepared
# once, and a connection with many of them, or with large parameters, is not used again.
_MOST_PREPARED = 100
_MOST_ITEMS = 1000


class Connection:
    """A connection to a database, for one caller at a time.

    LadybugDB reuses prepared statements by itself; for Kuzu they are kept here.
    """

    def __init__(self, library: ModuleType, database: Any) -> None:
        """Connect to a database of an engine; raises what the engine raises, as each method does."""
        self._connection = library.Connection(database)
        self._prepare = library.PreparedStatement if library.__name__ == "kuzu" else None
        self._prepared: dict[tuple[str, ...], Any] = {}
        self._most_items = 0

    @property
    def is_full(self) -> bool:
        """Whether it keeps so much in memory that it is better closed than used again."""
        return len(self._prepared) > _MOST_PREPARED or self._most_items > _MOST_ITEMS

    def execute(self, statement: str, parameters: Mapping[str, object]) -> Any:
        """Return the open result of a statement, which the caller closes."""
        given = dict(parameters)
        try:
            return self._execute(statement, given)
        except RuntimeError:
            # The engines cannot read text with lone surrogates. No stored text has them (rows are checked),
            # so looking for one finds nothing, as does looking for NUL, which no stored text has either.
            readable = {name: _readable(value) for name, value in given.items()}
            if readable == given:
                raise
            return self._execute(statement, readable)

    def _execute(self, statement: str, given: dict[str, object]) -> Any:
        if self._prepare is None or not given:
            return self._connection.execute(statement, given)
        self._most_items = max(self._most_items, *(_items(value) for value in given.values()))
        key = (statement, *given)
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepare(self._connection, statement, given)
            if prepared.is_success():
                self._prepared[key] = prepared
        # It is planned anew for the parameters of each call, whatever types they have.
        return self._connection.execute(prepared, given)

    def close(self) -> None:
        """Close the connection, before its database is."""
        self._prepared.clear()
        self._connection.close()


def _items(value: object) -> int:
    return len(value) if isinstance(value, list) else 1


def _readable(value: object) -> object:
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str):
        return "\0" if any("\ud800" <= character <= "\udfff" for character in value) else value
    return value
