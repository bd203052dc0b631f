"""One open graph database: read by many, written by one, its log folded while nobody reads."""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.connection_pool import ConnectionPool
from hydramem.storage.cypher.open_database import (
    NoRoomError,
    claim,
    engine_errors,
    let_go,
    load_engine,
    log_file,
    open_database,
)

log = logging.getLogger(__name__)

Parameters = Mapping[str, object]

Query = Callable[[str, Parameters], list[list[Any]]]
"""Runs one statement and returns its rows; the result is closed before it returns."""

# When to checkpoint is ours to say, since it must happen while nobody reads: LadybugDB crashes where a read
# goes on beside it, and Kuzu waits seconds and gives up. The log is folded when it is large, and before:
# values that were set stay in the pool until then, a vector of 2,048 for each, and so does a small change
# (64 MiB after 2,800 single writes). Few folds are best: one that meets an edge made or taken out writes most
# of that table anew, which takes seconds where there are half a million.
_MOST_LOG = 32 << 20

_WRITES_PER_FOLD = 4000

_BYTES_PER_COLUMN_SET = 16 << 10

_LOG_PER_COLUMN_SET = 160

_POOL_PER_COLUMNS_SET = 3

_MOST_COLUMNS_SET = 512 << 20  # bytes

_LEAST_POOL_PER_FILE = 2

_COPIES_BESIDE_WRITERS = 3

_TICK = 0.02


class Engine:
    """An open graph database: a pool of connections for reads, one writer at a time.

    Where memory runs out in a fold, what the engine has in memory may contradict the file, and the next fold
    would write it down. So an engine that failed that way is never folded: it is dropped as it is, and opened
    again with more memory from its file and its log, where all that was committed stands.
    """

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
        self._settings = settings
        self._writer = threading.Lock()
        self._copying = False  # while it lasts, only what must be folded is
        self._lending = ConnectionPool(file, self._connect)
        self._library = load_engine(settings.graph)
        self._owner = claim(file, self)
        try:
            self._open()
        except BaseException:
            let_go(self._owner)
            raise

    def _open(self, *, pool: int = 0) -> None:
        self._database, self._pool = open_database(self._library, self.file, self._settings, least=pool)
        self._writes = 0
        self._columns_set = self._log_size() // _LOG_PER_COLUMN_SET

    @contextmanager
    def reading(self) -> Iterator[Query]:
        """Lend a connection; each statement is a transaction of its own, done again where memory ran out."""
        lent = [self._lending.take()]

        def query(statement: str, parameters: Parameters) -> list[list[Any]]:
            pool = self._pool
            try:
                return self._run(lent[0], statement, parameters)
            except NoRoomError:
                self._lending.give(lent.pop())
                self._make_room(pool)
                lent.append(self._lending.take())
                return self._run(lent[0], statement, parameters)

        try:
            yield query
        finally:
            for connection in lent:
                self._lending.give(connection)

    def arrow(self, statement: str, parameters: Parameters) -> Any:
        """Run a read and return its rows as a pyarrow Table; done again where memory ran out."""
        pool = self._pool
        try:
            return self._read_arrow(statement, parameters)
        except NoRoomError:
            self._make_room(pool)
            return self._read_arrow(statement, parameters)

    def _read_arrow(self, statement: str, parameters: Parameters) -> Any:
        with self._lending.one() as connection, engine_errors(self.file, self.name):
            result = _execute(connection, statement, dict(parameters))
            try:
                return result.get_as_arrow(65_536)
            finally:
                result.close()

    def transact(self, work: Callable[[Query], int]) -> None:
        """Do some writing in one transaction.

        Args:
            work: Does it, and returns how many times it set a column; done again where memory ran out.
        """
        try:
            self._transact(work)
        except NoRoomError:
            self._transact(work)

    def _transact(self, work: Callable[[Query], int]) -> None:
        with self.writing() as query:
            self._columns_set += work(query)

    @contextmanager
    def writing(self) -> Iterator[Query]:
        """Hold the writer lock and one transaction: committed at the end, rolled back on any error.

        Where memory ran out, there is more of it when the error is raised.
        """
        with self._writer:
            try:
                with self._lending.one() as connection:
                    yield from self._committed(connection)
            except NoRoomError:
                self._open_with_more()
                raise
            if self._fold_is_due():
                self._try_to_fold()

    def _committed(self, connection: Any) -> Iterator[Query]:
        def query(statement: str, parameters: Parameters) -> list[list[Any]]:
            return self._run(connection, statement, parameters)

        try:
            query("BEGIN TRANSACTION", {})
            yield query
            query("COMMIT", {})
        except BaseException:
            self._roll_back(query)
            raise
        self._writes += 1

    def _roll_back(self, query: Query) -> None:
        try:
            query("ROLLBACK", {})
        except StorageError as error:
            # An error of the engine itself has ended the transaction already.
            log.debug("%s: nothing to roll back: %s", self.file, error)

    def _run(self, connection: Any, statement: str, parameters: Parameters) -> list[list[Any]]:
        with engine_errors(self.file, self.name):
            result = _execute(connection, statement, dict(parameters))
            try:
                rows: list[list[Any]] = result.get_all()
                return rows
            finally:
                result.close()

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the main file.

        Raises:
            StorageError: It cannot be folded; nothing is lost, the log keeps what was written.
        """
        with self._writer:
            self._fold()

    def _fold_is_due(self) -> bool:
        room = min(self._pool // _POOL_PER_COLUMNS_SET, _MOST_COLUMNS_SET)
        if self._columns_set * _BYTES_PER_COLUMN_SET > room:
            return True
        return self._log_size() > _MOST_LOG or (self._writes >= _WRITES_PER_FOLD and not self._copying)

    def _log_size(self) -> int:
        try:
            return log_file(self.file).stat().st_size
        except FileNotFoundError:
            return 0

    def _try_to_fold(self) -> None:
        """Fold after a write, which is committed in any case: the log keeps it until the next try."""
        try:
            self._fold()
        except StorageError as error:
            log.warning("%s", error)

    def _fold(self) -> None:
        """Checkpoint while nobody reads; where that fails, once more in an engine that is opened anew."""
        with self._lending.alone():
            try:
                self._checkpoint()
            except StorageError as error:
                log.warning("%s; it is opened again from its log", error)
                self._fold_anew(pool=2 * self._pool if isinstance(error, NoRoomError) else self._pool)
            if self.file.stat().st_size * _LEAST_POOL_PER_FILE > self._pool:
                self._open_anew(pool=self._pool)

    def _make_room(self, pool: int) -> None:
        """Open the file with more memory than a pool in which a read ran out, where nobody did so yet."""
        with self._writer:
            if self._pool <= pool:
                self._open_with_more()

    def _open_with_more(self) -> None:
        with self._lending.alone():
            log.info("%s: memory ran out; it is opened again with more", self.file)
            self._fold_anew(pool=2 * self._pool)

    def _fold_anew(self, *, pool: int) -> None:
        """Open the file anew, and fold its log; where even that fails, it is open and not folded."""
        self._open_anew(pool=pool)
        try:
            self._checkpoint()
        except StorageError:
            self._open_anew(pool=self._pool)
            raise

    def _checkpoint(self) -> None:
        connection = self._connect()
        try:
            self._run(connection, "CHECKPOINT", {})
        finally:
            connection.close()
        self._writes = self._columns_set = 0

    def _open_anew(self, *, pool: int) -> None:
        """Drop what is open without folding it, and open what its file and its log hold."""
        try:
            self._drop()
            self._open(pool=pool)
        except BaseException:
            self._lending.refuse()
            let_go(self._owner)
            raise

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
                with self._writer:
                    stamp = self._settled()
                shutil.copyfile(self.file, copy)
                if _stamp(self.file) == stamp:
                    return
        finally:
            self._copying = False
        with self._writer:
            self._settled()
            shutil.copyfile(self.file, copy)

    def _settled(self) -> tuple[int, int]:
        """Fold the log into the file; return by what to tell that it was written to since."""
        self._fold()
        # File systems date a write by a clock that ticks every few milliseconds.
        time.sleep(_TICK)
        return _stamp(self.file)

    def _connect(self) -> Any:
        with engine_errors(self.file, self.name):
            return self._library.Connection(self._database)

    def close(self, *, fold: bool = True) -> None:
        """Wait for running calls, then release the file; harmless when repeated.

        Args:
            fold: Whether to fold the log; else the file stays as it is.
        """
        if self._lending.foreign or not self._lending.end():
            return
        try:
            if fold and self._log_size():
                self._checkpoint()
        except StorageError as error:
            log.warning("%s; the next opening reads the log", error)
        finally:
            self._drop()
            let_go(self._owner)

    def _drop(self) -> None:
        """Close the database as it is."""
        self._lending.forget()
        with engine_errors(self.file, self.name):
            self._database.close()


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
