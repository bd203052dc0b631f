"""A pool of the connections to one open database, which can be held exclusively, or replaced by another."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hydramem.core.errors import StorageError
from hydramem.storage.cypher.connection import Connection


class ConnectionPool:
    """The connections to a database: each used by one caller at a time, and kept for the next.

    Connections belong to a period, which ends when another database takes the place of theirs. A connection
    of an earlier period, or one that is full, is closed when it is released.
    """

    def __init__(self, file: Path, connect: Callable[[], Connection]) -> None:
        """Pool the connections that `connect` makes, in this process alone."""
        self._file = file
        self._connect = connect
        self._process = os.getpid()
        self._idle: list[Connection] = []
        self._period = 0
        self._in_use: Counter[int] = Counter()
        self._period_of: dict[int, int] = {}
        self._exclusive = False
        self._closed = False
        self._changed = threading.Condition()

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that opened the file."""
        return os.getpid() != self._process

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Give a connection for a while.

        Raises:
            StorageError: The file is closed, or another process's.
        """
        connection = self.acquire()
        try:
            yield connection
        finally:
            self.release(connection)

    def acquire(self) -> Connection:
        """Return a connection that must be released; see `connection`."""
        if self.forked:
            raise StorageError(
                f"{self._file}: opened by process {self._process} and used in its fork {os.getpid()}; "
                "close it before forking and connect again in the child"
            )
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self.require_open()
            period = self._period
            self._in_use[period] += 1
            connection = self._idle.pop() if self._idle else None
        try:
            connection = self._connect() if connection is None else connection
        except BaseException:
            self._count_released(period)
            raise
        self._period_of[id(connection)] = period
        return connection

    def require_open(self) -> None:
        """Check that the pool gives connections.

        Raises:
            StorageError: The file is closed.
        """
        if self._closed:
            raise StorageError(f"{self._file}: the store is closed; connect again")

    def release(self, connection: Connection) -> None:
        """Put a connection back, or close it: one of an earlier period, or one that is full."""
        period = self._period_of.pop(id(connection))
        with self._changed:
            kept = period == self._period and not connection.is_full
            if kept:
                self._idle.append(connection)
        if not kept:
            connection.close()
        self._count_released(period)

    def _count_released(self, period: int) -> None:
        with self._changed:
            self._in_use[period] -= 1
            self._in_use += Counter()  # drops what is zero
            self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Wait until no connection is in use, and give none meanwhile; for one caller at a time.

        Raises:
            StorageError: The file is closed.
        """
        with self._changed:
            self.require_open()
            self._exclusive = True
            self._changed.wait_for(lambda: not self._in_use)
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()

    def begin_period(self, replace: Callable[[], None]) -> Callable[[], None]:
        """Replace the database between two uses of the pool; nobody waits.

        Args:
            replace: Puts another database in place of the one that `connect` opens connections to.

        Returns:
            Waits until the last connection to the former database is closed.
        """
        with self._changed:
            replace()
            before, self._period = self._period, self._period + 1
            idle = self.take_idle()

        def wait() -> None:
            for connection in idle:
                connection.close()
            with self._changed:
                self._changed.wait_for(lambda: not any(period <= before for period in self._in_use))

        return wait

    def close_idle(self) -> None:
        """Close the connections that are not in use, before the database is closed."""
        for connection in self.take_idle():
            connection.close()

    def take_idle(self) -> list[Connection]:
        """Return the connections that are not in use, and forget them."""
        idle, self._idle = self._idle, []
        return idle

    def close(self) -> bool:
        """Give no more connections, wait for those in use; return whether this call closed the pool."""
        with self._changed:
            if self._closed:
                return False
            self._closed = True
            self._changed.wait_for(lambda: not self._in_use and not self._exclusive)
        return True
