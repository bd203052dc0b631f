"""The writer lock of a store."""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import TracebackType

Projects = Collection[str] | None
"""The projects that a writer reads and writes; None for all."""


class WriterLock:
    """A reentrant lock; the thread that takes it finds in the store all that was written.

    Writers of one process wait for each other whatever their projects. Where several processes write, those
    of the same project do.

    Args:
        commit_held: Commits what the thread holds back; called before each time the lock is taken.
        keep_others_out: Keeps the writers of other processes out of some projects while it lasts.
    """

    def __init__(
        self,
        commit_held: Callable[[], None],
        keep_others_out: Callable[[Projects], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._commit_held = commit_held
        self._keep_others_out = keep_others_out
        self._lock = threading.RLock()
        self._depth = 0
        self._others = ExitStack()

    def acquire(self, blocking: bool = True, timeout: float = -1, *, projects: Projects = None) -> bool:
        """Take the lock, as `threading.RLock.acquire` does; a thread that has it keeps its projects.

        Raises:
            StorageError: The writers of other processes cannot be kept out; the lock is free.
        """
        self._commit_held()
        if not self._lock.acquire(blocking, timeout):
            return False
        try:
            if not self._depth:
                self._others.enter_context(self._keep_others_out(projects))
        except BaseException:
            self._lock.release()
            raise
        self._depth += 1
        return True

    def release(self) -> None:
        """Give the lock back."""
        self._depth -= 1
        try:
            if not self._depth:
                self._others.close()
        finally:
            self._lock.release()

    @contextmanager
    def of(self, projects: Projects) -> Iterator[None]:
        """Hold the lock for some projects alone."""
        self.acquire(projects=projects)
        try:
            yield
        finally:
            self.release()

    @property
    def of_this_process(self) -> AbstractContextManager[object]:
        """The lock without what keeps other processes out: for what follows them."""
        return self._lock

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
