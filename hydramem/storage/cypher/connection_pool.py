"""Lending the connections of one open database, and waiting for a moment when none is lent."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydramem.core.errors import StorageError


class ConnectionPool:
    """The connections to a file: lent to one caller at a time, kept when given back."""

    def __init__(self, file: Path, connect: Callable[[], Any]) -> None:
        """Lend what `connect` makes, in this process alone."""
        self._file = file
        self._connect = connect
        self._process = os.getpid()
        self._idle: list[Any] = []
        self._lent = 0
        self._held_back = False
        self._closed = False
        self._changed = threading.Condition()

    @property
    def foreign(self) -> bool:
        """Whether this is a fork of the process that opened the file."""
        return os.getpid() != self._process

    @contextmanager
    def one(self) -> Iterator[Any]:
        """Lend a connection.

        Raises:
            StorageError: The file is closed, or another process's.
        """
        connection = self.take()
        try:
            yield connection
        finally:
            self.give(connection)

    def take(self) -> Any:
        """Lend a connection that must be given back; see `one`."""
        if self.foreign:
            raise StorageError(
                f"{self._file}: opened by process {self._process} and used in its fork {os.getpid()}; "
                "close it before forking and connect again in the child"
            )
        with self._changed:
            self._changed.wait_for(lambda: not self._held_back)
            self._check_open()
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except BaseException:
            self._return()
            raise

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"{self._file}: the store is closed; connect again")

    def give(self, connection: Any) -> None:
        """Take a connection back."""
        with self._changed:
            self._idle.append(connection)
        self._return()

    def _return(self) -> None:
        with self._changed:
            self._lent -= 1
            self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no connection is lent, and lend none meanwhile; for one caller at a time.

        Raises:
            StorageError: The file is closed.
        """
        with self._changed:
            self._check_open()
            self._held_back = True
            self._changed.wait_for(lambda: self._lent == 0)
        try:
            yield
        finally:
            with self._changed:
                self._held_back = False
                self._changed.notify_all()

    def forget(self) -> None:
        """Close the connections that nobody uses, before the database is closed."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    def end(self) -> bool:
        """Lend no more, and wait until nothing is lent; return whether it was this call that ended it."""
        with self._changed:
            if self._closed:
                return False
            self._closed = True
            self._changed.wait_for(lambda: self._lent == 0 and not self._held_back)
        return True

    def refuse(self) -> None:
        """Lend no more, without waiting."""
        with self._changed:
            self._closed = True
