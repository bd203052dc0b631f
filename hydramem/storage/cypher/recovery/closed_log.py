"""A note beside a log of Kuzu, which has no checksums: that a process closed it, and its hash."""

import hashlib
from pathlib import Path

from hydramem.storage.files.durable_files import storage_errors


def note_closed(wal: Path) -> None:
    """Note the content of a log that was closed, where there is one.

    Raises:
        StorageError: It cannot be read, or the note cannot be written.
    """
    with storage_errors(wal, "cannot be noted as closed"):
        if wal.is_file():
            _note(wal).write_text(_digest(wal.read_bytes()), encoding="ascii")


def is_as_closed(wal: Path, content: bytes) -> bool:
    """Say whether a log is what its note says; one that grew later, or was changed, is not."""
    note = _note(wal)
    return note.is_file() and note.read_bytes() == _digest(content).encode()


def _note(wal: Path) -> Path:
    return wal.with_name(f"{wal.name}.closed")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
