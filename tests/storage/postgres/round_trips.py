"""Counts how often this process waits for an answer of the database, by what libpq sends."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from hydramem.storage.postgres.connection import Connection, Database

_SENT = re.compile(r"^[^\t]*\tF\t\d+\t(\w+)", re.MULTILINE)


class RoundTrips:
    """The connections whose messages are written to files, and the round trips that they tell of.

    Args:
        folder: Of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._traced: list[tuple[Connection, IO[str]]] = []

    def trace(self, connection: Connection) -> None:
        """Write the messages of a connection to a file from now on."""
        file = (self._folder / f"{len(self._traced)}.trace").open("w+")
        self._traced.append((connection, file))
        connection.pgconn.trace(file.fileno())

    def of(self, call: Callable[[], object]) -> int:
        """Return how many round trips a call makes."""
        before = self._count()
        call()
        return self._count() - before

    def least(self, call: Callable[[], object], calls: int = 60) -> int:
        """Return the fewest round trips of several calls: threads in the background only add some."""
        return min(self.of(call) for _ in range(calls))

    def close(self) -> None:
        """End the files."""
        for _, file in self._traced:
            file.close()

    def _count(self) -> int:
        for connection, file in self._traced:
            if not connection.closed:
                connection.pgconn.untrace()  # writes what is held back
                connection.pgconn.trace(file.fileno())
        return sum(_waits(file.read_text(errors="replace")) for file in self._folder.glob("*.trace"))


def _waits(trace: str) -> int:
    """Return how often the messages of one connection wait for an answer.

    A flush right after the end of a pipeline asks for nothing new: psycopg sends it where the answers are not
    there yet, so it depends on how fast the server is.
    """
    asked, waits = False, 0
    for sent in _SENT.findall(trace):
        is_end = sent in ("Sync", "Flush")
        waits += sent == "Query" or (is_end and not asked)
        asked = is_end
    return waits


@contextmanager
def traced_connections(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RoundTrips]:
    """Trace every connection that a database opens while this lasts."""
    trips, configure = RoundTrips(folder), Database._configure

    def configure_and_trace(self: Database, connection: Connection) -> None:
        configure(self, connection)
        trips.trace(connection)

    with monkeypatch.context() as patched:
        patched.setattr(Database, "_configure", configure_and_trace)
        try:
            yield trips
        finally:
            trips.close()
