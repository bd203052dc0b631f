"""Who owns a folder: the process that takes its lock. It listens at once and opens the stores afterwards."""

import secrets
import socket
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.config import SharingConfig
from hydramem.core.errors import StorageError
from hydramem.sharing.address import listen, remove_name
from hydramem.storage.files.folder_lock import FolderLock
from hydramem.storage.files.owner_note import OwnerNote, own_note, read_note, write_note


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
            remove_name(self.note.address)
            self.listener.close()
            self.listener = None

    def give_back(self) -> None:
        """Leave the folder to the next owner."""
        self.stop_listening()
        self.lock.release()


def take_seat(folder: Path, settings: SharingConfig, *, background: bool = False) -> Seat:
    """Take the lock of a folder, listen, and write the note.

    Raises:
        StoreBusyError: Another process holds it.
        StorageError: The folder cannot be written, or no socket can be made.
    """
    former = read_note(folder)
    lock = FolderLock(folder)
    lock.acquire()
    try:
        if former is not None:
            remove_name(former.address)  # of an owner that was killed
        listener, address = listen(folder)
        note = replace(
            own_note(),
            address=address,
            key=secrets.token_hex(32),
            background=background,
            wait_seconds=settings.wait_seconds,
        )
        write_note(folder, note)
    except OSError as error:
        lock.release()
        raise StorageError(f"{folder}: cannot be shared with other processes: {error}") from error
    return Seat(folder, lock, note, listener)
