"""The process of an owner in the background: `python -m` this module `FOLDER CONFIG [LOCK SOCKET]`.

LOCK and SOCKET are descriptors that its starter has taken for it; without them it takes the folder itself.
It serves until nobody has called for a while, and starts nothing that outlives it.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.config import Config, SharingConfig
from hydramem.core.errors import ConfigError, HydraMemError, InvalidInputError, StoreBusyError
from hydramem.sharing.background import LOG, MOST_LOG_BYTES, PROGRAM
from hydramem.sharing.election import Seat, adopt_seat, take_seat
from hydramem.storage.files.owner_note import write_note

if TYPE_CHECKING:
    from hydramem.memory_api.memory import Memory
    from hydramem.sharing.serve_clients import OwnerServer

log = logging.getLogger("hydramem.sharing.owner_process")  # the module runs as `__main__`
_ENDING = (signal.SIGTERM, signal.SIGINT)
_SECONDS_TO_REFUSE = 1.0
"""How long the error of a store that cannot be opened is told to those who connect."""


class _Log(RotatingFileHandler):
    """Writes to the log of the store and keeps it short, also what libraries print."""

    def doRollover(self) -> None:  # noqa: N802 -- the name of the standard library
        super().doRollover()
        with self._open() as stream:
            for descriptor in (1, 2):
                os.dup2(stream.fileno(), descriptor)


def main(words: list[str]) -> int:
    """Own a folder until nobody needs it any more; return the exit code."""
    folder, config = Path(words[0]), words[1] or None
    _block_signals()
    _write_log_to(folder)
    try:
        seat = _seat(folder, [int(word) for word in words[2:]])
    except StoreBusyError as error:
        log.info("%s", error)
        return 0
    from hydramem.sharing.serve_clients import OwnerServer

    settings, problem = _settings(folder, config)
    seat.note = replace(seat.note, wait_seconds=settings.sharing.wait_seconds)
    with suppress(OSError):  # the one that is there leads here as well
        write_note(folder, seat.note)
    server = OwnerServer(seat, settings.sharing)
    _call_at_signals(server.ask_to_leave)
    try:
        return _serve(seat, server, settings) if problem is None else _refuse(server, problem)
    finally:
        server.give_back()


def _seat(folder: Path, descriptors: list[int]) -> Seat:
    if descriptors:
        lock, listener = descriptors
        return adopt_seat(folder, lock, listener, PROGRAM)
    seat = take_seat(folder, SharingConfig(), background=True)
    seat.note = replace(seat.note, program=PROGRAM)
    return seat


def _serve(seat: Seat, server: "OwnerServer", settings: "Config") -> int:
    from hydramem.memory_api.memory import connect
    from hydramem.storage.lance.remote_client import use_placeholders

    use_placeholders()
    try:
        memory = connect(seat.folder, config=settings)
    except Exception as error:  # noqa: BLE001 -- clients wait for it, whatever it is
        return _refuse(server, error)
    server.serve(memory, whole=True)
    threading.Thread(target=_warm_up, args=(memory,), name="hydramem-warm-up", daemon=True).start()
    log.info("owns %s as process %d", seat.folder, os.getpid())
    server.wait_until_idle(settings.sharing.idle_minutes * 60)
    if seat.is_deleted():
        log.warning("%s was deleted", seat.folder)
        seat.stop_listening()
        os._exit(0)  # closing the stores would write files where another store may lie by now
    server.stop()
    memory.close()
    log.info("leaves %s", seat.folder)
    return 0


def _warm_up(memory: "Memory") -> None:
    """Load the model before somebody waits for it: a hook of a coding agent does so for a second at most."""
    from hydramem.memory_api.handle import warm_up

    try:
        warm_up(memory)
    except HydraMemError as error:
        log.info("not warmed up: %s", error)  # calls that need it say why


def _refuse(server: "OwnerServer", error: Exception) -> int:
    """Tell those who connect why the store cannot be opened, for a moment."""
    log.error("cannot open the store", exc_info=error)
    server.refuse(error)
    time.sleep(_SECONDS_TO_REFUSE)
    server.stop()
    return 1


def _settings(folder: Path, config: str | None) -> tuple[Config, Exception | None]:
    """Return the settings of the store, and why it cannot be held with them."""
    from hydramem.core.settings.config_loading import config_file, load_config

    try:
        settings = load_config(config_file(folder, config))
    except ConfigError as error:
        return Config(), error
    if settings.storage.graph == "memory":
        why = "`storage.graph` is memory"
    elif not settings.sharing.enabled:
        why = "`sharing` is off"
    else:
        return settings, None
    return settings, InvalidInputError(
        f"{folder}: {why} in its settings, so nothing can hold it in the background"
    )


def _write_log_to(folder: Path) -> None:
    handler = _Log(folder / LOG, maxBytes=MOST_LOG_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    logging.getLogger("hydramem").setLevel(logging.INFO)


def _block_signals() -> None:
    """Keep the signals that end this process for `_call_at_signals`; further threads inherit that."""
    if sys.platform != "win32":  # there a process without a console gets none
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _call_at_signals(leave: Callable[[], None]) -> None:
    """Have `leave` called when the system or a person ends this process.

    A thread waits for the signals: a handler would run in the middle of whatever the main thread does.
    """

    def wait() -> None:
        log.info("leaves at signal %d", signal.sigwait(_ENDING))
        leave()

    if sys.platform != "win32":
        threading.Thread(target=wait, name="hydramem-signals", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
