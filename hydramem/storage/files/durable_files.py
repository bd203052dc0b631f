"""Durable files: a power cut neither undoes a write nor leaves part of it; errors name the file."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydramem.core.errors import DiskFullError, StorageError

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def storage_errors(place: Path, problem: str) -> Iterator[None]:
    """Raise what the system says of a file as a StorageError that names the place and the problem."""
    try:
        yield
    except OSError as error:
        kind, remedy = (DiskFullError, "; make room") if error.errno in _FULL else (StorageError, "")
        raise kind(f"{place}: {problem}: {error.strerror or error}{remedy}") from error


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can: a renamed file lasts once its folder does."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_whole(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file so that a kill leaves the old one or the new one, never a part; text becomes UTF-8.

    Args:
        private: Only this user may read it, from its first byte.
    """
    beside = path.with_name(f"{path.name}.new")
    if private:
        beside.unlink(missing_ok=True)  # one that a kill left may be readable
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if private else 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def sync_tree(folder: Path) -> None:
    """Make everything in a folder durable, and the folder itself."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        else:
            sync_folder(path)
    sync_folder(folder)
