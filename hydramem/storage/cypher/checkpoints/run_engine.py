"""Run an engine on a graph file in a child process, which may crash or hang without harm to this one."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.open_database import opening_error

_CHILD = Path(__file__).with_name("engine_child.py")
_POLL_SECONDS = 0.05


class EngineFailedError(StorageError):
    """The engine crashed, hung or refused in its child process."""


class StoppedError(StorageError):
    """The child process was stopped, as was asked."""


def run_engine(
    file: Path,
    settings: StorageConfig,
    *,
    pool: int,
    checkpoint: bool = False,
    seconds: float = float("inf"),
    stop: threading.Event | None = None,
) -> int:
    """Open or create a graph file that no process has open; return the bytes that its log has afterwards.

    Args:
        file: The graph file.
        settings: Which engine, and the greatest size of its file.
        pool: Bytes of the engine's pool of pages.
        checkpoint: Whether to write the log into the file, with a low priority.
        seconds: Most that it may take.
        stop: Ends the child process once it is set.

    Raises:
        StorageError: The engine crashed, hung or refused, or was stopped.
    """
    size = settings.max_db_gb << 30
    # -P: the folder of the script is no place to import from.
    command = [sys.executable, "-P", str(_CHILD), settings.graph, str(file), str(size), str(pool)]
    with subprocess.Popen(  # noqa: S603 -- our own
        [*command, *(("checkpoint",) if checkpoint else ())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for this process, which then ends the child in its order
    ) as process:
        _wait(process, settings.graph, seconds, stop)
        said = process.stdout.read() if process.stdout else b""
    if process.returncode != 0:
        raise EngineFailedError(f"{settings.graph} crashed when it read it ({_ending(process.returncode)})")
    found = json.loads(said)
    if "error" in found:
        raise _reported(file, settings.graph, str(found["error"]))
    return int(found["log"])


def _wait(
    process: subprocess.Popen[bytes], engine: str, seconds: float, stop: threading.Event | None
) -> None:
    until = monotonic() + seconds
    while True:
        try:
            process.wait(_POLL_SECONDS)
        except subprocess.TimeoutExpired as error:
            if stop is not None and stop.is_set():
                process.kill()
                raise StoppedError(f"{engine} was stopped") from error
            if monotonic() > until:
                process.kill()
                raise EngineFailedError(f"{engine} did not finish reading it in {seconds:.0f} s") from error
        else:
            return


def _reported(file: Path, engine: str, text: str) -> StorageError:
    known = opening_error(file, RuntimeError(text))
    return (
        known if type(known) is not StorageError else EngineFailedError(f"{engine} cannot read it ({text})")
    )


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit {code}"
