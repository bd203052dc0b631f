"""A new folder that appears only when it is complete; the next one removes what a killed process left.

The process that writes it locks it, and the system releases the lock when the process dies. A locked folder
is never removed, nor one that holds anything but files of a dump.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.storage.exchange.manifest import MANIFEST, PARTS, VECTORS
from hydramem.storage.files.durable_files import storage_errors, sync_folder

_SUFFIX = ".dump"
_OURS = frozenset({MANIFEST, *(part.file for part in PARTS), *(f"{name}.jsonl" for name in VECTORS.values())})
_Hold = Literal["ours", "another's", "none"]
"""Whose lock is on a folder; none where the file system or the platform has no locks."""


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder next to the requested one, and rename it once it is filled.

    Args:
        folder: Where to; it must be empty, or not there.

    Raises:
        InvalidInputError: The folder holds something.
        StorageError: It cannot be written; nothing is left there.
    """
    with storage_errors(folder, "cannot be made"):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidInputError(f"{folder}: is there already and holds something; name a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        partial, handle = _begin(folder)
    try:
        yield partial
        sync_folder(partial)
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)  # it is gone from here where it was renamed
        if handle is not None:
            os.close(handle)


def _begin(folder: Path) -> tuple[Path, int | None]:
    """Return an empty folder next to another, and the handle that holds its lock."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=_SUFFIX, dir=folder.parent))
        hold, handle = _take(made)
        if hold != "another's":
            return made, handle

        # Another process took it for an unfinished one, before this one had locked it.


def _sweep(parent: Path) -> None:
    """Remove unfinished folders of processes that were killed."""
    for left in parent.glob(f".*-*{_SUFFIX}"):
        with suppress(OSError):  # one that cannot be read or removed does no harm
            hold, handle = _take(left)
            try:
                if hold == "ours" and all(file.name in _OURS for file in left.iterdir()):
                    shutil.rmtree(left)
            finally:
                if handle is not None:
                    os.close(handle)


def _take(folder: Path) -> tuple[_Hold, int | None]:
    """Lock a folder without waiting; the handle, where there is one, keeps the lock until it is closed."""
    try:
        import fcntl
    except ImportError:
        return "none", None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), folder.lstat()):
            return "ours", handle
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        return "none", handle
    os.close(handle)
    return "another's", None
