"""A graph file in a folder that cannot be written: read with its log as it is, never changed."""

import logging
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.connection_pool import ConnectionPool
from hydramem.storage.cypher.open_database import (
    claim,
    engine_errors,
    load_engine,
    log_file,
    open_database,
    release_claim,
)
from hydramem.storage.cypher.recovery.log_records import read_checked_log
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.read_only import read_only_error

log = logging.getLogger(__name__)
_SECONDS = 120.0

# Kuzu's log has no checksums, and a damaged one may end the process that reads it.
_TRIAL = """
import importlib, sys
engine, file, size = sys.argv[1:]
library = importlib.import_module(engine)
database = library.Database(file, read_only=True, buffer_pool_size=int(size), max_db_size=int(size))
library.Connection(database).execute("CALL show_tables() RETURN count(*)")
"""


class ReadOnlyDatabase:
    """An open graph file that nothing writes; it stands in the place of a `CheckpointedDatabase`.

    The engines read a log without changing it, so that no copy of the file is made.
    """

    def __init__(self, file: Path, settings: StorageConfig) -> None:
        """Open a graph file for reading; see `Engine` for the arguments and errors."""
        self.file = file
        self.connections = ConnectionPool(file, self._connect)
        self._settings = settings
        self._library = load_engine(settings.graph)
        self._opening = threading.Lock()
        self._database: Any | None = None
        self._pool = 0
        self._owner = claim(file, self)
        try:
            _require_readable_log(file, settings)
            self._open()
        except BaseException:
            release_claim(self._owner)
            raise

    def _open(self) -> None:
        self._database, self._pool = open_database(
            self._library, self.file, self._settings, least=self._pool, read_only=True
        )

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
        wal = log_file(self.file)
        return wal.stat().st_size if wal.exists() else 0

    def reopen_with_more(self, *, log_end: int | None = None) -> None:
        """Open the file again with twice the memory, after memory ran out."""
        with self.connections.exclusive():
            self._drop()
            self._pool *= 2
            self._open()

    def require_room(self) -> NoReturn:
        """Refuse a write.

        Raises:
            ReadOnlyError: Always.
        """
        raise read_only_error(self.file.parent.parent)

    def count_write(self) -> None:
        """Do nothing: no write comes this far."""

    def count_columns_set(self, number: int) -> None:
        """Do nothing."""

    def checkpoint_if_due(self) -> None:
        """Do nothing."""

    def discard_failed_commit(self, log_end: int) -> NoReturn:
        """Refuse; see `require_room`."""
        self.require_room()

    def checkpoint(self) -> None:
        """Refuse where there is a log to be written into the file; see `require_room`."""
        if self.log_size():
            self.require_room()

    def copy_to(self, copy: Path, writer: threading.Lock) -> None:
        """Copy the file, which nothing changes.

        Raises:
            ReadOnlyError: There is a log, which the copy would lack.
            OSError: The file cannot be copied.
        """
        self.checkpoint()
        shutil.copyfile(self.file, copy)

    def _drop(self) -> None:
        self.connections.close_idle()
        if self._database is not None:
            with engine_errors(self.file, self._settings.graph):
                self._database.close()
        self._database = None

    def close(self, *, checkpoint: bool = True) -> None:
        """Wait for running calls, then release the file; harmless when repeated."""
        if self.connections.forked or not self.connections.close():
            return
        try:
            self._drop()
        finally:
            release_claim(self._owner)


def _require_readable_log(file: Path, settings: StorageConfig) -> None:
    """Raise StorageError where the log cannot be read as it is: it would have to be mended, and changed."""
    wal = log_file(file)
    unfinished = wal.with_name(f"{wal.name}.checkpoint")
    remedy = "make the folder writable, or copy it, and connect again"
    with storage_errors(wal, "cannot be read"):
        if unfinished.exists():
            raise StorageError(f"{unfinished}: a checkpoint was interrupted and must be finished; {remedy}")
        if not wal.exists() or not wal.stat().st_size:
            return
        checked = settings.graph == "ladybug"
        whole = read_checked_log(wal.read_bytes()).whole if checked else _opens(file, settings)
    if not whole:
        raise StorageError(f"{wal}: is torn or damaged and cannot be mended here; {remedy}")


def _opens(file: Path, settings: StorageConfig) -> bool:
    """Say whether a child process can open a file with its log."""
    # -P: the working folder is no place to import from.
    command = [sys.executable, "-P", "-c", _TRIAL, settings.graph, str(file), str(settings.max_db_gb << 30)]
    try:
        return not subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode  # noqa: S603 -- our own
    except subprocess.TimeoutExpired:
        return False
