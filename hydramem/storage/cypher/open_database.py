"""Open a graph database file: with one owner, enough memory for its log, and HydraMem's own errors."""

import ctypes
import importlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakValueDictionary

from hydramem.core.config import StorageConfig
from hydramem.core.errors import ConfigError, DiskFullError, SchemaError, StorageError, StoreBusyError

log = logging.getLogger(__name__)
Owner = tuple[int, str]
"""A process, and a file that it has open."""

# What the engines raise: RuntimeError for their own errors; pybind11 turns C++ exceptions into the others.
_BACKEND_ERRORS = (RuntimeError, MemoryError, ValueError, IndexError, OverflowError)

# The engines crash the process when two are imported into it.
ENGINES = ("ladybug", "kuzu")
_open: "WeakValueDictionary[Owner, Any]" = WeakValueDictionary()
_open_lock = threading.Lock()
_POOL_FULL = "buffer pool is full"
_DISK_FULL = ("No space left on device", "Disk quota exceeded")

# A checkpoint after many changes holds most of the file in the pool, in addition to the values that were set.
_POOL_PER_FILE = 3


class PoolFullError(StorageError):
    """The engine's pool of pages is full."""


@contextmanager
def engine_errors(file: Path, name: str) -> Iterator[None]:
    """Raise what an engine raises as a StorageError that names the file."""
    try:
        yield
    except _BACKEND_ERRORS as error:
        raise _kind_of_error(error)(f"{file}: {name} failed: {error}") from error


def _kind_of_error(error: Exception) -> type[StorageError]:
    """Return which error says what an engine's says in its text."""
    text = str(error)
    if _POOL_FULL in text:
        return PoolFullError
    return DiskFullError if any(sign in text for sign in _DISK_FULL) else StorageError


def load_engine(name: str) -> ModuleType:
    """Import an engine.

    Raises:
        ConfigError: The other one is loaded in this process.
    """
    for other in ENGINES:
        if other != name and other in sys.modules:
            raise ConfigError(
                f"storage.graph: {name} cannot be used in a process that has loaded {other}; "
                "start another process"
            )
    return importlib.import_module(name)


def claim(file: Path, holder: object) -> Owner:
    """Reserve a file for one holder: two handles on one file in one process would silently lose writes.

    Raises:
        StoreBusyError: It has another holder.
    """
    owner = (os.getpid(), str(file.resolve()))
    with _open_lock:
        if owner in _open:
            raise StoreBusyError(f"{file}: already open in this process; use the store that holds it")
        _open[owner] = holder
    return owner


def release_claim(owner: Owner) -> None:
    """Release a claimed file."""
    _open.pop(owner, None)


def keep_for_ever(held: object) -> None:
    """Never free an object, not even when the process ends."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


def _keep_in_child() -> None:
    # A forked child that frees its copy of a database, at the latest when it exits, hangs waiting for
    # threads that it does not have, or writes a checkpoint over the parent's file. So it never frees it.
    for holder in list(_open.values()):
        keep_for_ever(holder)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_in_child)


def open_database(
    library: ModuleType, file: Path, settings: StorageConfig, *, least: int = 0, read_only: bool = False
) -> tuple[Any, int]:
    """Open or create a graph file; the engine never checkpoints by itself, not even on closing.

    What was set since the last checkpoint is held in memory, so the log of a process that died may need more
    of it than the settings allow. It is given more, up to the greatest size of the file itself.

    Args:
        file: The graph file; its folder must exist.
        least: Bytes that the pool has at least.
        read_only: Change no file, and refuse writes.

    Returns:
        The database, and the bytes of its pool.

    Raises:
        ConfigError: The limits are not possible.
        StoreBusyError: Another process holds it.
        SchemaError: Another version of the engine wrote it.
        StorageError: The file is damaged or cannot be opened.
    """
    limits = _limits(settings)
    held = file.stat().st_size if file.is_file() else 0
    pool = max(settings.buffer_pool_mb << 20, _POOL_PER_FILE * held, least)
    while True:
        try:
            database = library.Database(file, buffer_pool_size=pool, read_only=read_only, **limits)
            library.Connection(database).execute("CALL force_checkpoint_on_close=false").close()
            return database, pool
        except _BACKEND_ERRORS as error:
            if _POOL_FULL in str(error) and pool < limits["max_db_size"]:
                pool *= 2
                log.info("%s: its log needs more memory; opened with %d MiB for pages", file, pool >> 20)
            else:
                raise opening_error(file, error) from error


def log_file(file: Path) -> Path:
    """Return where a graph file has its write-ahead log."""
    return file.with_name(f"{file.name}.wal")


def _limits(settings: StorageConfig) -> dict[str, int]:
    size = settings.max_db_gb
    if size < 1 or size & (size - 1):
        raise ConfigError(f"storage.max_db_gb: {size} is not a power of two")
    if settings.buffer_pool_mb < 64:
        raise ConfigError(
            f"storage.buffer_pool_mb: {settings.buffer_pool_mb} is under 64, the least that works"
        )
    return {
        "max_db_size": size << 30,
        "auto_checkpoint": False,
        "max_num_threads": max(2, min(4, os.cpu_count() or 2)),
    }


def opening_error(file: Path, error: Exception) -> StorageError:
    """Return HydraMem's error for what an engine raised when it opened a file."""
    text = str(error)
    if "Could not set lock" in text:
        return StoreBusyError(f"{file}: another process holds it; close that process or use its server")
    if "different version" in text:
        return SchemaError(
            f"{file}: written by another version of the engine ({text}); the file is untouched"
        )
    if any(sign in text for sign in _DISK_FULL):
        return DiskFullError(f"{file}: cannot be opened on a full disk ({text}); make room and open it again")
    if _POOL_FULL in text:
        return PoolFullError(f"{file}: its log does not fit into memory; raise storage.max_db_gb")
    return StorageError(
        f"{file}: cannot be opened ({text}); if it is damaged, restore a backup; the file is untouched"
    )
