"""Sparse files: what they take on the disk, and copies that keep their holes."""

import os
import shutil
from pathlib import Path
from typing import BinaryIO

_BLOCK = 512
_PART = 1 << 20


def bytes_on_disk(file: Path) -> int:
    """Return the bytes that a file takes on its disk; a sparse file is much longer than that."""
    state = file.stat()
    return min(state.st_size, state.st_blocks * _BLOCK) if hasattr(state, "st_blocks") else state.st_size


def copy_sparse(source: Path, copy: Path) -> None:
    """Copy a file, and none of its holes.

    Raises:
        OSError: It cannot be read, or the copy cannot be written.
    """
    if not hasattr(os, "SEEK_DATA") or bytes_on_disk(source) == source.stat().st_size:
        shutil.copyfile(source, copy)
        return
    with source.open("rb") as reading, copy.open("wb") as writing:
        size, end = os.fstat(reading.fileno()).st_size, 0
        writing.truncate(size)
        while end < size:
            try:
                start = os.lseek(reading.fileno(), end, os.SEEK_DATA)
            except OSError:  # nothing but a hole follows
                return
            end = os.lseek(reading.fileno(), start, os.SEEK_HOLE)
            _copy_part(reading, writing, start, end)


def _copy_part(reading: BinaryIO, writing: BinaryIO, start: int, end: int) -> None:
    reading.seek(start)
    writing.seek(start)
    while start < end and (part := reading.read(min(_PART, end - start))):
        writing.write(part)
        start += len(part)
