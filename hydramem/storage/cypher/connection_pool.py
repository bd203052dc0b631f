"""A pool of the connections to one open database, which can also be held exclusively."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydramem.core.errors import StorageError


class ConnectionPool:
    """The connections to a file: each used by one caller at a time, and kept for the next."""

    def __init__(self, file: Path, connect: Callable[[], Any]) -> None:
        """Pool the connections that `connect` makes, in this process alone."""
        self._file = file
        self._connect = connect
        self._process = os.getpid()
        self._idle: list[Any] = []
        self._in_use = 0
        self._exclusive = False
        self._closed = False
        self._changed = threading.Condition()

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that opened the file."""
        return os.getpid() != self._process

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Give a connection for a while.

        Raises:
            StorageError: The file is closed, or another process's.
        """
        connection = self.acquire()
        try:
            yield connection
        finally:
            self.release(connection)

    def acquire(self) -> Any:
        """Return a connection that must be released; see `connection`."""
        if self.forked:
            raise StorageError(
                f"{self._file}: opened by process {self._process} and used in its fork {os.getpid()}; "
                "close it before forking and connect again in the child"
            )
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._check_open()
            self._in_use += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except BaseException:
            self._count_released()
            raise

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self._file}: the store is closed; connect again")

    def release(self, connection: Any) -> None:
        """Put a connection back."""
        with self._changed:
            self._idle.append(connection)
        self._count_released()

    def _count_released(self) -> None:
        with self._changed:
            self._in_use -= 1
            self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Wait until no connection is in use, and give none meanwhile; for one caller at a time.

        Raises:
            StorageError: The file is closed.
        """
        with self._changed:
            self._check_open()
            self._exclusive = True
            self._changed.wait_for(lambda: self._in_use == 0)
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()

    def close_idle(self) -> None:
        """Close the connections that are not in use, before the database is closed."""
        for connection in self.take_idle():
            connection.close()

    def take_idle(self) -> list[Any]:
        """Return the connections that are not in use, and forget them."""
        idle, self._idle = self._idle, []
        return idle

    def close(self, *, wait: bool = True) -> bool:
        """Give no more connections; return whether it was this call that closed the pool.

        Args:
            wait: Whether to wait until no connection is in use.
        """
        with self._changed:
            if self._closed:
                return False
            self._closed = True
            if wait:
                self._changed.wait_for(lambda: self._in_use == 0 and not self._exclusive)
        return True
