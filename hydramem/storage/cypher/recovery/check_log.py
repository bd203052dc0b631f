"""Check the log of a graph whose last process died, before the graph is opened.

A process that closes its store leaves no log, so an ordinary opening has nothing to check. A log of
LadybugDB is read here, every checksum of it. One of Kuzu, which has none, is tried in a child process, and so
is each log that is cut. What the process was writing when it died is cut off, and a copy of the log is kept.
A log that goes on after a place that cannot be read is damaged: the graph is not opened, and no file is
changed.
"""

import logging
import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.storage.cypher.checkpoints.run_engine import EngineFailedError, run_engine
from hydramem.storage.cypher.open_database import log_file
from hydramem.storage.cypher.recovery.closed_log import is_as_closed
from hydramem.storage.cypher.recovery.log_records import LogState, read_checked_log, read_unchecked_log
from hydramem.storage.files.durable_files import sync_folder, write_whole

log = logging.getLogger(__name__)
_TRIAL = ".trial-"

# Replay takes about 0.3 s for a MiB of small writes; the limit allows a machine that is much slower.
_LEAST_SECONDS = 120.0
_BYTES_PER_SECOND = 200_000
REMEDY = (
    "restore a backup with `hydramem restore`, or open what can still be read with "
    "`hydramem doctor --salvage`"
)
"""What a person can do about a graph that cannot be opened."""


def check_log(file: Path, settings: StorageConfig, *, salvage: bool = False, seconds: float = 0.0) -> None:
    """Check the logs of a graph file that is not open, and cut off what was half written.

    Args:
        file: The graph file.
        settings: Which engine, and the greatest size of its file.
        salvage: Whether to open what comes before the damage of a log; the whole log is kept aside.
        seconds: Most seconds that the child process may take; 0 allows for the size of the log.

    Raises:
        StoreBusyError: Another process has the file open.
        StorageError: A log is damaged, or kills or stops the engine; no file was changed.
    """
    for wal in (_checkpointed_log(file), log_file(file)):
        if wal.is_file() and salvage and not file.exists():
            wal.rename(_aside(wal, "damaged"))  # without its file no engine reads it
        elif wal.is_file() and wal.stat().st_size:
            _check(wal, file, settings, salvage, seconds)


def _checkpointed_log(file: Path) -> Path:
    """Return the log that a checkpoint of LadybugDB was writing into the file when its process died."""
    return log_file(file).with_name(f"{log_file(file).name}.checkpoint")


def _check(wal: Path, file: Path, settings: StorageConfig, salvage: bool, seconds: float) -> None:
    data = wal.read_bytes()
    limit = seconds or max(_LEAST_SECONDS, len(data) / _BYTES_PER_SECOND)
    checked = settings.graph == "ladybug"
    if checked:
        state = read_checked_log(data)
        if state.whole:
            return
    elif is_as_closed(wal, data):
        return
    _require_unheld(file)
    try:
        if not checked:
            state = read_unchecked_log(data, _try(wal, data, file, settings, limit))
            if state.whole:
                return
        if state.damaged and not salvage:
            raise StorageError(_damage(wal, state))
        kept = data[: state.end]
        if checked:
            _try(wal, kept, file, settings, limit)
    except EngineFailedError as error:
        if checked or not salvage:
            raise StorageError(f"{wal}: {error}; nothing was changed; {REMEDY}") from error
        state = read_unchecked_log(data, None)
        kept = _readable_part(wal, data, state, file, settings, limit)
    _cut(wal, kept, state)


def _damage(wal: Path, state: LogState) -> str:
    return (
        f"{wal}: damaged at byte {state.bad:,} of {state.size:,}; the {state.size - state.bad:,} bytes from "
        f"there on hold writes that were acknowledged; nothing was changed; {REMEDY}"
    )


def _require_unheld(file: Path) -> None:
    """Raise StoreBusyError where another process has the file open: its log is growing, not torn."""
    try:
        import fcntl
    except ImportError:  # Windows, where a file that is open cannot be replaced
        return
    with file.open("r+b") as held:
        try:
            fcntl.lockf(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreBusyError(
                f"{file}: another process holds it; close that process or use its server"
            ) from error


def _readable_part(
    wal: Path, data: bytes, state: LogState, file: Path, settings: StorageConfig, limit: float
) -> bytes:
    """Return the longest part of a log, up to some commit, that the engine reads; found by bisection."""
    low, high = 0, len(state.commits)
    while low < high:
        middle = (low + high + 1) // 2
        part = data[: state.commits[middle - 1]]
        try:
            read = _try(wal, part, file, settings, limit)
        except EngineFailedError:
            read = 0
        if read == len(part):
            low = middle
        else:
            high = middle - 1
    return data[: state.commits[low - 1]] if low else b""


def _try(wal: Path, data: bytes, file: Path, settings: StorageConfig, limit: float) -> int:
    """Open a graph file with a log in a child process; return how much of the log the engine reads.

    The file itself is linked, since an opening that makes no checkpoint only reads it; where one was being
    made, it is copied.
    """
    folder = file.parent
    for left in folder.glob(f"{_TRIAL}*"):
        shutil.rmtree(left, ignore_errors=True)  # of a process that died
    with tempfile.TemporaryDirectory(prefix=_TRIAL, dir=folder) as trial:
        copy = Path(trial) / file.name
        beside = [each for each in folder.glob(f"{file.name}.*") if each.is_file() and _engine_reads(each)]
        _link_or_copy(file, copy, linked=all(each in (wal, log_file(file)) for each in beside))
        for each in beside:
            shutil.copyfile(each, copy.with_name(each.name))
        copy.with_name(wal.name).write_bytes(data)
        # The pool is as large as allowed, so that no log is too large for it.
        return run_engine(copy, settings, pool=settings.max_db_gb << 30, seconds=limit)


def _engine_reads(file: Path) -> bool:
    return file.name.endswith((".wal", ".shadow", ".checkpoint"))


def _link_or_copy(file: Path, copy: Path, *, linked: bool) -> None:
    try:
        if linked:
            os.link(file, copy)
            return
    except OSError:
        log.debug("%s: cannot be linked here, so it is copied", file)
    shutil.copyfile(file, copy)


def _aside(wal: Path, kind: str) -> Path:
    return wal.with_name(f"{wal.name}.{kind}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")


def _cut(wal: Path, kept: bytes, state: LogState) -> None:
    """Replace a log by its readable part; the whole log is kept under another name."""
    kind = "damaged" if state.damaged else "torn"
    aside = _aside(wal, kind)
    left = state.size - len(kept)
    log.warning(
        "%s: its last %d of %d bytes are left out (%s); kept as %s", wal, left, state.size, kind, aside.name
    )
    # First the copy: a process that dies here leaves the whole log.
    shutil.copyfile(wal, aside)
    with aside.open("rb") as copy:
        os.fsync(copy.fileno())
    if kept:
        write_whole(wal, kept)
    else:
        wal.unlink()
        sync_folder(wal.parent)
