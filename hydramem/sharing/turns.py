"""Whose turn it is in the owner: a few reads at a time, any number of writes, and some calls alone."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hydramem.core.errors import StoreBusyError

_MOST_WAITING = 256


class CallTurns:
    """The calls that run and those that wait, each for a limited time. Safe to use from many threads.

    More reads at once than processors are slower in all. Writes order themselves by the writer lock.

    Args:
        seconds: How long a call waits for its turn.
        readers: How many reads run at a time.
    """

    def __init__(self, *, seconds: float, readers: int) -> None:
        self._seconds = seconds
        self._readers = readers
        self._changed = threading.Condition()
        self._running = 0
        self._reading = 0
        self._waiting = 0
        self._alone = False

    @contextmanager
    def taken(self, *, alone: bool = False, reads: bool = False) -> Iterator[None]:
        """Wait for a turn and have it.

        Raises:
            StoreBusyError: Too many wait, or it took too long.
        """
        with self._changed:
            if alone:
                self._wait(lambda: not self._alone)
                self._alone = True  # nobody begins any more
                try:
                    self._wait(lambda: not self._running)
                except BaseException:
                    self._alone = False
                    self._changed.notify_all()
                    raise
            else:
                self._wait(lambda: not self._alone and not (reads and self._reading >= self._readers))
            self._running += 1
            self._reading += reads
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._reading -= reads
                self._alone = self._alone and not alone
                self._changed.notify_all()

    def _wait(self, is_free: Callable[[], bool]) -> None:
        """Wait until it is so; the lock is held."""
        if is_free():
            return
        until = time.monotonic() + self._seconds
        if self._waiting >= _MOST_WAITING:
            raise self._busy("already")
        self._waiting += 1
        try:
            if not self._changed.wait_for(is_free, until - time.monotonic()):
                raise self._busy(f"for {self._seconds:g} s")
        finally:
            self._waiting -= 1

    def _busy(self, since: str) -> StoreBusyError:
        return StoreBusyError(
            f"busy: {self._running} calls run and {self._waiting} wait {since}; try again, or raise "
            "sharing.wait_seconds"
        )
