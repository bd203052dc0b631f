"""What the owners on this machine say of themselves, and how one is asked to leave; nothing is started."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.errors import StoreBusyError
from hydramem.sharing.owner_list import owned_folders
from hydramem.sharing.wire.messages import LEAVE, STATUS, Call, Status
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from hydramem.sharing.wire.values import decoded
from hydramem.storage.files.folder_lock import busy_error, is_locked
from hydramem.storage.files.owner_note import OwnerNote, read_note

_SECONDS_TO_ANSWER = 2.0
_SECONDS_TO_LEAVE = 60.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process that holds a store and serves others.

    Attributes:
        pid: Its process id.
        folder: The store.
        program: What runs.
        since: When it took the store, in ISO form.
        background: Whether it is there to serve others alone, and leaves when it is idle.
        clients: Connections of other processes; None where it does not answer.
        calls: Calls that run or wait for their turn; None where it does not answer.
        idle_seconds: Since the last call of another process; None where it does not answer.
        memory_mb: Memory that it occupies, in MB; None where it does not answer, or cannot tell.
        version: Of HydraMem; empty where it does not answer.
    """

    pid: int
    folder: str
    program: str
    since: str
    background: bool
    clients: int | None = None
    calls: int | None = None
    idle_seconds: float | None = None
    memory_mb: int | None = None
    version: str = ""


def owners() -> tuple[Owner, ...]:
    """Return every process of this user on this machine that holds a store and serves others, by folder."""
    found = map(owner_of, sorted(owned_folders()))
    return tuple(owner for owner in found if owner is not None)


def owner_of(folder: Path) -> Owner | None:
    """Return the process that holds a store and serves others; None where there is none.

    One that does not answer within two seconds is returned with what its note says.
    """
    note = read_note(folder)
    if note is None or not note.address:
        return None
    owner = Owner(
        pid=note.pid,
        folder=str(folder),
        program=note.program,
        since=note.since,
        background=note.background,
    )
    # Only one in the background would be asked to leave for its older protocol.
    looked_at = replace(note, wait_seconds=_SECONDS_TO_ANSWER, background=False)
    try:
        link = OwnerLink(folder, looked_at)
        try:
            status = decoded(link.call(_call(STATUS)), Status)
        finally:
            link.close()
    except OwnerGoneError:
        return None
    except StoreBusyError:  # it hangs, or has another version
        return owner if note.is_alive else None
    return replace(
        owner,
        clients=status.clients,
        calls=status.calls,
        idle_seconds=round(status.idle_seconds, 1),
        memory_mb=status.memory_mb,
        version=status.version,
    )


def stop_owner(folder: Path) -> OwnerNote | None:
    """Ask the background owner of a store to leave, and wait until it has.

    Calls that run end first, those that report progress are cancelled.

    Returns:
        Who has left; None where no process holds the store.

    Raises:
        StoreBusyError: A program holds the store, which is not stopped; or the owner does not answer, or
            does not leave within a minute.
    """
    note = read_note(folder)
    if note is None or not note.address:
        if is_locked(folder):
            raise busy_error(folder)
        return None
    try:
        link = OwnerLink(folder, note)
    except OwnerGoneError:
        if not is_locked(folder):
            return None
        if not note.background:
            raise busy_error(folder) from None
        _wait_for_end(folder, note)  # it leaves already
        return note
    try:
        with suppress(OwnerGoneError):  # it was quicker
            link.call(_call(LEAVE))
    finally:
        link.close()
    _wait_for_end(folder, note)
    return note


def _wait_for_end(folder: Path, note: OwnerNote) -> None:
    until = time.monotonic() + _SECONDS_TO_LEAVE
    while note.is_alive:
        if time.monotonic() > until:
            raise StoreBusyError(f"{folder}: {note} leaves as soon as the calls end that run there")
        time.sleep(_POLL_SECONDS)


def _call(operation: str) -> Call:
    return Call(operation=operation, project="")
