"""Checkpoints of a graph database: when its log is written into the file, how, and what follows a failure.

A checkpoint runs while there are no open readers: LadybugDB crashes if a read runs in parallel, and Kuzu
waits for seconds and gives up. So the engines are opened without checkpoints of their own.

An engine that could not write to the disk is broken: LadybugDB never returns from its next commit, Kuzu finds
no row by its key and loses what it acknowledges, and either may end the process when it is closed. So it is
never used, closed or freed again: the file is opened anew, after a failed commit with its log cut back.
"""

import logging
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import DiskFullError, StorageError
from hydramem.storage.cypher.connection_pool import ConnectionPool
from hydramem.storage.cypher.open_database import (
    PoolFullError,
    claim,
    engine_errors,
    keep_for_ever,
    load_engine,
    log_file,
    open_database,
    release_claim,
)
from hydramem.storage.cypher.recovery.check_log import check_log
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.free_space import require_free

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

# Free space for a checkpoint: a half of the file, and twice the log.
_FILE_PER_CHECKPOINT = 2
_LOGS_PER_CHECKPOINT = 2

# Writes do not try again at once a checkpoint that failed: each failure costs the memory of an engine.
_SECONDS_AFTER_FAILURE = 60.0

# File systems date a write by a clock that ticks every few milliseconds.
_TICK_SECONDS = 0.02


class CheckpointedDatabase:
    """An open graph file, its connections, and the checkpoints of its log.

    Where memory runs out in a checkpoint, what the engine holds in memory may contradict the file, and the
    next checkpoint would write it down. So after such a failure the database is dropped as it is, and opened
    again with more memory from its file and its log, which hold all that was committed. A database that was
    dropped is opened by its next use. Callers of a method that checkpoints or drops hold the writer lock.
    """

    def __init__(self, file: Path, settings: StorageConfig, *, salvage: bool = False) -> None:
        """Open or create a graph file; see `Engine` for the arguments and errors."""
        self.file = file
        self.connections = ConnectionPool(file, self._connect)
        self._settings = settings
        self._copying = False
        self._no_checkpoint_until = 0.0
        self._opening = threading.Lock()
        self._database: Any | None = None
        self._pool = 0
        # Where the log must be cut before it is opened; None where it is whole.
        self._log_end: int | None = None
        self._broken = False
        self._library = load_engine(settings.graph)
        self._owner = claim(file, self)
        try:
            check_log(file, settings, salvage=salvage)
            self._open()
        except BaseException:
            release_claim(self._owner)
            raise

    def _open(self) -> None:
        self._cut_log()
        self._database, self._pool = open_database(self._library, self.file, self._settings, least=self._pool)
        self._writes = 0
        self._columns_set = self.log_size() // _LOG_BYTES_PER_COLUMN_SET

    def _connect(self) -> Any:
        with self._opening:
            if self._database is None:
                self._open()
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
        if not self._is_due() or time.monotonic() < self._no_checkpoint_until:
            return
        try:
            self.checkpoint()
        except StorageError as error:
            self._no_checkpoint_until = time.monotonic() + _SECONDS_AFTER_FAILURE
            log.warning("%s", error)

    def _is_due(self) -> bool:
        room = min(self._pool // _POOL_PER_COLUMNS_SET, _MOST_COLUMNS_SET_BYTES)
        if self._columns_set * _BYTES_PER_COLUMN_SET > room or self.log_size() > _MOST_LOG_BYTES:
            return True
        # While a copy is being made, only what must be checkpointed is.
        return self._writes >= _WRITES_PER_CHECKPOINT and not self._copying

    def require_room(self) -> None:
        """Check that the disk has room for a write.

        Raises:
            DiskFullError: It is nearly full.
        """
        require_free(self.file.parent, self._settings.min_free_mb << 20, "a write")

    def _require_room_to_checkpoint(self) -> None:
        """Check that the disk has room for a checkpoint: it writes changes beside what they replace."""
        if held := self.log_size():
            pages = self.file.stat().st_size // _FILE_PER_CHECKPOINT + _LOGS_PER_CHECKPOINT * held
            require_free(self.file.parent, (self._settings.min_free_mb << 20) + pages, "a checkpoint")

    # How ----------------------------------------------------------------------------------------
    def checkpoint(self) -> None:
        """Write the log into the file; where that fails, once more in a database that is opened anew.

        Raises:
            DiskFullError: The disk has no room for it; nothing is lost.
            StorageError: Both failed; nothing is lost, the log keeps what was written.
        """
        self._require_room_to_checkpoint()
        with self.connections.exclusive():
            try:
                self._checkpoint()
            except StorageError as error:
                log.warning("%s; it is opened again from its log", error)
                if isinstance(error, PoolFullError):
                    self._pool *= 2
                self._checkpoint()
            if self.file.stat().st_size * _LEAST_POOL_PER_FILE > self._pool:
                self._drop()

    def _checkpoint(self) -> None:
        """Write the log into the file; a database that fails is dropped."""
        connection = self._connect()
        try:
            with engine_errors(self.file, self._settings.graph):
                connection.execute("CHECKPOINT").close()
        except PoolFullError:
            connection.close()
            self._drop()
            raise
        except StorageError:
            keep_for_ever(connection)
            self._abandon()
            raise
        connection.close()
        self._writes = self._columns_set = 0

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
            try:
                self._require_room_to_checkpoint()
            except DiskFullError as error:
                log.warning("%s", error)
            else:
                self._checkpoint()

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
            elif self.log_size() > self._log_end:
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
                self._require_room_to_checkpoint()
                self._checkpoint()
        except StorageError as error:
            log.warning("%s; the next opening reads the log", error)
        finally:
            self._drop()
            if self._broken:
                _unlock(self.file)
            release_claim(self._owner)


def _stamp(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns


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
