"""The writer lock of a store."""

import threading
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import TracebackType

Projects = Collection[str] | None
"""The projects that a writer reads and writes; None for all."""

Writing = Callable[[Projects], AbstractContextManager[object]]
"""Returns the writer lock for some projects."""


class WriterLock:
    """A reentrant lock; the thread that takes it finds in the store all that was written.

    Writers of one process wait for each other whatever their projects. Where several processes write, those
    of the same project do: a writer names all of its projects when it begins. One that finds out later that
    it needs another one never waits for it, since the writer who has that one may wait for this: it gets the
    other project where that is free, else an error.

    Args:
        commit_held: Commits what the thread holds back; called before each time the lock is taken.
        keep_others_out: Keeps the writers of other processes out of some projects while it lasts; called
            again, by the thread that has the lock, for further ones.
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
        self._holder: int | None = None
        self._projects: set[str] | None = set()
        self._others = ExitStack()

    def acquire(self, blocking: bool = True, timeout: float = -1, *, projects: Projects = None) -> bool:
        """Take the lock, as `threading.RLock.acquire` does; a thread that has it keeps its projects.

        Raises:
            StoreBusyError: Another process has a further project of a thread that has the lock already.
            StorageError: The writers of other processes cannot be kept out; the lock is as it was.
        """
        self._commit_held()
        if not self._lock.acquire(blocking, timeout):
            return False
        try:
            self._keep_out_of(projects)
        except BaseException:
            self._lock.release()
            raise
        self._depth += 1
        self._holder = threading.get_ident()
        return True

    def _keep_out_of(self, projects: Projects) -> None:
        """Keep the writers of other processes out of those projects that they are not yet kept out of."""
        held = self._projects if self._depth else set()
        if self._depth and (held is None or (projects is not None and held.issuperset(projects))):
            return
        self._others.enter_context(self._keep_others_out(projects))
        self._projects = None if projects is None or held is None else held | set(projects)

    def release(self) -> None:
        """Give the lock back."""
        self._depth -= 1
        try:
            if not self._depth:
                self._holder = None
                self._others.close()
        finally:
            self._lock.release()

    def of(self, projects: Projects) -> "ProjectsLock":
        """Return the lock for some projects alone; none at all keeps nobody out but who wants the store."""
        return ProjectsLock(self, projects)

    @property
    def is_held_here(self) -> bool:
        """Whether this thread has the lock."""
        return self._holder == threading.get_ident()

    @property
    def is_outermost(self) -> bool:
        """Whether the thread that has the lock gives it back at its next release."""
        return self._depth == 1

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


class ProjectsLock:
    """The writer lock for some projects, to be taken any number of times.

    Args:
        lock, projects: The lock, and for which projects it is taken.
    """

    def __init__(self, lock: WriterLock, projects: Projects) -> None:
        self._lock = lock
        self._projects = projects

    def __enter__(self) -> None:
        self._lock.acquire(projects=self._projects)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
