"""Tokens of the server in a file of the store's folder, which its user alone can read.

A backup has no part of it: restoring one brings no revoked token back.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.core.settings.environment import make_store_folder
from hydramem.storage.files.durable_files import storage_errors, write_whole
from hydramem.storage.tokens.token_rows import TokenRow

FILE = "tokens.json"
_LOCK_SECONDS = 10.0


class TokenFile:
    """The tokens of one folder; safe to use from many threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._read: tuple[tuple[int, int, int] | None, tuple[TokenRow, ...]] = (None, ())

    def rows(self) -> tuple[TokenRow, ...]:
        """Return every token; the file is read again where it is another one than before.

        Raises:
            StorageError: It cannot be read, or is damaged.
        """
        try:
            found = self._path.stat()
            state = (found.st_ino, found.st_mtime_ns, found.st_size)
            if state != self._read[0]:
                self._read = (state, _parsed(self._path.read_bytes(), self._path))
            return self._read[1]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StorageError(f"{self._path}: cannot be read: {error.strerror}") from error

    def change(self, edit: Callable[[tuple[TokenRow, ...]], Iterable[TokenRow]]) -> None:
        """Replace the rows by what `edit` makes of them, under a lock.

        Raises:
            StoreBusyError: Another program holds the lock.
            StorageError: The file cannot be read or written.
        """
        with storage_errors(self._path, "tokens cannot be written"):
            make_store_folder(self._path.parent)
            lock = FileLock(self._path.with_name(f"{FILE}.lock"), timeout=_LOCK_SECONDS, mode=0o600)
            try:
                lock.acquire()
            except Timeout as error:
                raise StoreBusyError(f"{self._path}: another program writes it; try again") from error
            try:
                rows = msgspec.json.encode(tuple(edit(self.rows())))
                write_whole(self._path, msgspec.json.format(rows, indent=1), private=True)
            finally:
                lock.release()


def _parsed(data: bytes, path: Path) -> tuple[TokenRow, ...]:
    try:
        return msgspec.json.decode(data, type=tuple[TokenRow, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{path}: is damaged, so no token is accepted: {error}; remove the file and make the tokens again"
        ) from error
