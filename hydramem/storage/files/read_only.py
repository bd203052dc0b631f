"""A store in a folder that cannot be written: on a read-only medium, or another user's."""

import os
from collections.abc import Callable
from pathlib import Path

from hydramem.core.errors import ReadOnlyError, StoreBusyError


def is_read_only(folder: Path) -> bool:
    """Say whether a folder is there, but this user cannot write it."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


def read_only_error(folder: Path) -> ReadOnlyError:
    """Return the error of a write to a store that was opened for reading alone."""
    return ReadOnlyError(
        f"{folder}: the folder is read-only, so the store was opened for reading; nothing was written; "
        "make the folder writable, or copy it, and connect again"
    )


def lock_for_reading(folder: Path, lock: str) -> Callable[[], None]:
    """Keep processes that could write a store out of it while this one reads; return what ends that.

    Args:
        folder: The store.
        lock: Name of the file that a process which writes the store holds locked.

    Raises:
        StoreBusyError: Such a process holds it.
    """
    try:
        import fcntl

        handle = os.open(folder / lock, os.O_RDONLY)
    except (ImportError, OSError):  # Windows; or no process ever locked it, or another user's alone may
        return lambda: None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise StoreBusyError(f"{folder}: a process that writes it holds it; close it there first") from error
    return lambda: os.close(handle)
