"""The memory of a provider: opened beside the host's own start, and never waited for without end."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hydramem.core.errors import HydraMemError, StorageError, StoreBusyError
from hydramem.sharing import connect

if TYPE_CHECKING:
    from hydramem import Memory

log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


def open_memory(folder: Path, project: str) -> "Memory":
    """Open a memory for a host: through a process in the background, which others share.

    Raises:
        HydraMemError: As `hydramem.connect`.
    """
    from hydramem.core.settings.config_loading import config_file, load_sharing

    # A store that is not shared belongs to the one process that opens it.
    shared = load_sharing(config_file(folder, None)).enabled
    return connect.connect(folder, project=project, background=shared)


class HostConnection:
    """A memory that is opened in a thread of its own; safe to use from many threads.

    Args:
        open_it: Opens the memory.
        opened: Called in that thread once it is open.
        keeps_open: Whether the memory is somebody else's, who closes it.
    """

    def __init__(
        self, open_it: "Callable[[], Memory]", opened: Callable[[], None], *, keeps_open: bool
    ) -> None:
        self._open_it = open_it
        self._opened = opened
        self._keeps_open = keeps_open
        self._changed = threading.Condition()
        self._memory: Memory | None = None
        self._error: Exception | None = None
        self._opening = False
        self._closed = False

    def start(self) -> None:
        """Begin to open it, unless it is open or opened just now."""
        with self._changed:
            if self._opening or self._closed or self._memory is not None:
                return
            self._opening, self._error = True, None
        threading.Thread(target=self._run, name="hydramem-open", daemon=True).start()

    def memory(self, seconds: float) -> "Memory":
        """Return the memory; where it could not be opened, try again.

        Args:
            seconds: How long to wait for it.

        Raises:
            HydraMemError: It cannot be opened, is closed, or is not open in time.
        """
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: not self._opening or self._closed, seconds)
            if self._closed:
                raise StorageError("the memory is closed")
            if self._memory is not None:
                return self._memory
            if isinstance(self._error, HydraMemError):
                raise self._error
            raise StoreBusyError("the memory is being opened; try again in a moment")

    def call(
        self, name: str, *, actor: str, seconds: float, recalls_for: str | None = None, **arguments: Any
    ) -> Any:
        """Run an operation of the memory.

        Args:
            name: The operation.
            actor: Who asks, for the audit and the log.
            seconds: How long to wait until the memory is open.
            recalls_for: Name of the session that recalls are recorded for.
            arguments: Of the operation, by name.
        """
        memory = self.memory(seconds)
        return connect.call(memory, name, arguments, actor=actor, session=recalls_for)

    def close(self) -> None:
        """Close the memory, if it is open."""
        with self._changed:
            self._closed = True
            memory, self._memory = self._memory, None
            self._changed.notify_all()
        if memory is not None and not self._keeps_open:
            memory.close()

    def _run(self) -> None:
        memory, error = None, None
        try:
            memory = self._open_it()
        except HydraMemError as raised:
            error = raised
            log.warning("the memory cannot be opened: %s", raised)
        finally:
            with self._changed:
                self._opening, self._error = False, error
                if not self._closed:
                    self._memory, memory = memory, None
                self._changed.notify_all()
                is_open = self._memory is not None
        if memory is not None and not self._keeps_open:  # closed meanwhile
            memory.close()
        if is_open:
            self._opened()


def in_time(seconds: float, work: Callable[[], _Result]) -> "_Result | None":
    """Return what a function returns; None where it takes longer, and goes on in a thread of its own.

    Raises:
        Exception: What the function raises in time.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 -- raised again by the caller
            errors.append(error)

    thread = threading.Thread(target=run, name="hydramem-work", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    return results[0] if results else None
