"""The commands about the process that holds a store: list all, start one in the background, stop it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hydramem.cli.options import Given, Invocation

if TYPE_CHECKING:
    from hydramem.core.results.upkeep_results import Restored

_SECONDS_TO_LISTEN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundOwner:
    """The process that holds a store after `serve --background`.

    Attributes:
        pid: Its process id.
        folder: The store.
        program: What runs.
        started: Whether this command has started it; else it was there.
        log: Where it writes what it does.
    """

    pid: int
    folder: str
    program: str
    started: bool
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What `stop` did.

    Attributes:
        folder: The store.
        pid: The process that has left; None where none held the store.
    """

    folder: str
    pid: int | None


def serve_in_background(invocation: Invocation) -> None:
    """Start a process that holds the store, unless one does already, and name it."""
    from hydramem.cli.output import show, write
    from hydramem.cli.terminal import console
    from hydramem.core.errors import InvalidInputError
    from hydramem.core.settings.config_loading import config_file, load_sharing

    folder = invocation.folder
    if not load_sharing(config_file(folder, invocation.config)).enabled:
        raise InvalidInputError(
            f"{folder}: `sharing` is off in its settings, so nothing can hold it in the background"
        )
    serving = _found_or_started(folder, invocation.config)
    if invocation.json:
        show(serving, as_json=True)
    elif serving.started:
        write(f"started process {serving.pid} for {folder}; it writes to {serving.log}", console())
    else:
        write(f"process {serving.pid} ({serving.program}) holds {folder} already", console())


def _found_or_started(folder: Path, config: Path | None) -> BackgroundOwner:
    from hydramem.core.errors import StoreBusyError
    from hydramem.sharing.background import LOG, PROGRAM, start_owner
    from hydramem.sharing.owners import owner_of

    until = time.monotonic() + _SECONDS_TO_LISTEN
    log = str(folder / LOG)
    while True:
        there = owner_of(folder)
        if there is not None:
            return BackgroundOwner(
                pid=there.pid, folder=str(folder), program=there.program, started=False, log=log
            )
        try:
            pid = start_owner(folder, config).pid
            return BackgroundOwner(pid=pid, folder=str(folder), program=PROGRAM, started=True, log=log)
        except StoreBusyError:  # somebody was quicker, and listens in a moment; or shares nothing
            if time.monotonic() > until:
                raise
        time.sleep(0.02)


def ps(*, invocation: Given) -> None:
    """List your processes that hold a store on this machine and serve others."""
    from hydramem.cli.output import show
    from hydramem.sharing.owners import owners

    show(owners(), as_json=invocation.json, nothing="no process holds a store")


def stop(*, invocation: Given) -> None:
    """Ask the process that holds the store in the background to leave, and wait until it has."""
    from hydramem.cli.output import show, write
    from hydramem.cli.terminal import console
    from hydramem.sharing.owners import stop_owner

    left = stop_owner(invocation.folder)
    if invocation.json:
        show(Stopped(folder=str(invocation.folder), pid=left.pid if left else None), as_json=True)
    elif left is None:
        write(f"no process holds {invocation.folder}", console())
    else:
        write(f"process {left.pid} has left {invocation.folder}", console())


def restore(invocation: Invocation, file: str, progress: Callable[[int, int], None] | None) -> "Restored":
    """Restore a backup through the process that holds the store, or here where none does.

    There may be no store yet, or one that cannot be opened.

    Raises:
        StoreBusyError: A program works with the store.
        HydraMemError: As `Memory.restore`.
    """
    from hydramem.sharing.connect import call, client_of

    with client_of(invocation.folder, invocation.namespace) as client:
        if client is not None:
            done = call(client, "restore", {"file": file}, actor="cli", progress=progress)
            return cast("Restored", done)
    from hydramem.memory_api.methods.safekeeping_methods import restore_folder

    return restore_folder(invocation.folder, file, invocation.settings(), progress=progress)
