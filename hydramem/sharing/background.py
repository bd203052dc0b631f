"""Start an owner in the background, which outlives this process: it is handed the lock and the socket.

Both are taken here, so that other processes wait in the queue of the socket from the first moment on, and
two processes cannot start an owner each. Nothing heavy is imported.
"""

import os
import subprocess
import sys
import sysconfig
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from hydramem.core.config import SharingConfig
from hydramem.core.errors import StorageError
from hydramem.core.settings.environment import make_store_folder
from hydramem.sharing.election import Seat, take_seat
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.files.owner_note import process_start

LOG = "owner.log"
"""The file in the store that an owner in the background writes to; `owner.log.1` is the one before."""

PROGRAM = "hydramem serve --background"
"""What an owner in the background is called in messages."""

MOST_LOG_BYTES = 1_000_000
_MODULE = "hydramem.sharing.owner_process"
_MOST_STARTS = 3
_SECONDS_TO_START = 60.0
"""How long clients wait for a process that is starting; if it ends, they notice at once."""

_LINES_OF_LOG = 5
_LOG_TAIL_BYTES = 4096


class OwnerStarter:
    """Starts an owner for a client that finds none, a few times at most.

    Args:
        folder: The store.
        config: File of settings; None takes the one in the store.
    """

    def __init__(self, folder: Path, config: str | Path | None) -> None:
        self._folder = folder
        self._config = config
        self._starts = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start an owner; where the system hands nothing over, only when the one before has ended.

        Raises:
            StoreBusyError: Another process holds the folder.
            StorageError: No process can be started, or each has ended at once; with what it said.
        """
        if sys.platform == "win32" and self._process is not None and self._process.poll() is None:
            return  # on its way to take the folder itself
        if self._starts == _MOST_STARTS:
            raise StorageError(
                f"{self._folder}: the process in the background has ended {_MOST_STARTS} times before it "
                f"answered; {self._folder / LOG} ends with: {_log_end(self._folder)}"
            )
        self._process = start_owner(self._folder, self._config)
        self._starts += 1


def start_owner(folder: Path, config: str | Path | None = None) -> "subprocess.Popen[bytes]":
    """Start a process that owns a store, in a session of its own; return as soon as clients can connect.

    Args:
        folder: The store; created where it is missing.
        config: File of settings; None takes the one in the store.

    Raises:
        StoreBusyError: Another process holds the folder.
        StorageError: The folder cannot be written, or no process can be started.
    """
    with storage_errors(folder, "cannot be created"):
        make_store_folder(folder)
    given = "" if config is None else str(Path(config).expanduser().absolute())
    if sys.platform == "win32":
        return _spawn(folder, [str(folder), given], ())
    patient = SharingConfig(wait_seconds=_SECONDS_TO_START)
    seat = take_seat(folder, patient, background=True, for_another=True)
    try:
        if seat.listener is None:
            raise StorageError(f"{folder}: other processes cannot be served, as the log says")
        handed = (seat.lock.descriptor, seat.listener.fileno())
        process = _spawn(folder, [str(folder), given, *map(str, handed)], handed)
    except BaseException:
        seat.give_back()
        raise
    _hand_over(seat, process.pid)
    return process


def _hand_over(seat: Seat, pid: int) -> None:
    seat.hand_over(replace(seat.note, pid=pid, started=process_start(pid), program=PROGRAM))


def _spawn(folder: Path, words: list[str], handed: tuple[int, ...]) -> "subprocess.Popen[bytes]":
    with storage_errors(folder / LOG, "cannot be written"), open_log(folder) as log:
        process = subprocess.Popen(  # noqa: S603 -- this interpreter, a module of this package
            [sys.executable, "-P", "-m", _MODULE, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=Path(folder.anchor),
            env=_environment(),
            close_fds=True,
            pass_fds=handed,
            start_new_session=sys.platform != "win32",
            creationflags=_detached() if sys.platform == "win32" else 0,
        )
    # It is this process's child: somebody has to take note of its end, or it would stay as a zombie.
    threading.Thread(target=process.wait, name="hydramem-background", daemon=True).start()
    return process


def _detached() -> int:
    flags = ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP", "CREATE_BREAKAWAY_FROM_JOB")
    return sum(getattr(subprocess, name) for name in flags)


def _environment() -> dict[str, str]:
    """Return the environment, with a search path by which this package is found from any folder."""
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    found = [str(Path(part).absolute()) for part in parts if part]
    root = str(Path(__file__).parent.parent.parent)
    if root not in {*found, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        found.insert(0, root)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)} if found else dict(os.environ)


def open_log(folder: Path) -> IO[bytes]:
    """Open the log of a store for appending; a long one becomes the one before.

    Raises:
        OSError: It cannot be opened.
    """
    path = folder / LOG
    with suppress(FileNotFoundError):
        if path.stat().st_size > MOST_LOG_BYTES:
            path.replace(path.with_name(f"{LOG}.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _log_end(folder: Path) -> str:
    try:
        with (folder / LOG).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
            lines = file.read().decode("utf-8", errors="replace").splitlines()
    except OSError as error:
        return f"nothing ({error.strerror})"
    return " | ".join(line.strip() for line in lines[-_LINES_OF_LOG:] if line.strip()) or "nothing"
