"""Which jobs this process does: a job is claimed by a lock of a connection, which dies with its process."""

import threading
from collections.abc import Iterable
from contextlib import ExitStack

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Connection, Database, database_errors, release_locks
from hydramem.storage.postgres.project_locks import job_lock


class JobClaims:
    """The claims of one process. Safe to use from many threads.

    Args:
        database: Where the jobs are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._holding = ExitStack()
        self._connection: Connection | None = None

    def claim(self, ids: Iterable[str]) -> set[str]:
        """Claim jobs; return those that no other living process has claimed.

        A connection that was lost has lost its claims: these are made on a new one.

        Raises:
            StorageError: The database cannot be reached; nothing is claimed any more.
        """
        locks = {job_lock(self._database.schema, id): id for id in ids}
        statement = "SELECT lock FROM unnest(%s::bigint[]) AS lock WHERE pg_try_advisory_lock(lock)"
        rows = self._run(statement, locks)
        if rows is None:
            rows = self._run(statement, locks)
        if rows is None:
            raise StorageError("the database of HYDRAMEM_STORAGE_URL: it closes connections; try again")
        return {locks[lock] for (lock,) in rows}

    def release(self, ids: Iterable[str]) -> None:
        """Give up claims; those of a lost connection are given up already.

        Raises:
            StorageError: The database refused.
        """
        locks = {job_lock(self._database.schema, id): id for id in ids}
        self._run("SELECT pg_advisory_unlock(lock) FROM unnest(%s::bigint[]) AS lock", locks)

    def _run(self, statement: str, locks: dict[int, str]) -> list[tuple[int]] | None:
        """Return the rows of a statement; None where the connection of the claims was lost."""
        if not locks:
            return []
        with self._lock:
            connection = self._connection
            try:
                if connection is None:
                    connection = self._connection = self._holding.enter_context(self._database.apart())
                with database_errors():
                    return connection.execute(statement.encode(), [list(locks)]).fetchall()
            except StorageError:
                self._end()
                if connection is not None and connection.closed:
                    return None
                raise

    def _end(self) -> None:
        if self._connection is not None:
            release_locks(self._connection)
        self._connection = None
        self._holding.close()

    def close(self) -> None:
        """Give up every claim; harmless when repeated."""
        with self._lock:
            self._end()
