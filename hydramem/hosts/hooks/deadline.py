"""How long a hook may take, and the clock that ends it."""

import os
import threading
import time
from collections.abc import Callable

SECONDS = 1.35
"""From the first line of the program to its end, whatever happens: with its interpreter 1.5."""


_LAST_SECONDS = 0.03


class Deadline:
    """A moment, and what is left until then.

    Args:
        seconds: From now.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._until = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left; negative where it is over."""
        return self._until - time.monotonic()

    def end_process(self, before: Callable[[], None]) -> None:
        """End this process with exit code 0 at that moment, whatever its other threads do.

        Args:
            before: Called first; it has a moment, and may fail.
        """

        def wait() -> None:
            time.sleep(max(0.0, self.left()))
            threading.Thread(target=before, daemon=True).start()
            time.sleep(_LAST_SECONDS)
            os._exit(0)

        threading.Thread(target=wait, name="hydramem-deadline", daemon=True).start()
