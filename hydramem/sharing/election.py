"""Who owns a folder: the process that takes its lock. It listens at once and opens the stores afterwards."""

import logging
import os
import secrets
import socket
import weakref
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.config import SharingConfig
from hydramem.core.errors import StorageError
from hydramem.sharing.owner_list import add_entry
from hydramem.sharing.wire.address import has_name, listen, remove_name
from hydramem.storage.files.folder_lock import FolderLock
from hydramem.storage.files.owner_note import NOTE, OwnerNote, own_note, read_note, write_note

log = logging.getLogger(__name__)


@dataclass(slots=True, weakref_slot=True, eq=False)
class Seat:
    """The owner's place: the lock of a folder, and the socket that clients find by the note.

    Attributes:
        listener: None where no other process can be served; why is logged.
        entry: Its file in the list of owners.
    """

    folder: Path
    lock: FolderLock
    note: OwnerNote
    listener: socket.socket | None
    entry: Path | None = None

    def __post_init__(self) -> None:
        _seats.add(self)

    def announce(self) -> None:
        """Add this process to the list of owners."""
        if self.listener is not None:
            self.entry = add_entry(self.folder, self.note.address)

    def is_deleted(self) -> bool:
        """Say whether the folder was deleted, so that nothing is left to own."""
        return self.lock.is_deleted()

    def is_found(self) -> bool:
        """Say whether clients find the socket: by the note, which leads to its name."""
        note = read_note(self.folder)
        return note is not None and note.address == self.note.address and has_name(note.address)

    def listen_again(self) -> None:
        """Listen under a fresh name and write a fresh note; connections that are open stay.

        Raises:
            OSError: No socket can be made, or the note cannot be written.
        """
        former, (self.listener, address) = self.listener, listen(self.folder)
        remove_name(self.note.address)
        self.note = replace(self.note, address=address)
        if former is not None:
            former.close()
        if self.entry is not None:
            self.entry = add_entry(self.folder, address)
        write_note(self.folder, self.note)

    def stop_listening(self) -> None:
        """Let nobody connect any more."""
        if self.listener is not None:
            listener, self.listener = self.listener, None
            remove_name(self.note.address)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()
        if self.entry is not None:
            with suppress(OSError):  # `owned_folders` removes it
                self.entry.unlink(missing_ok=True)

    def give_back(self) -> None:
        """Leave the folder to the next owner."""
        self.stop_listening()
        self.lock.release()

    def hand_over(self, note: OwnerNote) -> None:
        """Leave the folder to a process that has the descriptors of lock and socket, and name it."""
        with suppress(OSError):  # it writes the note itself as soon as it can
            write_note(self.folder, note)
        self.lock.hand_over()
        if self.listener is not None:
            self.listener.close()  # its name stays
            self.listener = None


_seats: weakref.WeakSet[Seat] = weakref.WeakSet()


def has_seat(folder: Path) -> bool:
    """Say whether this process has taken a seat at a folder and not given it back."""
    return any(seat.folder == folder and seat.lock.is_taken for seat in tuple(_seats))


def take_seat(
    folder: Path, settings: SharingConfig, *, background: bool = False, for_another: bool = False
) -> Seat:
    """Take the lock of a folder, listen, and write the note.

    Args:
        folder: The store.
        settings: Limits of time.
        background: The owner is there to serve others.
        for_another: Take it for a process that is about to be started.

    Raises:
        StoreBusyError: Another process holds it, or another thread of this one.
        StorageError: The folder cannot be written.
    """
    former = read_note(folder)
    lock = FolderLock(folder)
    lock.acquire(first=True, for_another=for_another)
    if former is not None:
        remove_name(former.address)  # of an owner that was killed
    seat = Seat(folder, lock, own_note(), None)
    try:
        seat.listener, address = listen(folder)
        seat.note = replace(
            seat.note,
            address=address,
            key=secrets.token_hex(32),
            background=background,
            wait_seconds=settings.wait_seconds,
        )
        write_note(folder, seat.note)
    except OSError as error:
        # On a full disk, or where sockets are forbidden, this process can work with the store all the same.
        seat.stop_listening()
        log.warning("%s: other processes cannot use it meanwhile: %s", folder, error)
    return seat


def adopt_seat(folder: Path, lock: int, listener: int, program: str) -> Seat:
    """Take over the lock and the socket whose descriptors another process has handed to this one.

    Args:
        folder: The store.
        lock: Descriptor of the lock.
        listener: Descriptor of the socket.
        program: What this process is called in messages.

    Raises:
        StorageError: The note that the other process has written cannot be read.
    """
    for descriptor in (lock, listener):
        os.set_inheritable(descriptor, False)
    held = FolderLock(folder)
    held.acquire(lock)
    given, own = read_note(folder), own_note()
    if given is None:
        held.release()
        raise StorageError(f"{folder / NOTE}: cannot be read")
    note = replace(given, pid=own.pid, started=own.started, since=own.since, program=program)
    seat = Seat(folder, held, note, socket.socket(fileno=listener))
    with suppress(OSError):  # the one that was handed over leads here as well
        write_note(folder, note)
    return seat


def _leave_to_parent() -> None:
    """Close the sockets in a forked child: clients would wait for it after their owner has died."""
    for seat in _seats:
        seat.entry = None
        if seat.listener is not None:
            seat.listener.close()
            seat.listener = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
