"""Checkpoints of a graph: when its log is written into a new generation of its file, and how nobody waits.

An engine that writes its log into its file stops everybody else, for seconds where there are half a
million edges. So the file and its log are copied, and a child process of low priority does it there. What
is committed meanwhile is kept as statements, and run again on the new generation: most of them beside the
writers, the last few under the writer lock. Then the new generation takes the place of the old one
(`generations.py`). The file that serves is never written: a checkpoint that fails or is killed does no harm.
"""

import atexit
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.checkpoints.generations import (
    SCRATCH,
    next_file,
    remove_generation,
    serve,
    serving_file,
)
from hydramem.storage.cypher.checkpoints.run_engine import StoppedError, run_engine
from hydramem.storage.cypher.connection import Connection
from hydramem.storage.cypher.open_database import PoolFullError, engine_errors, log_file
from hydramem.storage.cypher.serving_database import ServingDatabase
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.free_space import require_free
from hydramem.storage.files.sparse_files import bytes_on_disk, copy_sparse

log = logging.getLogger(__name__)
Statement = tuple[str, Mapping[str, object]]
Transaction = Sequence[Statement]

# The log is checkpointed when it is large, and before: values that were set stay in the engine's pool of
# pages until then, a vector of 2,048 for each, and so does a small change (64 MiB after 2,800 single writes).
# Few checkpoints are best: each copies the file, and one that meets a new or deleted edge writes most of that
# table anew.
_MOST_LOG_BYTES = 32 << 20
_WRITES_PER_CHECKPOINT = 4000
_BYTES_PER_COLUMN_SET = 16 << 10
_LOG_BYTES_PER_COLUMN_SET = 160
_POOL_PER_COLUMNS_SET = 3
_MOST_COLUMNS_SET_BYTES = 512 << 20

# What closing leaves in the log, since an opening reads it in half a second; and how long closing may take.
_LOG_BYTES_KEPT = 2 << 20
_CLOSING_SECONDS = 60.0

# Free space for a checkpoint: the copy, what is written anew beside it, what Kuzu exports; the log twice.
_FILES_PER_CHECKPOINT = 2.5
_LOGS_PER_CHECKPOINT = 2

# After a checkpoint that failed, writes do not start the next one at once.
_SECONDS_AFTER_FAILURE = 60.0

# Statements are run again beside the writers until a round has become this short, or for so many rounds.
# Meanwhile each write waits a little first, and longer where rounds do not become shorter.
_SHORT_ROUND_SECONDS = 0.02
_MOST_ROUNDS = 40
_SHRINKING = 0.7
_LEAST_PAUSE, _MOST_PAUSE = 0.005, 0.1


class Checkpoints:
    """The checkpoints of an open graph, one at a time, each in a thread and a child process of its own."""

    def __init__(self, database: ServingDatabase, writer: threading.Lock, settings: StorageConfig) -> None:
        """Checkpoint a database, whose writers hold `writer`."""
        self._database = database
        self._writer = writer
        self._settings = settings
        self._running: _Checkpoint | None = None
        # Transactions that were committed since the running checkpoint began.
        self._since: list[Transaction] | None = None
        self._keeping_file = threading.Lock()
        self._no_switch = threading.Event()
        self._no_switch.set()
        self._pause = 0.0
        self._stop = threading.Event()
        self._not_before = 0.0
        self._writes = 0
        self._columns_set = database.log_size() // _LOG_BYTES_PER_COLUMN_SET

    def let_switch(self) -> None:
        """Wait where a generation is about to be replaced: called before the writer lock is taken.

        Else a thread that writes in a loop would take the lock again before the one that waits has woken up,
        and several would write as quickly as a checkpoint can follow.
        """
        self._no_switch.wait()
        if pause := self._pause:
            time.sleep(pause)

    # When to checkpoint: the writer lock is held ------------------------------------------------
    def note_commit(self, statements: Transaction) -> None:
        """Note a transaction that was committed."""
        self._writes += 1
        if self._since is not None:
            self._since.append(statements)

    def count_columns_set(self, number: int) -> None:
        """Count the values that a transaction has set."""
        self._columns_set += number

    def start_if_due(self) -> None:
        """Start a checkpoint after a write where that pays."""
        if self._is_due():
            self.start()

    def _is_due(self) -> bool:
        room = min(self._database.pool // _POOL_PER_COLUMNS_SET, _MOST_COLUMNS_SET_BYTES)
        return (
            self._writes >= _WRITES_PER_CHECKPOINT
            or self._columns_set * _BYTES_PER_COLUMN_SET > room
            or self._database.log_size() > _MOST_LOG_BYTES
        )

    def start(self) -> None:
        """Start a checkpoint, unless one runs or failed lately; a failure is logged, the log keeps all."""
        if self._running is None and time.monotonic() >= self._not_before and not self._database.read_only:
            try:
                self._begin()
            except StorageError as error:
                self._note_failure(error)

    def _note_failure(self, error: StorageError) -> None:
        self._not_before = time.monotonic() + _SECONDS_AFTER_FAILURE
        log.warning("%s; the log keeps what was written", error)

    def _begin(self) -> "_Checkpoint | None":
        """Begin a checkpoint of the log as it is now; return it, or None where there is nothing to do."""
        if self._stop.is_set() or not self._database.log_size():
            return None
        self._database.require_room()
        self._require_room(self._database.file.parent)
        self._since = []
        counted = self._writes, self._columns_set
        log_end = self._database.log_size()
        self._running = _Checkpoint(lambda: self._checkpoint(log_end, counted))
        self._running.start()
        return self._running

    def _require_room(self, folder: Path) -> None:
        """Check that a disk has room for a checkpoint."""
        pages = int(bytes_on_disk(self._database.file) * _FILES_PER_CHECKPOINT)
        pages += _LOGS_PER_CHECKPOINT * self._database.log_size()
        require_free(folder, (self._settings.min_free_mb << 20) + pages, "a checkpoint")

    # How: the writer lock is not held -----------------------------------------------------------
    def run(self) -> None:
        """Checkpoint what the log holds now, and wait for it.

        Raises:
            ReadOnlyError: The folder cannot be written, and there is a log.
            DiskFullError: The disk has no room for it; nothing is lost.
            StorageError: It failed; nothing is lost, the log keeps what was written.
        """
        with self._writer:
            earlier = self._running
            mine = self._begin() if earlier is None else None
        if earlier is not None:
            earlier.join()
            with self._writer:
                # One that writers have begun since has all that the log held, as well as one of our own.
                mine = self._running or self._begin()
        if mine is not None:
            mine.join()
            if mine.error is not None:
                raise mine.error

    def _checkpoint(self, log_end: int, counted: tuple[int, int]) -> None:
        """Make the next generation and let it serve; runs in a thread, which Ctrl-C does not interrupt."""
        former = self._database.file
        atexit.register(self._end)
        try:
            self._make_next(former, log_end)
            close_former = self._switch(next_file(former), counted)
            self._retire(former, close_former)
        except StorageError as error:
            if not isinstance(error, StoppedError):
                self._note_failure(error)
            raise
        finally:
            with self._writer:
                self._since = self._running = None
            atexit.unregister(self._end)

    def _end(self) -> None:
        """End the running checkpoint, before its process ends."""
        self._stop.set()
        if running := self._running:
            running.join()

    def _retire(self, former: Path, close: Callable[[], None]) -> None:
        """Close a generation that was replaced once its last reader is done, and delete it."""
        try:
            close()
            with self._keeping_file, storage_errors(former, "an older generation cannot be deleted"):
                remove_generation(former)
        except StorageError as error:
            log.warning("%s; the next opening deletes it", error)

    def _make_next(self, former: Path, log_end: int) -> None:
        """Write the next generation beside: the content of the file and its log up to some commit."""
        folder, made = former.parent, next_file(former)
        with storage_errors(folder, "a checkpoint cannot be written"):
            remove_generation(made)  # of a checkpoint that failed
            with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
                copy = Path(scratch) / made.name
                self._copy(former, log_end, copy)
                self._run_child(former, log_end, copy)
                copy.rename(made)

    def _copy(self, file: Path, log_end: int, copy: Path) -> None:
        """Copy a generation that does not change, and its log up to the end of some commit."""
        copy_sparse(file, copy)
        if log_end:
            with log_file(file).open("rb") as wal:
                log_file(copy).write_bytes(wal.read(log_end))

    def _run_child(self, file: Path, log_end: int, copy: Path) -> None:
        """Write the log of a copy into it; where memory runs out, once more with all that is allowed."""
        most = self._settings.max_db_gb << 30
        try:
            run_engine(copy, self._settings, pool=self._database.pool, checkpoint=True, stop=self._stop)
        except PoolFullError:
            log.info("%s: a checkpoint needs more memory than %d MiB", file, self._database.pool >> 20)
            self._copy(file, log_end, copy)
            run_engine(copy, self._settings, pool=most, checkpoint=True, stop=self._stop)

    def _switch(self, made: Path, counted: tuple[int, int]) -> Callable[[], None]:
        """Bring the next generation up to date and let it serve; return what closes the former one."""
        database, pool = self._database.open_beside(made)
        replay = _Replay(made, self._settings.graph, self._database.connect(database))
        try:
            self._catch_up(replay)
            self._no_switch.clear()
            with self._writer:
                replay.run(self._since or [])
                _let_serve(made)
                close_former = self._database.replace(made, database, pool)
                self._writes -= counted[0]
                self._columns_set -= counted[1]
                self._since = None
        except StorageError:
            replay.close()
            with engine_errors(made, self._settings.graph):
                database.close()
            remove_generation(made)
            raise
        finally:
            self._pause = 0.0
            self._no_switch.set()
        replay.close()
        return close_former

    def _catch_up(self, replay: "_Replay") -> None:
        """Run what was committed meanwhile, beside the writers, until little is left."""
        self._pause = _LEAST_PAUSE  # a writer that never rests would hold the first round up
        before = float("inf")
        for _ in range(_MOST_ROUNDS):
            started = time.monotonic()
            replay.run(self._since or [])
            took = time.monotonic() - started
            if took < _SHORT_ROUND_SECONDS:
                return
            if took > _SHRINKING * before:
                self._pause = min(2 * self._pause, _MOST_PAUSE)
            before = took
            if self._stop.is_set():
                raise StoppedError(f"{replay.file}: the checkpoint was stopped")

    # Copying and closing ------------------------------------------------------------------------
    def copy_to(self, copy: Path) -> None:
        """Write the graph as it is at one moment to another place, while others read and write.

        Raises:
            StorageError: The log cannot be checkpointed.
            OSError: The file cannot be copied.
        """
        with self._keeping_file:
            with self._writer:
                file, log_end = self._database.file, self._database.log_size()
                self._require_room(copy.parent)
            self._copy(file, log_end, copy)
            if log_end:
                self._run_child(file, log_end, copy)

    def close(self, *, checkpoint: bool) -> None:
        """Start no more checkpoints; end the running one, or wait for it where the log is large.

        Args:
            checkpoint: Whether to checkpoint a large log before.
        """
        until = time.monotonic() + _CLOSING_SECONDS
        while checkpoint and time.monotonic() < until:
            with self._writer:
                if self._database.log_size() <= _LOG_BYTES_KEPT:
                    break
                self.start()
                running = self._running
            if running is None:
                break
            running.join(until - time.monotonic())
        self._end()


def _let_serve(made: Path) -> None:
    """Write down that a generation serves."""
    try:
        serve(made)
    except StorageError as error:
        if serving_file(made) != made:
            raise
        log.warning("%s; it may not last through a power cut", error)


class _Checkpoint(threading.Thread):
    """The thread of a checkpoint; one that the process does not wait for when it ends."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(name="hydramem-checkpoint", daemon=True)
        self._work = work
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._work()
        except StorageError as error:
            self.error = error
        except BaseException as error:
            self.error = error
            raise


class _Replay:
    """Runs committed transactions again, on another generation, each once."""

    def __init__(self, file: Path, engine: str, connection: Connection) -> None:
        self.file = file
        self._engine = engine
        self._connection = connection
        self._done = 0

    def run(self, transactions: Sequence[Transaction]) -> None:
        """Run those of the transactions that were not run yet."""
        with engine_errors(self.file, self._engine):
            for transaction in transactions[self._done :]:
                self._execute("BEGIN TRANSACTION", {})
                for statement, parameters in transaction:
                    self._execute(statement, parameters)
                self._execute("COMMIT", {})
                self._done += 1

    def _execute(self, statement: str, parameters: Mapping[str, object]) -> None:
        self._connection.execute(statement, parameters).close()

    def close(self) -> None:
        """Close the connection, before its database is."""
        self._connection.close()
