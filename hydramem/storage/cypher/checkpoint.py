"""Checkpoints of a graph database: when its log is written into the file, how, and what follows a failure.

A checkpoint runs while there are no open readers: LadybugDB crashes if a read runs in parallel, and Kuzu
waits for seconds and gives up. So the engines are opened without checkpoints of their own.
"""

import logging
import shutil
import threading
import time
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.connection_pool import ConnectionPool
from hydramem.storage.cypher.open_database import (
    PoolFullError,
    claim,
    engine_errors,
    load_engine,
    log_file,
    open_database,
    release_claim,
)
from hydramem.storage.cypher.recovery.check_log import check_log

log = logging.getLogger(__name__)

# The log is checkpointed when it is large, and before: values that were set stay in the engine's pool of
# pages until then, a vector of 2,048 for each, and so does a small change (64 MiB after 2,800 single writes).
# Few checkpoints are best: one that meets a new or deleted edge writes most of that table anew, which takes
# seconds where there are half a million.
_MOST_LOG_BYTES = 32 << 20
_WRITES_PER_CHECKPOINT = 4000
_BYTES_PER_COLUMN_SET = 16 << 10
_LOG_BYTES_PER_COLUMN_SET = 160
_POOL_PER_COLUMNS_SET = 3
_MOST_COLUMNS_SET_BYTES = 512 << 20
_LEAST_POOL_PER_FILE = 2
_COPIES_BESIDE_WRITERS = 3

# File systems date a write by a clock that ticks every few milliseconds.
_TICK_SECONDS = 0.02


class CheckpointedDatabase:
    """An open graph file, its connections, and the checkpoints of its log.

    Where memory runs out in a checkpoint, what the engine holds in memory may contradict the file, and the
    next checkpoint would write it down. So after such a failure the database is dropped as it is, and opened
    again with more memory from its file and its log, which hold all that was committed. Callers of a method
    that checkpoints or reopens hold the writer lock.
    """

    def __init__(self, file: Path, settings: StorageConfig, *, salvage: bool = False) -> None:
        """Open or create a graph file; see `Engine` for the arguments and errors."""
        self.file = file
        self.connections = ConnectionPool(file, self._connect)
        self._settings = settings
        self._copying = False
        self._library = load_engine(settings.graph)
        self._owner = claim(file, self)
        try:
            check_log(file, settings, salvage=salvage)
            self._open()
        except BaseException:
            release_claim(self._owner)
            raise

    def _open(self, *, pool: int = 0) -> None:
        self._database, self._pool = open_database(self._library, self.file, self._settings, least=pool)
        self._writes = 0
        self._columns_set = self.log_size() // _LOG_BYTES_PER_COLUMN_SET

    def _connect(self) -> Any:
        with engine_errors(self.file, self._settings.graph):
            return self._library.Connection(self._database)

    @property
    def pool(self) -> int:
        """Bytes of the engine's pool of pages."""
        return self._pool

    def log_size(self) -> int:
        """Return the bytes of the log."""
        try:
            return log_file(self.file).stat().st_size
        except FileNotFoundError:
            return 0

    # When to checkpoint -------------------------------------------------------------------------
    def count_write(self) -> None:
        """Count a committed transaction."""
        self._writes += 1

    def count_columns_set(self, number: int) -> None:
        """Count the values that a transaction has set."""
        self._columns_set += number

    def checkpoint_if_due(self) -> None:
        """Checkpoint after a write where that pays; a failure is logged, and the log keeps the write."""
        if not self._is_due():
            return
        try:
            self.checkpoint()
        except StorageError as error:
            log.warning("%s", error)

    def _is_due(self) -> bool:
        room = min(self._pool // _POOL_PER_COLUMNS_SET, _MOST_COLUMNS_SET_BYTES)
        if self._columns_set * _BYTES_PER_COLUMN_SET > room or self.log_size() > _MOST_LOG_BYTES:
            return True
        # While a copy is being made, only what must be checkpointed is.
        return self._writes >= _WRITES_PER_CHECKPOINT and not self._copying

    # How ----------------------------------------------------------------------------------------
    def checkpoint(self) -> None:
        """Write the log into the file; where that fails, once more in a database that is opened anew.

        Raises:
            StorageError: Both failed; nothing is lost, the log keeps what was written.
        """
        with self.connections.exclusive():
            try:
                self._checkpoint()
            except StorageError as error:
                log.warning("%s; it is opened again from its log", error)
                more = 2 if isinstance(error, PoolFullError) else 1
                self._reopen_and_checkpoint(pool=more * self._pool)
            if self.file.stat().st_size * _LEAST_POOL_PER_FILE > self._pool:
                self._reopen(pool=self._pool)

    def _checkpoint(self) -> None:
        connection = self._connect()
        try:
            with engine_errors(self.file, self._settings.graph):
                connection.execute("CHECKPOINT").close()
        finally:
            connection.close()
        self._writes = self._columns_set = 0

    def reopen_with_more(self) -> None:
        """Open the file again with twice the memory, after memory ran out."""
        with self.connections.exclusive():
            log.info("%s: memory ran out; it is opened again with more", self.file)
            self._reopen_and_checkpoint(pool=2 * self._pool)

    def _reopen_and_checkpoint(self, *, pool: int) -> None:
        """Open the file anew and checkpoint its log; where even that fails, leave it open with its log."""
        self._reopen(pool=pool)
        try:
            self._checkpoint()
        except StorageError:
            self._reopen(pool=self._pool)
            raise

    def _reopen(self, *, pool: int) -> None:
        """Drop the open database without a checkpoint, and open what its file and its log hold."""
        try:
            self._drop()
            self._open(pool=pool)
        except BaseException:
            self.connections.close(wait=False)
            release_claim(self._owner)
            raise

    def _drop(self) -> None:
        self.connections.close_idle()
        with engine_errors(self.file, self._settings.graph):
            self._database.close()

    # Copying and closing ------------------------------------------------------------------------
    def copy_to(self, copy: Path, writer: threading.Lock) -> None:
        """Copy the file as it is at one moment, while others read and write.

        After a checkpoint the file holds everything, and later writes go to the log alone, until the next
        checkpoint. A copy during which one came is discarded.

        Args:
            writer: The writer lock, not held.

        Raises:
            StorageError: The log cannot be checkpointed.
            OSError: The file cannot be copied.
        """
        self._copying = True
        try:
            for _ in range(_COPIES_BESIDE_WRITERS):
                with writer:
                    stamp = self._checkpointed_stamp()
                shutil.copyfile(self.file, copy)
                if _stamp(self.file) == stamp:
                    return
        finally:
            self._copying = False
        with writer:
            self._checkpointed_stamp()
            shutil.copyfile(self.file, copy)

    def _checkpointed_stamp(self) -> tuple[int, int]:
        """Checkpoint; return the stamp by which a later write to the file is detected."""
        self.checkpoint()
        time.sleep(_TICK_SECONDS)
        return _stamp(self.file)

    def close(self, *, checkpoint: bool = True) -> None:
        """Wait for running calls, then release the file; harmless when repeated.

        Args:
            checkpoint: Whether to checkpoint the log; else the file stays as it is.
        """
        if self.connections.forked or not self.connections.close():
            return
        try:
            if checkpoint and self.log_size():
                self._checkpoint()
        except StorageError as error:
            log.warning("%s; the next opening reads the log", error)
        finally:
            self._drop()
            release_claim(self._owner)


def _stamp(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns
