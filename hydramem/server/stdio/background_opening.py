"""A memory that is opened behind a server that already answers."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hydramem.core.errors import HydraMemError, StorageError

if TYPE_CHECKING:
    from hydramem import Memory

_log = logging.getLogger(__name__)


class BackgroundOpening:
    """Opens a memory in a thread, soon or when it is asked for; calls wait for it.

    What cannot be opened is tried again at the next call: another process may have left by then.
    """

    def __init__(self, open_memory: "Callable[[], Memory]", *, wait_seconds: float) -> None:
        """Begin to wait.

        Args:
            open_memory: Opens the memory.
            wait_seconds: When it is opened even if nothing asks for it. Until then the processor is free for
                the first answers.
        """
        self._open = open_memory
        self._one = threading.Lock()
        self._memory: Memory | None = None
        self._closed = False
        self._wanted = threading.Event()
        self._wait_seconds = wait_seconds
        threading.Thread(target=self._open_soon, name="opening", daemon=True).start()

    def begin(self) -> None:
        """Let the opening begin now."""
        self._wanted.set()

    def memory(self) -> "Memory":
        """Return the memory, once it is open.

        Raises:
            HydraMemError: It cannot be opened, or the server ends.
        """
        with self._one:
            if self._closed:
                raise StorageError("the server ends")
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def close(self) -> None:
        """Close the memory, if it was opened."""
        with self._one:
            self._closed = True
            memory, self._memory = self._memory, None
        self._wanted.set()
        if memory is not None:
            memory.close()

    def _open_soon(self) -> None:
        self._wanted.wait(self._wait_seconds)
        if self._closed:
            return
        try:
            import hydramem.server.run_tool  # noqa: F401 - loaded before the first call needs it

            self.memory()
        except HydraMemError as error:
            _log.warning("%s", error)
