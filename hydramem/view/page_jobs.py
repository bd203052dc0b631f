"""Calls that take long: each in a thread, with its progress told, until it ends or is cancelled."""

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from hydramem.core.errors import CallCancelledError, HydraMemError
from hydramem.core.ids import new_id
from hydramem.core.inputs import Progress
from hydramem.sharing.operation_specs import Spec
from hydramem.view.page_calls import PageCalls, RefusedCallError, error_answer

log = logging.getLogger(__name__)
JobEnd = Literal["done", "failed"]
JobEvent = tuple[Literal["progress", "done", "failed"], Mapping[str, object]]

MOST_RUNNING = 4
"""Jobs that may run at once; they share one writer."""

_MOST_KEPT = 50
_PING_SECONDS = 15.0


class TooManyJobsError(RefusedCallError):
    """Too many jobs run already."""


class PageJob:
    """One call in a thread of its own. Its events are read in the loop that made it.

    Args:
        operation: Name of the operation.
        loop: The loop of the server.
    """

    def __init__(self, operation: str, loop: asyncio.AbstractEventLoop) -> None:
        self.id = new_id("j")
        self.operation = operation
        self.progress: Mapping[str, object] | None = None
        self.end: JobEvent | None = None
        self.is_cancelled = threading.Event()
        self.thread: threading.Thread | None = None
        self._loop = loop
        self._watchers: set[asyncio.Queue[JobEvent]] = set()

    def described(self) -> dict[str, object]:
        """Return the state of the job as the page reads it."""
        state = "running" if self.end is None else self.end[0]
        end = {} if self.end is None else self.end[1]
        return {
            "job": self.id,
            "operation": self.operation,
            "state": state,
            "progress": self.progress,
            **end,
        }

    async def events(self, closing: asyncio.Event) -> AsyncIterator[bytes]:
        """Yield the events from now on, in the form of server-sent events, until the job or the server ends.

        https://html.spec.whatwg.org/multipage/server-sent-events.html
        """
        watcher: asyncio.Queue[JobEvent] = asyncio.Queue()
        self._watchers.add(watcher)
        if self.progress is not None and self.end is None:
            watcher.put_nowait(("progress", self.progress))
        if self.end is not None:
            watcher.put_nowait(self.end)
        closed = asyncio.ensure_future(closing.wait())
        try:
            while True:
                coming = asyncio.ensure_future(watcher.get())
                await asyncio.wait((coming, closed), timeout=_PING_SECONDS, return_when="FIRST_COMPLETED")
                if not coming.done():
                    coming.cancel()
                    if closing.is_set():
                        return
                    yield b": still running\n\n"
                    continue
                kind, said = coming.result()
                yield f"event: {kind}\ndata: {_json(said)}\n\n".encode()
                if kind != "progress":
                    return
        finally:
            closed.cancel()
            self._watchers.discard(watcher)

    def report(self, *values: Any) -> None:
        """Tell the progress to who watches; called in the thread of the job.

        Raises:
            CallCancelledError: Somebody has asked for the end.
        """
        if self.is_cancelled.is_set():
            raise CallCancelledError
        match values:
            case (Progress() as at,):
                said: dict[str, object] = {"done": at.done, "total": at.total, "what": at.what}
            case (int() as done, int() as total):
                said = {"done": done, "total": total, "what": ""}
            case _:
                return
        self._tell(("progress", said))

    def ended(self, kind: JobEnd, said: Mapping[str, object]) -> None:
        """Tell the end; called in the thread of the job."""
        self._tell((kind, said))

    def _tell(self, event: JobEvent) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._told, event)

    def _told(self, event: JobEvent) -> None:
        if event[0] == "progress":
            self.progress = event[1]
        else:
            self.end = event
        for watcher in self._watchers:
            watcher.put_nowait(event)


class PageJobs:
    """The jobs of one server; used in its loop.

    Args:
        calls: Calls the operations.
    """

    def __init__(self, calls: PageCalls) -> None:
        self._calls = calls
        self._jobs: OrderedDict[str, PageJob] = OrderedDict()

    def start(self, spec: Spec, arguments: Mapping[str, object], request: str | None) -> PageJob:
        """Start a call in a thread.

        Raises:
            TooManyJobsError: As many as may run do.
        """
        running = [job for job in self._jobs.values() if job.end is None]
        if len(running) >= MOST_RUNNING:
            raise TooManyJobsError(f"{len(running)} jobs run already; wait for one, or cancel it")
        job = PageJob(spec.name, asyncio.get_running_loop())
        job.thread = threading.Thread(
            target=self._run, args=(job, spec, arguments, request), name=f"hydramem-{job.id}", daemon=True
        )
        self._jobs[job.id] = job
        for old in [id for id, each in self._jobs.items() if each.end is not None][:-_MOST_KEPT]:
            del self._jobs[old]
        job.thread.start()
        return job

    def get(self, id: str) -> PageJob | None:
        """Return a job by its id; None where there is none."""
        return self._jobs.get(id)

    def close(self, seconds: float) -> bool:
        """Ask every job to end at its next report, and wait for that, all together at most some seconds.

        Returns:
            Whether all have ended.
        """
        until = time.monotonic() + seconds
        for job in self._jobs.values():
            job.is_cancelled.set()
        for job in self._jobs.values():
            if job.thread is not None:
                job.thread.join(max(0.0, until - time.monotonic()))
        return not any(job.thread is not None and job.thread.is_alive() for job in self._jobs.values())

    def _run(self, job: PageJob, spec: Spec, arguments: Mapping[str, object], request: str | None) -> None:
        try:
            done = self._calls.run(spec, arguments, request=request, progress=job.report)
        except HydraMemError as error:
            job.ended("failed", error_answer(error)[1])
        except CallCancelledError:
            message = "cancelled; what was written before is stored"
            job.ended("failed", {"error": {"code": "Cancelled", "message": message}})
        except Exception:
            log.exception("%s failed", spec.name)
            job.ended("failed", INTERNAL)
        else:
            job.ended("done", {"result": done.result, "run": done.run})


INTERNAL: Mapping[str, object] = {
    "error": {"code": "InternalError", "message": "the server failed; its log says why"}
}
"""What the page gets for an error that nobody foresaw."""


def _json(said: Mapping[str, object]) -> str:
    from pydantic_core import to_json

    return to_json(said).decode()
