"""Owners in the background for tests: started, looked for, and never left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from hydramem.sharing.background import PROGRAM
from hydramem.storage.files.folder_lock import is_locked
from hydramem.storage.files.owner_note import OwnerNote, read_note
from tests import waiting
from tests.engines import DISK_ENGINE

ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
SECONDS = 60.0
"""How long anything may take on a busy machine."""


@contextmanager
def no_owner_left(folder: Path) -> Iterator[Path]:
    """Kill what still owns a folder in the background at the end."""
    try:
        yield folder
    finally:
        for pid in owner_processes(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def owner_processes(folder: Path) -> list[int]:
    """Return the processes that own a folder in the background, or are about to."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if b"hydramem.sharing.owner_process" in words and os.fsencode(folder) in words:
                found.append(int(place.name))
    return found


def note_of(folder: Path) -> OwnerNote:
    """Return the note of an owner in the background."""
    note = read_note(folder)
    assert note is not None and note.program == PROGRAM and note.background
    return note


wait_for = partial(waiting.wait_for, seconds=SECONDS)


def wait_until_gone(folder: Path, note: OwnerNote) -> None:
    """Wait until nothing is left of an owner: no process, no lock, no name of a socket."""
    wait_for(lambda: not owner_processes(folder), "the process has ended")
    assert not is_locked(folder)
    assert read_note(folder) is None
    assert not Path(note.address.partition(":")[2]).exists()


def script(text: str, *words: str, **more: object) -> "subprocess.Popen[str]":
    """Run a program that has the words as `sys.argv[1:]`; it reads and writes text."""
    return subprocess.Popen(
        [sys.executable, "-c", text, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        **more,  # type: ignore[call-overload]  # options of Popen
    )
