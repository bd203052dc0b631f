"""The free space of a disk: a write is refused while there still is some, because a full disk breaks it."""

import shutil
from pathlib import Path

from hydramem.core.errors import DiskFullError
from hydramem.storage.files.durable_files import storage_errors

_MIB = 1 << 20


def require_free(folder: Path, least: int, purpose: str) -> None:
    """Check that a disk has room; takes some microseconds.

    Args:
        folder: A folder of the disk.
        least: Bytes that must be free for this user.
        purpose: What needs them, for the message.

    Raises:
        DiskFullError: There is less.
        StorageError: The folder is gone.
    """
    with storage_errors(folder, "cannot be read"):
        free = shutil.disk_usage(folder).free
    if free < least:
        raise DiskFullError(
            f"{folder}: the disk is nearly full: {free / _MIB:,.0f} MiB are free, and {purpose} needs "
            f"{least / _MIB:,.0f}; nothing was written; make room and try again: reads go on"
        )
