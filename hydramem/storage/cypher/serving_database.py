"""The open generation of a graph file: its connections, what replaces it, and what follows a failure.

An engine that could not write to the disk is broken: LadybugDB never returns from its next commit, Kuzu finds
no row by its key and loses what it acknowledges, and either may end the process when it is closed. So it is
never used, closed or freed again: the file is opened anew, after a failed commit with its log cut back.
"""

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.checkpoints.generations import first_file, remove_others, serving_file
from hydramem.storage.cypher.connection import Connection
from hydramem.storage.cypher.connection_pool import ConnectionPool
from hydramem.storage.cypher.open_database import (
    claim,
    engine_errors,
    keep_for_ever,
    load_engine,
    log_file,
    open_database,
    release_claim,
)
from hydramem.storage.cypher.recovery.check_log import check_log
from hydramem.storage.cypher.recovery.closed_log import note_closed
from hydramem.storage.cypher.recovery.read_only_log import require_readable_log
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.free_space import require_free
from hydramem.storage.files.read_only import read_only_error

log = logging.getLogger(__name__)


class ServingDatabase:
    """The generation of a graph that serves, and its connections.

    A database that was dropped is opened by its next use. Callers of a method that drops or replaces it hold
    the writer lock.

    Attributes:
        file: The generation that serves.
        connections: The connections to it.
        read_only: Whether its folder cannot be written: the engine reads the file and its log as they are.
    """

    def __init__(
        self, file: Path, settings: StorageConfig, *, salvage: bool = False, read_only: bool = False
    ) -> None:
        """Open or create a graph file; see `Engine` for the arguments and errors."""
        self.file = serving_file(file)
        self.read_only = read_only
        self.connections = ConnectionPool(file, self._connect)
        self._settings = settings
        self._opening = threading.Lock()
        self._database: Any | None = None
        self._pool = 0
        # Where the log must be cut before it is opened; None where it is whole.
        self._log_end: int | None = None
        self._broken = False
        self._library = load_engine(settings.graph)
        self._owner = claim(first_file(file), self)
        try:
            if read_only:
                require_readable_log(self.file, settings)
                self._open()
            else:
                check_log(self.file, settings, salvage=salvage)
                self._open()
                with storage_errors(self.file.parent, "what an older generation left cannot be deleted"):
                    remove_others(self.file)
        except BaseException:
            release_claim(self._owner)
            raise

    def _open(self) -> None:
        self._cut_log()
        self._database, self._pool = open_database(
            self._library, self.file, self._settings, least=self._pool, read_only=self.read_only
        )

    def _connect(self) -> Connection:
        with self._opening:
            if self._database is None:
                self._open()
        return self.connect(self._database)

    def connect(self, database: Any) -> Connection:
        """Return a new connection to a database of this engine."""
        with engine_errors(self.file, self._settings.graph):
            return Connection(self._library, database)

    @property
    def pool(self) -> int:
        """Bytes of the engine's pool of pages."""
        return self._pool

    def log_size(self) -> int:
        """Return the bytes of the log, without what a failed commit left."""
        if self._log_end is not None:
            return self._log_end
        try:
            return log_file(self.file).stat().st_size
        except FileNotFoundError:
            return 0

    def require_room(self) -> None:
        """Check that the disk has room for a write.

        Raises:
            ReadOnlyError: The folder cannot be written.
            DiskFullError: The disk is nearly full.
        """
        if self.read_only:
            raise read_only_error(self.file.parent.parent)
        require_free(self.file.parent, self._settings.min_free_mb << 20, "a write")

    # Another database in its place ----------------------------------------------------------------
    def open_beside(self, file: Path) -> tuple[Any, int]:
        """Open another generation; return it, and the bytes of its pool.

        Raises:
            StorageError: It cannot be opened.
        """
        return open_database(self._library, file, self._settings, least=self._pool)

    def replace(self, file: Path, database: Any, pool: int) -> Callable[[], None]:
        """Serve another generation, which is open; reads that go on finish with the former one.

        Returns:
            Waits for these reads, then closes the former one.
        """
        former = self._database

        def put() -> None:
            self.file, self._database, self._pool, self._log_end = file, database, pool, None

        wait = self.connections.begin_period(put)

        def close_former() -> None:
            wait()
            if former is not None:
                with engine_errors(file, self._settings.graph):
                    former.close()

        return close_former

    def reopen_with_more(self, *, log_end: int | None = None) -> None:
        """Open the file again with twice the memory, after memory ran out.

        Args:
            log_end: Bytes of the log before a transaction that failed, which is cut off.
        """
        with self.connections.exclusive():
            log.info("%s: memory ran out; it is opened again with more", self.file)
            self._drop()
            self._log_end = log_end
            self._pool *= 2

    def discard_failed_commit(self, log_end: int) -> None:
        """Abandon the engine whose commit failed, and cut off its log what it wrote of that commit.

        Args:
            log_end: Bytes of the log before the transaction.

        Raises:
            StorageError: The log cannot be cut; it is tried again before the next use.
        """
        with self.connections.exclusive():
            self._abandon()
            self._log_end = log_end
            self._cut_log()

    def _cut_log(self) -> None:
        if self._log_end is None:
            return
        wal = log_file(self.file)
        with storage_errors(wal, "a failed commit cannot be cut off"):
            if not self._log_end:
                wal.unlink(missing_ok=True)
            elif wal.stat().st_size > self._log_end:
                _truncate(wal, self._log_end)
        self._log_end = None

    def _drop(self) -> None:
        """Close the database without a checkpoint."""
        if self._database is None:
            return
        self.connections.close_idle()
        with engine_errors(self.file, self._settings.graph):
            self._database.close()
        self._database = None

    def _abandon(self) -> None:
        """Leave a broken database as it is, for ever: closing or freeing it may end the process."""
        for part in (self._database, *self.connections.take_idle()):
            keep_for_ever(part)
        self._database = None
        self._broken = True

    def close(self) -> None:
        """Wait for running calls, then release the file as it is; harmless when repeated."""
        if self.connections.forked or not self.connections.close():
            return
        try:
            self._drop()
            if self._settings.graph == "kuzu" and not self.read_only and self._log_end is None:
                self._note_closed()
        finally:
            if self._broken:
                _unlock(self.file)
            release_claim(self._owner)

    def _note_closed(self) -> None:
        try:
            note_closed(log_file(self.file))
        except StorageError as error:
            log.warning("%s; the next opening tries the log in another process first", error)


def _truncate(file: Path, size: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(size)
        try:
            os.fsync(opened.fileno())
        except OSError as error:
            # What is cut off was not acknowledged: should a power cut bring it back, nothing is lost.
            log.warning("%s: cut back to %d bytes, which may not last: %s", file, size, error)


def _unlock(file: Path) -> None:
    """Give back the lock of a broken database, which stays open: closing any handle of a file does that."""
    with storage_errors(file, "cannot be unlocked"):
        file.open("rb").close()
