"""The calls of tools that run: each in a thread, with progress, cancelled when the client asks."""

import logging
import threading
from collections.abc import Callable
from typing import Any

from hydramem.core.config import ServerConfig
from hydramem.core.errors import CallCancelledError, HydraMemError
from hydramem.server.background_opening import BackgroundOpening
from hydramem.server.json_rpc import INVALID_PARAMS, Message, RpcError, Writer

_log = logging.getLogger(__name__)
_MOST_AT_ONCE = 16
"""Calls that run at the same time; others wait."""


class RunningCalls:
    """Runs calls and answers them; safe to use from any thread."""

    def __init__(self, opening: BackgroundOpening, writer: Writer, settings: ServerConfig) -> None:
        self._opening = opening
        self._writer = writer
        self._settings = settings
        self._changed = threading.Condition()
        self._running = 0
        self._cancelled: dict[str | int, threading.Event] = {}
        self._room = threading.Semaphore(_MOST_AT_ONCE)
        self._runner: Any = None

    def start(self, said: Message, names: tuple[str, ...], envelope: dict[str, Any]) -> None:
        """Begin a call of a tool, which is answered when it is done.

        Args:
            said: The request.
            names: The tools that may be called.
            envelope: What the answer holds besides its result.

        Raises:
            RpcError: The request is wrong, or its id is that of a call that runs.
        """
        name, arguments = said.params.get("name"), said.params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict) or said.id is None:
            raise RpcError(INVALID_PARAMS, "Invalid params: `name` is a text, `arguments` an object")
        if name not in names:
            self._writer.result(said.id, {**_failed(f"Unknown tool: {name[:80]!r}"), **envelope})
            return
        cancelled = threading.Event()
        with self._changed:
            if said.id in self._cancelled:
                raise RpcError(INVALID_PARAMS, "Invalid params: a call with this id runs")
            self._cancelled[said.id] = cancelled
            self._running += 1
        report = self._report(said, cancelled)
        thread = threading.Thread(
            target=self._run, args=(said.id, name, arguments, report, cancelled, envelope), daemon=True
        )
        thread.start()

    def cancel(self, identity: object) -> None:
        """Cancel a call: it stops where it reports its progress next, and is not answered."""
        with self._changed:
            cancelled = self._cancelled.get(identity) if isinstance(identity, str | int) else None
        if cancelled is not None:
            cancelled.set()

    def wait(self) -> None:
        """Wait until no call runs and all are answered."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running)

    def _run(
        self,
        identity: str | int,
        name: str,
        arguments: dict[str, Any],
        report: Callable[..., None],
        cancelled: threading.Event,
        envelope: dict[str, Any],
    ) -> None:
        try:
            try:
                with self._room:
                    result = self._result(name, arguments, report)
            finally:
                # Before the answer: a client that has read it may use the id again.
                with self._changed:
                    del self._cancelled[identity]
            if not cancelled.is_set():
                self._writer.result(identity, {**result, **envelope})
        except CallCancelledError:
            _log.info("%s: cancelled", name)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _result(self, name: str, arguments: dict[str, Any], report: Callable[..., None]) -> dict[str, Any]:
        try:
            memory = self._opening.memory()
            answer = self._tool_runner().run(memory, name, arguments, report)
        except HydraMemError as error:
            return _failed(str(error))
        except Exception:  # noqa: BLE001 -- a client must not see what it holds, and must not wait for ever
            _log.exception("%s", name)
            return _failed(f"Error calling tool {name!r}; the log of the server has the error")
        whole = {} if answer.structured is None else {"structuredContent": answer.structured}
        return {"content": [{"type": "text", "text": answer.text}], **whole, "isError": False}

    def _tool_runner(self) -> Any:
        with self._changed:
            if self._runner is None:
                from hydramem.server.run_tool import ToolRunner

                self._runner = ToolRunner(self._settings)
            return self._runner

    def _report(self, said: Message, cancelled: threading.Event) -> Callable[..., None]:
        """Return the callback of a call: it sends progress where that is asked for, and stops it if asked."""
        meta = said.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        sent = -1

        def report(*reached: Any) -> None:
            nonlocal sent
            if cancelled.is_set():
                raise CallCancelledError
            done = _progress(reached)
            # Progress must grow from one message to the next.
            if isinstance(token, str | int) and done is not None and done["progress"] > sent:
                sent = done["progress"]
                self._writer.notify("notifications/progress", {"progressToken": token, **done})

        return report


def _progress(reached: tuple[Any, ...]) -> dict[str, Any] | None:
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


def _failed(message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": message}], "isError": True}
