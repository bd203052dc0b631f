"""Which writes this process has made or heard of: what holds rows in memory is behind them until it reads."""

import threading
from collections.abc import Callable
from contextlib import suppress

Refresh = Callable[[], None]


class NotedWrites:
    """Counts the writes of this process, and how often it caught up with those of others. Thread-safe.

    Attributes:
        followed: Whether a thread hears of what others write as they do. Without one, nobody knows.
    """

    def __init__(self) -> None:
        self.followed = False
        self._lock = threading.Lock()
        self._count = 0
        self._refreshes: tuple[Refresh, ...] = ()

    @property
    def count(self) -> int:
        """Another number than before means that something may have been written since."""
        return self._count

    def note(self) -> None:
        """Note that something may have been written: its transaction has ended."""
        with self._lock:
            self._count += 1

    def add_refresh(self, refresh: Refresh) -> None:
        """Call something after others have written, in the thread that follows them."""
        with self._lock:
            self._refreshes += (refresh,)

    def drop_refresh(self, refresh: Refresh) -> None:
        """Call it no more; harmless when repeated."""
        with self._lock, suppress(ValueError):
            kept = list(self._refreshes)
            kept.remove(refresh)
            self._refreshes = tuple(kept)

    def refresh(self) -> None:
        """Read what was written.

        Raises:
            StorageError: The database cannot be read.
        """
        for refresh in self._refreshes:
            refresh()
