"""A lock that many readers hold together, or one thread exclusively."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadWriteLock:
    """Lets reads run together, and upkeep run while there are no open readers.

    Dropping old versions deletes files that a running query may be about to open.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._exclusive = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock with other readers; wait while a thread holds it exclusively."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep new readers out, and wait until there are no open readers."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._exclusive = True
            self._changed.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()
