"""The note of the process that holds a store folder: who it is, and where it answers other processes.

The lock decides who owns a folder; the note serves to reach the owner and to name it in messages. It lies
beside the lock, readable by the user of the store alone, since it holds the key that clients prove.
"""

import json
import logging
import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger(__name__)
NOTE = "owner.json"
"""Name of the note's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerNote:
    """Who holds a folder.

    Attributes:
        pid: Its process id.
        started: When that process started, in ticks since the system did; None where the system does not
            tell. Together with the id it names one process for ever.
        since: When it took the folder, in ISO form.
        program: What runs, for messages.
        address: Where it answers, such as `unix:/run/...` or `tcp:127.0.0.1:4711`; empty where it does not.
        key: What both sides of a connection prove to know; hexadecimal.
        background: Whether it is there to serve others, and leaves when asked to.
        wait_seconds: How long clients wait for a sign of life.
    """

    pid: int
    started: int | None = None
    since: str = ""
    program: str = ""
    address: str = ""
    key: str = ""
    background: bool = False
    wait_seconds: float = 10.0

    def __str__(self) -> str:
        """Name the process in a message."""
        program = f" ({self.program})" if self.program else ""
        return f"process {self.pid}{program} since {self.since[:19].replace('T', ' ')} UTC"

    @property
    def is_alive(self) -> bool:
        """Whether that process runs, and its id was not given to another one since."""
        if not _runs(self.pid):
            return False
        return self.started is None or process_start(self.pid) == self.started


def own_note() -> OwnerNote:
    """Return the note of this process, without an address."""
    name = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""
    program = " ".join((name, *sys.argv[1:2])) if name == "hydramem" else name or "python"
    return OwnerNote(
        pid=os.getpid(),
        started=process_start(os.getpid()),
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        program=program[:60],
    )


def read_note(folder: Path) -> OwnerNote | None:
    """Return the note in a store folder; None where there is none that can be read."""
    try:
        values = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        known = {name: values[name] for name in OwnerNote.__slots__ if name in values}
        note = OwnerNote(**known)
        return note if isinstance(note.pid, int) and isinstance(note.address, str) else None
    except (OSError, ValueError, TypeError):
        return None


def write_note(folder: Path, note: OwnerNote) -> None:
    """Put a note in place of the former one. The caller holds the folder's lock.

    Raises:
        OSError: It cannot be written, as on a full disk.
    """
    beside = folder / f"{NOTE}.{os.getpid()}"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(note), file)
        beside.replace(folder / NOTE)
    finally:
        beside.unlink(missing_ok=True)


def remove_note(folder: Path) -> None:
    """Delete the note. The caller holds the folder's lock."""
    try:
        (folder / NOTE).unlink(missing_ok=True)
    except OSError as error:
        log.debug("%s: not deleted: %s", folder / NOTE, error)


def process_start(pid: int) -> int | None:
    """Return when a process started, in ticks since the system did.

    None where the system does not tell, or where the process has ended and only its parent has not noticed.
    """
    try:
        # The name in parentheses, the second field, may hold spaces and parentheses itself.
        after_name = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        )
        fields = after_name.split()
        return None if fields[0] == "Z" else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def _runs(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # there a signal of 0 is an interrupt
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError, ValueError):
        return False
    except OSError:
        return True  # another user's
    return True
