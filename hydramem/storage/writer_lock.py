"""The writer lock of a store."""

import threading
from collections.abc import Callable
from types import TracebackType


class WriterLock:
    """A reentrant lock; the thread that takes it finds in the store all that it has written.

    Args:
        commit_held: Commits what the thread holds back; called before each time the lock is taken.
    """

    def __init__(self, commit_held: Callable[[], None]) -> None:
        self._commit_held = commit_held
        self._lock = threading.RLock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, as `threading.RLock.acquire` does."""
        self._commit_held()
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
