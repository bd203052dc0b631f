"""The owner's lock: one process at a time holds a store folder.

It is a lock of the operating system on `owner.lock`, which is never deleted: the system drops it when the
process dies, however it dies. A process counts how often it took the lock. A descriptor of it can be handed
to another process, which no library of locks allows; hence these few lines.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.storage.files.owner_note import own_note, read_note, remove_note, write_note

LOCK = "owner.lock"
"""Name of the file that the owner holds locked."""

_held: dict[Path, "_HeldLock"] = {}
_one = threading.Lock()


class _HeldLock:
    """A lock that this process holds: its descriptor, and how often it was taken."""

    def __init__(self, descriptor: int, *, for_another: bool) -> None:
        self.descriptor = descriptor
        self.for_another = for_another
        self.count = 0


class FolderLock:
    """Holds `owner.lock` in a store folder, as often as it was acquired in this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._taken = 0

    def acquire(self, adopted: int | None = None, *, first: bool = False, for_another: bool = False) -> None:
        """Take the lock at once.

        Args:
            adopted: A descriptor of the lock that another process took and handed to this one.
            first: Refuse it also where this process has taken it before.
            for_another: Take it for a process that is about to be started: nobody in this one shares it.

        Raises:
            StoreBusyError: Another process holds it; the message names that process.
            StorageError: The folder cannot be written.
        """
        with _one:
            held = _held.get(self._folder)
            if held is not None and (first or held.for_another):
                raise busy_error(self._folder)
            if held is None:
                held = _HeldLock(self._lock() if adopted is None else adopted, for_another=for_another)
                _held[self._folder] = held
            held.count += 1
            self._taken += 1

    def release(self) -> None:
        """Give the lock back as often as this object took it; harmless when repeated."""
        self._give_up(_unlock)

    def hand_over(self) -> None:
        """Give the lock up in this process, and keep it locked for the one that has its descriptor."""
        self._give_up(lambda descriptor: None)

    @property
    def descriptor(self) -> int:
        """The descriptor of the locked file."""
        return _held[self._folder].descriptor

    @property
    def is_taken(self) -> bool:
        """Whether this object has taken the lock and not given it back."""
        return self._taken > 0

    def is_deleted(self) -> bool:
        """Say whether the locked file has no name any more, as where the folder was deleted."""
        return not os.fstat(self.descriptor).st_nlink

    def _give_up(self, unlock: Callable[[int], None]) -> None:
        with _one:
            held = _held.get(self._folder)
            taken, self._taken = self._taken, 0
            if held is None or not taken:
                return
            held.count -= taken
            if held.count <= 0:
                del _held[self._folder]
                if unlock is _unlock and os.fstat(held.descriptor).st_nlink:
                    # Without its name the lock was deleted with the folder: what is there now is another's.
                    remove_note(self._folder)
                unlock(held.descriptor)
                os.close(held.descriptor)

    def _lock(self) -> int:
        try:
            descriptor = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
        except OSError as error:
            raise StorageError(f"{self._folder}: cannot be written: {error.strerror}") from error
        try:
            _try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise busy_error(self._folder) from error
        try:
            write_note(self._folder, own_note())
        except OSError:
            remove_note(
                self._folder
            )  # as on a full disk, which can be read; that of a dead owner would mislead
        return descriptor


def is_held_here(folder: Path) -> bool:
    """Say whether this process holds the lock of a folder, for itself."""
    with _one:
        held = _held.get(folder.resolve())
        return held is not None and not held.for_another


def is_locked(folder: Path) -> bool:
    """Say whether a process holds the lock of a folder."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | _BINARY)
    except OSError:
        return False
    try:
        _try_lock(descriptor)
        _unlock(descriptor)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def busy_error(folder: Path) -> StoreBusyError:
    """Return the error of a folder that another process holds; it names the process."""
    note = read_note(folder)
    # Without a note of a live process: the holder has not written its own yet, or is just leaving.
    holder = str(note) if note is not None and note.is_alive else "another process"
    return StoreBusyError(f"{folder}: held by {holder}; close it there first")


_BINARY = getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _leave_to_parent() -> None:
    """Close the locks in a forked child: it would keep them after its parent has given them back or died."""
    global _one
    _one = threading.Lock()
    for held in _held.values():
        os.close(held.descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
