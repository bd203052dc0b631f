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

        Raises:
            StorageError: The database cannot be reached; nothing is claimed any more.
        """
        locks = {job_lock(self._database.schema, id): id for id in ids}
        rows = self._run(
            "SELECT lock FROM unnest(%s::bigint[]) AS lock WHERE pg_try_advisory_lock(lock)", locks
        )
        return {locks[lock] for (lock,) in rows}

    def release(self, ids: Iterable[str]) -> None:
        """Give up claims.

        Raises:
            StorageError: As `claim`.
        """
        locks = {job_lock(self._database.schema, id): id for id in ids}
        self._run("SELECT pg_advisory_unlock(lock) FROM unnest(%s::bigint[]) AS lock", locks)

    def _run(self, statement: str, locks: dict[int, str]) -> list[tuple[int]]:
        if not locks:
            return []
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._holding.enter_context(self._database.apart())
                with database_errors():
                    return self._connection.execute(statement.encode(), [list(locks)]).fetchall()
            except StorageError:
                self._end()
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
