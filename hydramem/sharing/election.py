"""Who owns a folder: the process that takes its lock. It listens at once and opens the stores afterwards."""

import logging
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.config import SharingConfig
from hydramem.sharing.address import listen, remove_name
from hydramem.storage.files.folder_lock import FolderLock
from hydramem.storage.files.owner_note import OwnerNote, own_note, read_note, write_note

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Seat:
    """The owner's place: the lock of a folder, and the socket that clients find by the note.

    Attributes:
        listener: None where no other process can be served; why is logged.
    """

    folder: Path
    lock: FolderLock
    note: OwnerNote
    listener: socket.socket | None

    def stop_listening(self) -> None:
        """Let nobody connect any more."""
        if self.listener is not None:
            listener, self.listener = self.listener, None
            remove_name(self.note.address)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            listener.close()

    def give_back(self) -> None:
        """Leave the folder to the next owner."""
        self.stop_listening()
        self.lock.release()


def take_seat(folder: Path, settings: SharingConfig, *, background: bool = False) -> Seat:
    """Take the lock of a folder, listen, and write the note.

    Raises:
        StoreBusyError: Another process holds it.
        StorageError: The folder cannot be written.
    """
    former = read_note(folder)
    lock = FolderLock(folder)
    lock.acquire()
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
