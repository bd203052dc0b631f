"""The requests that run: each in a thread, with progress, cancelled when the client asks."""

import logging
import threading
from collections.abc import Callable
from typing import Any

from hydramem.core.errors import CallCancelledError
from hydramem.server.call_report import CallReport
from hydramem.server.stdio.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, Message, RpcError, Writer

_log = logging.getLogger(__name__)
_MOST_AT_ONCE = 16
"""Requests that run at the same time; others wait."""

Work = Callable[[CallReport], dict[str, Any]]
"""Returns the result of a request; an RpcError becomes its error."""


class RunningCalls:
    """Runs requests and answers them; safe to use from any thread."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._changed = threading.Condition()
        self._running = 0
        self._reports: dict[str | int, CallReport] = {}
        self._room = threading.Semaphore(_MOST_AT_ONCE)

    def start(self, said: Message, work: Work, envelope: dict[str, Any]) -> None:
        """Begin a request, which is answered when it is done.

        Args:
            said: The request.
            work: Does it.
            envelope: What the answer holds besides its result.

        Raises:
            RpcError: Its id is that of a request that runs.
        """
        identity = said.id
        if identity is None:
            return  # a notification gets no answer, so nothing is done for it
        report = CallReport(self._sender(said))
        with self._changed:
            if identity in self._reports:
                raise RpcError(INVALID_PARAMS, "Invalid params: a call with this id runs")
            self._reports[identity] = report
            self._running += 1
        thread = threading.Thread(target=self._run, args=(identity, work, report, envelope), daemon=True)
        thread.start()

    def cancel(self, identity: object) -> None:
        """Cancel a request: it stops where it reports its progress next, and is not answered."""
        with self._changed:
            report = self._reports.get(identity) if isinstance(identity, str | int) else None
        if report is not None:
            report.cancel()

    def wait(self) -> None:
        """Wait until no request runs and all are answered."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running)

    def _run(self, identity: str | int, work: Work, report: CallReport, envelope: dict[str, Any]) -> None:
        try:
            try:
                with self._room:
                    result: dict[str, Any] | RpcError = _done(work, report)
            finally:
                # Before the answer: a client that has read it may use the id again.
                with self._changed:
                    del self._reports[identity]
            if report.is_cancelled:
                return
            if isinstance(result, RpcError):
                self._writer.error(identity, result)
            else:
                self._writer.result(identity, {**result, **envelope})
        except CallCancelledError:
            _log.info("%s: cancelled", identity)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _sender(self, said: Message) -> Callable[[Any], None] | None:
        """Return what sends the progress of a request; None where it does not ask for it."""
        meta = said.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        if not isinstance(token, str | int):
            return None
        return lambda done: self._writer.notify("notifications/progress", {"progressToken": token, **done})


def _done(work: Work, report: CallReport) -> dict[str, Any] | RpcError:
    """Return the result of a request, or the error that answers it."""
    try:
        return work(report)
    except RpcError as error:
        return error
    except Exception:  # noqa: BLE001 -- a client must not see what it holds, and must not wait for ever
        _log.exception("a request of the client")
        return RpcError(INTERNAL_ERROR, "Internal error; the log of the server has it")
