"""What a call reports on its way: how far it is; where the client has cancelled it, it stops there."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hydramem.core.errors import CallCancelledError


class CallReport:
    """The progress callback of one call, whatever transport it came over; called from the call's thread."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        """Begin with nothing reached.

        Args:
            send: Tells the client `progress`, and `total` and `message` where they are known; None where it
                does not want to hear.
        """
        self._send = send
        self._sent = -1.0
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Let the call stop at its next report; from any thread."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether the client no longer waits for an answer."""
        return self._cancelled.is_set()

    def __call__(self, *reached: Any) -> None:
        """Pass on what an operation reports.

        Raises:
            CallCancelledError: The call is cancelled.
        """
        if self.is_cancelled:
            raise CallCancelledError
        if self._send is None:
            return
        done = _as_progress(reached)
        # Progress must grow from one message to the next.
        if done is not None and done["progress"] > self._sent:
            self._sent = done["progress"]
            self._send(done)


def _as_progress(reached: tuple[Any, ...]) -> dict[str, Any] | None:
    """Return a report as MCP says it: what is done, of how many, and the last one."""
    from hydramem.core.inputs import Progress

    match reached:
        case (Progress() as at,):
            return {"progress": at.done, "total": at.total, "message": at.what}
        case (int() | float() as done, int() | float() as total):
            return {"progress": done, "total": total}
        case (int() | float() as done, None):
            return {"progress": done}
    return None
