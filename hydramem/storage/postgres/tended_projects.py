"""Which projects the gardener of this process tends: a lock of a connection, which dies with its process.

The connection is idle for most of a night and may be lost, and the lock with it. So each write of the thread
that tends asks first whether the lock is still held, while it holds the locks of its projects. Who takes the
lock anew waits for those once: no write of the gardener before comes after that.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import psycopg

from hydramem.core.errors import StoreBusyError
from hydramem.storage.postgres.connection import Connection, Database, database_errors, release_locks
from hydramem.storage.postgres.held_locks import hold_projects
from hydramem.storage.postgres.project_locks import night_lock

_TAKE = "SELECT pg_try_advisory_lock(%s)"


class TendedProjects:
    """The locks of the gardeners of one process; each is of the thread that took it.

    Args:
        database: Which gives out the locks.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own = threading.local()

    @contextmanager
    def tending(self, projects: Sequence[str]) -> Iterator[bool]:
        """Keep other gardeners from some projects while this lasts, and say whether none is there now.

        Raises:
            StoreBusyError: Who writes to the projects keeps them for too long.
            StorageError: The database cannot be reached.
        """
        with ExitStack() as holding:
            locks = _NightLocks(self._database, projects, holding)
            alone = locks.take()
            if alone:
                self._wait_for_writer(projects)
            self._own.locks = locks if alone else None
            try:
                yield alone
            finally:
                self._own.locks = None

    def _wait_for_writer(self, projects: Sequence[str]) -> None:
        """Wait until who writes to some projects now has ended: it may be a gardener that lost its lock."""
        with self._database.apart() as connection:
            try:
                hold_projects(connection, self._database.schema, projects)
            finally:
                release_locks(connection)

    def check(self) -> None:
        """Take the locks of this thread again where their connection was lost; nothing where it has none.

        Raises:
            StoreBusyError: Another gardener has them by now.
            StorageError: The database cannot be reached.
        """
        locks: _NightLocks | None = getattr(self._own, "locks", None)
        if locks is not None and not (locks.held() or locks.take()):
            raise StoreBusyError(
                f"{', '.join(locks.projects)}: the connection that kept other gardeners out was lost, and "
                "the gardener of another machine is at it; nothing was written"
            )


class _NightLocks:
    """The locks of some projects, on one connection after another.

    Args:
        database, projects: Where, and whose.
        holding: Gives the connection back when it ends.
    """

    def __init__(self, database: Database, projects: Sequence[str], holding: ExitStack) -> None:
        self.projects = sorted(projects)
        self._database = database
        self._holding = holding
        self._connection: Connection | None = None

    def held(self) -> bool:
        """Say whether the connection lives, and the locks with it."""
        if self._connection is None:
            return False
        try:
            self._connection.execute("SELECT 1")
        except psycopg.OperationalError:
            self._holding.close()
            self._connection = None
            return False
        return True

    def take(self) -> bool:
        """Take all of the locks on a connection of the pool, or none."""
        connection = self._holding.enter_context(self._database.apart())
        self._holding.callback(release_locks, connection)
        locks = sorted(night_lock(self._database.schema, project) for project in self.projects)
        with database_errors():
            if all(connection.execute(_TAKE, [lock]).fetchone() == (True,) for lock in locks):
                self._connection = connection
                return True
        self._holding.close()
        return False
