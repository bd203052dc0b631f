"""One graph database file: opened within limits, read by many, written by one, its errors by our names."""

import ctypes
import importlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakValueDictionary

from hydramem.core.config import StorageConfig
from hydramem.core.errors import ConfigError, SchemaError, StorageError, StoreBusyError

log = logging.getLogger(__name__)

Parameters = Mapping[str, object]
Query = Callable[[str, Parameters], list[list[Any]]]
"""Runs one statement and returns its rows; the result is closed before it returns."""

# What the engines raise: RuntimeError for their own errors; pybind11 turns C++ exceptions into the others.
_BACKEND_ERRORS = (RuntimeError, MemoryError, ValueError, IndexError, OverflowError)

# The engines crash the process when two are imported into it.
_ENGINES = ("ladybug", "kuzu")

_open: "WeakValueDictionary[tuple[int, str], Engine]" = WeakValueDictionary()
_open_lock = threading.Lock()

_TORN_LOG = ("WAL file is corrupted", ".db.wal with size")
_NO_ROOM = "buffer pool is full"
# When to checkpoint is ours to say, since it must happen while nobody reads: LadybugDB crashes where a read
# goes on beside it, and Kuzu waits seconds and gives up. The log is folded when it is large, and before:
# values that were set stay in the buffer pool until then, and small changes fill it (64 MiB after 2,800
# single writes). Where there are half a million edges, it takes a second.
_MOST_LOG = 16 << 20
_WRITES_PER_CHECKPOINT = 800
_BYTES_PER_COLUMN_SET = 32 << 10
# A fold of much that changed holds most of the file in the pool; one that runs out of room may damage it.
_POOL_PER_FILE = 3
_COPIES_BESIDE_WRITERS = 3
_TICK = 0.02


class Engine:
    """An open graph database: a pool of connections for reads, one writer at a time."""

    def __init__(self, file: Path, settings: StorageConfig) -> None:
        """Open or create a graph file.

        Args:
            file: The graph file; its folder must exist.
            settings: Which engine, and its memory limits.

        Raises:
            ConfigError: The limits are not possible, or the other engine is loaded in this process.
            StoreBusyError: The file is open already, here or in another process.
            SchemaError: The file was written by another version of the engine.
            StorageError: The file is damaged or cannot be opened.
        """
        self.name = settings.graph
        self.file = file
        self._process = os.getpid()
        self._writer = threading.Lock()
        self._idle: list[Any] = []
        self._busy = 0
        self._folding = False
        self._copying = False  # while it lasts, only what must be folded is
        self._writes = 0
        self._columns_set = 0
        self._room = (settings.buffer_pool_mb << 20) // 8
        self._state = threading.Condition()
        self._closed = False
        self._library = _load(settings.graph)
        self._key = _claim(self)
        try:
            self._database = self._open(settings)
        except BaseException:
            _open.pop(self._key, None)
            raise

    def _open(self, settings: StorageConfig) -> Any:
        limits = _limits(settings, self.file)
        try:
            return self._library.Database(self.file, **limits)
        except _BACKEND_ERRORS as error:
            if not any(sign in str(error) for sign in _TORN_LOG):
                raise _opening_error(self.file, error) from error
            return self._open_torn(limits)

    def _open_torn(self, limits: dict[str, int]) -> Any:
        """Open a file whose log ends in a record that a dying process left half written.

        What was committed stands before it. The log is kept aside, in case it was damaged otherwise.
        """
        wal = self.file.with_name(self.file.name + ".wal")
        aside = wal.with_name(f"{wal.name}.torn-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        try:
            shutil.copy2(wal, aside)
            log.warning("%s: ends in a half-written record, which is left out; kept as %s", wal, aside.name)
            return self._library.Database(self.file, **limits, throw_on_wal_replay_failure=False)
        except (*_BACKEND_ERRORS, OSError) as error:
            raise _opening_error(self.file, error) from error

    @contextmanager
    def reading(self) -> Iterator[Query]:
        """Lend a connection; each statement is a transaction of its own."""
        connection = self._take()
        try:
            yield lambda statement, parameters: self._run(connection, statement, parameters)
        finally:
            self._give(connection)

    def transact(self, work: Callable[[Query], int]) -> None:
        """Do some writing in one transaction; checkpoint where the columns that were set fill the pool.

        Args:
            work: Does it, and returns how many times it set a column; done again where memory ran out.
        """
        try:
            with self.writing() as query:
                self._columns_set += work(query)
        except StorageError as error:
            if _NO_ROOM not in str(error):
                raise
            self.checkpoint()
            with self.writing() as query:
                self._columns_set += work(query)
        if self._columns_set * _BYTES_PER_COLUMN_SET > self._room:
            with self._writer, self.reading() as query:
                self._try_to_fold(query)

    @contextmanager
    def writing(self) -> Iterator[Query]:
        """Hold the writer lock and one transaction: committed at the end, rolled back on any error."""
        with self._writer, self.reading() as query:
            try:
                query("BEGIN TRANSACTION", {})
                yield query
                query("COMMIT", {})
            except BaseException:
                self._roll_back(query)
                raise
            self._fold_at_times(query)

    def _fold_at_times(self, query: Query) -> None:
        self._writes += 1
        due = self._writes % _WRITES_PER_CHECKPOINT == 0 and not self._copying
        if due or self._log_size() > _MOST_LOG:
            self._try_to_fold(query)

    def _try_to_fold(self, query: Query) -> None:
        """Fold after a write, which is committed in any case: the log keeps it until the next try."""
        try:
            self._fold(query)
        except StorageError as error:
            log.warning("%s", error)

    def _log_size(self) -> int:
        try:
            return self.file.with_name(f"{self.file.name}.wal").stat().st_size
        except FileNotFoundError:
            return 0

    def _roll_back(self, query: Query) -> None:
        try:
            query("ROLLBACK", {})
        except StorageError as error:
            # An error of the engine itself has ended the transaction already.
            log.debug("%s: nothing to roll back: %s", self.file, error)

    def arrow(self, statement: str, parameters: Parameters) -> Any:
        """Run a read and return its rows as a pyarrow Table."""
        connection = self._take()
        try:
            with self._mapped():
                result = _execute(connection, statement, dict(parameters))
                try:
                    return result.get_as_arrow(65_536)
                finally:
                    result.close()
        finally:
            self._give(connection)

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the main file."""
        with self._writer, self.reading() as query:
            self._fold(query)

    def _fold(self, query: Query) -> None:
        """Checkpoint while nobody reads."""
        with self._state:
            self._folding = True
            self._state.wait_for(lambda: self._busy == 1)
        try:
            query("CHECKPOINT", {})
            self._columns_set = 0
        finally:
            with self._state:
                self._folding = False
                self._state.notify_all()

    def copy_to(self, copy: Path) -> None:
        """Copy the file as it is at one moment, while others read and write.

        After a checkpoint the file holds everything, and what is written then goes to the log alone, until
        the next checkpoint. Where one came while the file was copied, that copy is worth nothing.

        Raises:
            StorageError: The file cannot be folded.
            OSError: It cannot be copied.
        """
        self._copying = True
        try:
            for _ in range(_COPIES_BESIDE_WRITERS):
                with self._writer, self.reading() as query:
                    stamp = self._settled(query)
                shutil.copyfile(self.file, copy)
                if _stamp(self.file) == stamp:
                    return
        finally:
            self._copying = False
        with self._writer, self.reading() as query:
            self._settled(query)
            shutil.copyfile(self.file, copy)

    def _settled(self, query: Query) -> tuple[int, int]:
        """Fold the log into the file; return by what to tell that it was written to since."""
        self._fold(query)
        # File systems date a write by a clock that ticks every few milliseconds.
        time.sleep(_TICK)
        return _stamp(self.file)

    def _run(self, connection: Any, statement: str, parameters: Parameters) -> list[list[Any]]:
        with self._mapped():
            result = _execute(connection, statement, dict(parameters))
            try:
                rows: list[list[Any]] = result.get_all()
                return rows
            finally:
                result.close()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except _BACKEND_ERRORS as error:
            raise StorageError(f"{self.file}: {self.name} failed: {error}") from error

    def _take(self) -> Any:
        if os.getpid() != self._process:
            raise StorageError(
                f"{self.file}: opened by process {self._process} and used in its fork {os.getpid()}; "
                "close it before forking and connect again in the child"
            )
        with self._state:
            self._state.wait_for(lambda: not self._folding)
            if self._closed:
                raise StorageError(f"{self.file}: the store is closed; connect again")
            self._busy += 1
            if self._idle:
                return self._idle.pop()
        try:
            with self._mapped():
                return self._library.Connection(self._database)
        except BaseException:
            self._release()
            raise

    def _give(self, connection: Any) -> None:
        with self._state:
            self._idle.append(connection)
        self._release()

    def _release(self) -> None:
        with self._state:
            self._busy -= 1
            self._state.notify_all()

    def leave_untouched(self) -> None:
        """Keep closing from rewriting the file, as LadybugDB else does even where nothing was written."""
        with self.reading() as query:
            query("CALL force_checkpoint_on_close=false", {})

    def close(self) -> None:
        """Wait for running calls, then release the file; harmless when repeated."""
        if os.getpid() != self._process:
            return  # the parent's to close
        with self._state:
            if self._closed:
                return
            self._closed = True
            self._state.wait_for(lambda: self._busy == 0)
            for connection in self._idle:
                connection.close()
            self._idle.clear()
        with self._mapped():
            self._database.close()
        _open.pop(self._key, None)


def _stamp(file: Path) -> tuple[int, int]:
    state = file.stat()
    return state.st_size, state.st_mtime_ns


def _execute(connection: Any, statement: str, parameters: dict[str, object]) -> Any:
    try:
        return connection.execute(statement, parameters)
    except RuntimeError:
        # The engines cannot read text with lone surrogates. No stored text has them (rows are checked), so
        # looking for one finds nothing, as does looking for NUL, which no stored text has either.
        readable = {name: _readable(value) for name, value in parameters.items()}
        if readable == parameters:
            raise
        return connection.execute(statement, readable)


def _readable(value: object) -> object:
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str):
        return "\0" if any("\ud800" <= character <= "\udfff" for character in value) else value
    return value


def _load(name: str) -> ModuleType:
    import sys

    for other in _ENGINES:
        if other != name and other in sys.modules:
            raise ConfigError(
                f"storage.graph: {name} cannot be used in a process that has loaded {other}; "
                "start another process"
            )
    return importlib.import_module(name)


def _claim(engine: Engine) -> tuple[int, str]:
    # Two handles on one file in one process would silently lose writes.
    key = (os.getpid(), str(engine.file.resolve()))
    with _open_lock:
        if key in _open:
            raise StoreBusyError(f"{engine.file}: already open in this process; use the store that holds it")
        _open[key] = engine
    return key


def _keep_in_child() -> None:
    # A forked child that frees its copy of a database, at the latest when it exits, hangs waiting for
    # threads that it does not have, or writes a checkpoint over the parent's file. So it never frees it.
    for engine in list(_open.values()):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_in_child)


def _limits(settings: StorageConfig, file: Path) -> dict[str, int]:
    held = file.stat().st_size if file.is_file() else 0
    size = settings.max_db_gb
    if size < 1 or size & (size - 1):
        raise ConfigError(f"storage.max_db_gb: {size} is not a power of two")
    if settings.buffer_pool_mb < 64:
        raise ConfigError(
            f"storage.buffer_pool_mb: {settings.buffer_pool_mb} is under 64, the least that works"
        )
    return {
        "buffer_pool_size": max(settings.buffer_pool_mb << 20, _POOL_PER_FILE * held),
        "max_db_size": size << 30,
        "auto_checkpoint": False,
        "max_num_threads": max(2, min(4, os.cpu_count() or 2)),
    }


def _opening_error(file: Path, error: Exception) -> StorageError:
    text = str(error)
    if "Could not set lock" in text:
        return StoreBusyError(f"{file}: another process holds it; close that process or use its server")
    if "different version" in text:
        return SchemaError(
            f"{file}: written by another version of the engine ({text}); the file is untouched"
        )
    return StorageError(
        f"{file}: cannot be opened ({text}); if it is damaged, restore a backup; the file is untouched"
    )
