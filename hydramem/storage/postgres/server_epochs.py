"""Which server answers: the numbers of transactions that were read from one may mean others on the next.

A standby that takes over, and a server that recovers from a crash, give again the numbers of transactions
that were lost or never ended. Who goes on from the number of the last one it saw would pass new ones.
"""

import threading
from datetime import datetime
from weakref import WeakKeyDictionary

import psycopg


class ServerEpochs:
    """Counts how often the server was lost, or another took its place. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._current = 0
        self._started: datetime | None = None
        self._joined: WeakKeyDictionary[psycopg.Connection, int] = WeakKeyDictionary()

    @property
    def current(self) -> int:
        """The epoch of now; another one than before means that what was read before must be read anew."""
        return self._current

    def joined(self, connection: psycopg.Connection, started: datetime) -> None:
        """Note a new connection, and when its server was started."""
        with self._lock:
            if self._started not in (None, started):
                self._current += 1
            self._started = started
            self._joined[connection] = self._current

    def lost(self, connection: psycopg.Connection) -> None:
        """Note that a connection broke: its server may have crashed, which does not change its start.

        Of the many connections that break with a server, the first begins an epoch.
        """
        with self._lock:
            if self._joined.get(connection) == self._current:
                self._current += 1
