"""One open graph database: statements and transactions, with many readers and one writer at a time."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import DiskFullError, StorageError
from hydramem.storage.cypher.checkpoints.checkpoint import Checkpoints, Statement
from hydramem.storage.cypher.connection import Connection
from hydramem.storage.cypher.open_database import PoolFullError, engine_errors
from hydramem.storage.cypher.serving_database import ServingDatabase

log = logging.getLogger(__name__)
Parameters = Mapping[str, object]
Query = Callable[[str, Parameters], list[list[Any]]]
"""Runs one statement and returns its rows; the result is closed before it returns."""


class _CommitFailedError(Exception):
    """A commit failed, which leaves the engine broken."""

    def __init__(self, reason: StorageError) -> None:
        super().__init__(str(reason))
        self._reason = reason

    def as_raised(self) -> StorageError:
        """Return the error for the caller, once the engine is replaced."""
        remedy = (
            "make room and write it again" if isinstance(self._reason, DiskFullError) else "write it again"
        )
        return type(self._reason)(f"{self._reason}; nothing of the write is stored: {remedy}")


class Engine:
    """An open graph database: connections for reads, one writer at a time."""

    def __init__(
        self, file: Path, settings: StorageConfig, *, salvage: bool = False, read_only: bool = False
    ) -> None:
        """Open or create a graph file.

        Args:
            file: The graph file, any generation of it; its folder must exist.
            settings: Which engine, and its memory limits.
            salvage: Whether to open what comes before the damage of a log, which is kept aside.
            read_only: Whether the folder cannot be written: no file is changed, and writes are refused.

        Raises:
            ConfigError: The limits are not possible, or the other engine is loaded in this process.
            StoreBusyError: The file is open already, here or in another process.
            SchemaError: The file was written by another version of the engine.
            StorageError: The file or its log is damaged or cannot be opened.
        """
        self.name = settings.graph
        self.database = ServingDatabase(file, settings, salvage=salvage, read_only=read_only)
        self._writer = threading.Lock()
        self._checkpoints = Checkpoints(self.database, self._writer, settings)

    @property
    def file(self) -> Path:
        """The generation of the graph file that serves."""
        return self.database.file

    @contextmanager
    def reading(self) -> Iterator[Query]:
        """Give a runner of reads; each statement is its own transaction, repeated where memory ran out."""
        connections = self.database.connections
        used = [connections.acquire()]

        def query(statement: str, parameters: Parameters) -> list[list[Any]]:
            pool = self.database.pool
            try:
                return self._run(used[0], statement, parameters)
            except PoolFullError:
                connections.release(used.pop())
                self._enlarge_pool(pool)
                used.append(connections.acquire())
                return self._run(used[0], statement, parameters)

        try:
            yield query
        finally:
            for connection in used:
                connections.release(connection)

    def arrow(self, statement: str, parameters: Parameters) -> Any:
        """Run a read and return its rows as a pyarrow Table; repeated where memory ran out."""
        pool = self.database.pool
        try:
            return self._read_arrow(statement, parameters)
        except PoolFullError:
            self._enlarge_pool(pool)
            return self._read_arrow(statement, parameters)

    def _read_arrow(self, statement: str, parameters: Parameters) -> Any:
        with self.database.connections.connection() as connection, engine_errors(self.file, self.name):
            result = connection.execute(statement, parameters)
            try:
                return result.get_as_arrow(65_536)
            finally:
                result.close()

    def _enlarge_pool(self, pool: int) -> None:
        """Reopen the file with more memory than a pool in which a read ran out, unless that was done."""
        with self._writer:
            if self.database.pool <= pool:
                self.database.reopen_with_more()
                self._checkpoints.start()

    def transact(self, work: Callable[[Query], int]) -> None:
        """Run some writes in one transaction.

        Args:
            work: Runs them, and returns how many times it set a column; repeated where memory ran out.
        """
        try:
            self._transact(work)
        except PoolFullError:
            self._transact(work)

    def _transact(self, work: Callable[[Query], int]) -> None:
        with self.writing() as query:
            self._checkpoints.count_columns_set(work(query))

    @contextmanager
    def writing(self) -> Iterator[Query]:
        """Hold the writer lock and one transaction: committed at the end, rolled back on any error.

        Where memory ran out, there is more of it when the error is raised. Where the commit failed, the
        engine is replaced by then, and nothing of the transaction is stored.

        Raises:
            DiskFullError: The disk is full, or nearly so; nothing is written.
        """
        self._checkpoints.let_switch()
        with self._writer:
            self.database.require_room()
            log_end = self.database.log_size()
            try:
                with self.database.connections.connection() as connection:
                    yield from self._in_transaction(connection)
            except PoolFullError:
                self.database.reopen_with_more(log_end=log_end)
                self._checkpoints.start()
                raise
            except _CommitFailedError as failed:
                self.database.discard_failed_commit(log_end)
                raise failed.as_raised() from failed
            self._checkpoints.start_if_due()

    def _in_transaction(self, connection: Connection) -> Iterator[Query]:
        statements: list[Statement] = []

        def query(statement: str, parameters: Parameters) -> list[list[Any]]:
            rows = self._run(connection, statement, parameters)
            statements.append((statement, parameters))
            return rows

        try:
            self._run(connection, "BEGIN TRANSACTION", {})
            yield query
            self._commit(connection)
        except _CommitFailedError:
            raise  # the engine is broken, and may hang in what follows
        except BaseException:
            self._roll_back(connection)
            raise
        self._checkpoints.note_commit(statements)

    def _commit(self, connection: Connection) -> None:
        try:
            self._run(connection, "COMMIT", {})
        except PoolFullError:
            raise
        except StorageError as error:
            raise _CommitFailedError(error) from error

    def _roll_back(self, connection: Connection) -> None:
        try:
            self._run(connection, "ROLLBACK", {})
        except StorageError as error:
            # An error of the engine itself has ended the transaction already.
            log.debug("%s: nothing to roll back: %s", self.file, error)

    def _run(self, connection: Connection, statement: str, parameters: Parameters) -> list[list[Any]]:
        with engine_errors(self.file, self.name):
            result = connection.execute(statement, parameters)
            try:
                rows: list[list[Any]] = result.get_all()
                return rows
            finally:
                result.close()

    def checkpoint(self, *, least: int = 0) -> bool:
        """Write what the log holds into the next generation of the file, and wait for it; others go on.

        Args:
            least: Bytes of a log below which nothing is done.

        Returns:
            Whether there was such a log.

        Raises:
            StorageError: The file is closed, or it cannot be written; nothing is lost, the log keeps it.
        """
        self.database.connections.require_open()
        if self.database.log_size() < least:
            return False
        self._checkpoints.run()
        return True

    def copy_to(self, copy: Path) -> None:
        """Copy the graph as it is at one moment, while others read and write; see `Checkpoints`."""
        self._checkpoints.copy_to(copy)

    def close(self, *, checkpoint: bool = True) -> None:
        """Wait for running calls, then release the file; harmless when repeated.

        Args:
            checkpoint: Whether to checkpoint a log that is large.
        """
        if not self.database.connections.forked:
            self._checkpoints.close(checkpoint=checkpoint)
            self.database.close()
