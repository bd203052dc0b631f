"""The owner's lock: one process at a time holds a store folder."""

import json
import logging
import os
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from hydramem.core.errors import StorageError, StoreBusyError

log = logging.getLogger(__name__)
LOCK = "owner.lock"
"""Name of the file that the owner holds locked."""


class FolderLock:
    """Holds `owner.lock` in a store folder, and says in `owner.json` who does.

    The operating system drops the lock when the process dies, however it dies; the note beside it
    only serves the message to whoever comes second.
    """

    def __init__(self, folder: Path) -> None:
        self._note = folder / "owner.json"
        self._lock = FileLock(folder / LOCK, mode=0o600)

    def acquire(self) -> None:
        """Take the lock at once.

        Raises:
            StoreBusyError: Another process holds it; the message names that process.
            StorageError: The folder cannot be written.
        """
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreBusyError(
                f"{self._note.parent}: held by {self._holder()}; close it there first"
            ) from error
        except OSError as error:
            raise StorageError(f"{self._note.parent}: cannot be written: {error.strerror}") from error

        try:
            self._note.write_text(json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat()}))
        except OSError as error:
            log.debug("%s: not written: %s", self._note, error)  # as on a full disk, which can be read

    def release(self) -> None:
        """Give the lock back; harmless when repeated."""
        if self._lock.is_locked:
            self._note.unlink(missing_ok=True)
            self._lock.release()

    def _holder(self) -> str:
        try:
            note = json.loads(self._note.read_text())
            return f"process {note['pid']} since {note['since'][:19]} UTC"
        except (OSError, ValueError, KeyError, TypeError):
            # The holder has the lock but has not written its note yet, or is just leaving.
            return "another process"
