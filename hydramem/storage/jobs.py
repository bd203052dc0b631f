"""The durable queue: what a write leaves to be done later is a row of the graph until one thread has done it.

A job is claimed before it is begun, so that one that takes the process with it is not tried for ever, and is
gone when it is done. A process that dies in between does it again: jobs can be repeated.
"""

import atexit
import json
import logging
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hydramem.core.errors import HydraMemError, StorageError
from hydramem.core.ids import new_id
from hydramem.core.results.upkeep_results import Drained
from hydramem.core.row_types import Job, JobState, Usage
from hydramem.core.time import now
from hydramem.storage.changes import acting_as, current_actor, current_run, in_one_run
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
"""Tries after which a job counts as failed."""

_PAGE = 20_000

# Jobs that come one after the other are done together, once none came for a moment, or after this long.
_QUIET, _LONGEST_QUIET = 0.1, 5.0

# What an earlier process left waits so long: a command that only looks something up is over by then.
_AFTER_OPENING = 1.0

# What failed waits one second, then four, then sixteen, and so on.
_BACK_OFF = 4.0

# Jobs that are claimed at once, and noted as done at once.
_TOGETHER = 64

# From so many attempts on a job is tried by itself: another of its batch may be what fails.
_ALONE_FROM = 2

# Closing waits so long for the job at hand; later it meets a closed store, and is done again.
_CLOSING_SECONDS = 10.0

_LONGEST_ERROR = 500

Progress = Callable[[int, int], None]
"""Called with jobs done and jobs to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """What does the jobs of one kind.

    Where it is audited it is called in the name of who left the jobs, and in the run of their write: undoing
    that undoes what followed.

    Attributes:
        run: Does some jobs, and returns what language models cost where it asked any; it may be called again
            with jobs that it has done before.
        most: Jobs that it is given at once.
        audited: Whether jobs of two runs are done apart; else it sees to that, or writes nothing audited.
    """

    run: Callable[[Sequence[Job]], Usage | None]
    most: int = 1
    audited: bool = True


def job(kind: str, *, project: str, **payload: object) -> Job:
    """Build a job for a write to carry, in the name of who makes it and within the run of this context.

    Args:
        kind: Which handler does it.
        project: Namespace that it works in.
        payload: What the handler must know, as JSON can hold it.
    """
    at = now()
    told = {"actor": current_actor(), "run": current_run(), **payload}
    text = json.dumps(told, ensure_ascii=True, sort_keys=True)
    return Job(id=new_id("j"), project=project, kind=kind, payload=text, created_at=at, updated_at=at)


def job_payload(job: Job) -> Mapping[str, Any]:
    """Return what a job says, by name."""
    payload: dict[str, Any] = json.loads(job.payload)
    return payload


@contextmanager
def in_the_name_of(job: Job) -> Iterator[None]:
    """Write as who left a job, and in the run of the write that left it."""
    said = job_payload(job)
    with acting_as(said["actor"]), in_one_run(said["run"]):
        yield


class Jobs:
    """The queue of one open store, and the thread that works it off; both are there once they are needed.

    Args:
        graph: Where the rows are.
        commit: Commits a write.
    """

    def __init__(self, graph: GraphStore, commit: Callable[[Write], None]) -> None:
        self._graph = graph
        self._commit = commit
        self._handlers: Mapping[str, Handler] = {}
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        # When to look, on the clock of `time.monotonic`, and not later than; None where there is nothing.
        self._look_at: float | None = None
        self._look_by = 0.0
        # Each drain is a request; it is answered by a pass that began after it and found nothing to do.
        self._requests = self._answered = 0
        self._urgent: datetime | None = None
        self._done = self._failed = 0
        self._usage = Usage()

    @property
    def served(self) -> bool:
        """Whether somebody has said how jobs are done."""
        return bool(self._handlers)

    @property
    def closing(self) -> bool:
        """Whether the store is being closed: what takes long should come to its end."""
        return self._closing

    def serve(self, handlers: Mapping[str, Handler]) -> None:
        """Say how jobs are done, by kind; begin with those that an earlier process left."""
        with self._changed:
            self._handlers = dict(handlers)
        if self._graph.jobs(Listing(limit=1), states=("waiting", "running")):
            self._wake(_AFTER_OPENING)

    def noticed(self, write: Write) -> None:
        """Have the jobs done that a committed write brought."""
        if any(row.state == "waiting" for row in write.jobs):
            self._wake(_QUIET)

    def _wake(self, pause: float) -> None:
        if os.getpid() != self._pid:
            return  # the parent's thread does the parent's jobs
        with self._changed:
            at = time.monotonic()
            latest = at + max(pause, _LONGEST_QUIET)
            self._look_by = latest if self._look_at is None else min(self._look_by, latest)
            self._look_at = min(at + pause, self._look_by)
            self._start()
            self._changed.notify_all()

    def _start(self) -> None:
        if self._closing or not self._handlers:
            return
        if self._thread is not None and self._thread.is_alive():
            return
        if self._thread is None:
            atexit.register(self.close)
        self._thread = threading.Thread(target=self._work, name="hydramem-jobs", daemon=True)
        self._thread.start()

    def counts(self) -> dict[JobState, int]:
        """Count jobs by state."""
        return dict(Counter(row.state for row in self._all()))

    def _all(self, *states: JobState) -> list[Job]:
        """Return jobs of some states, or of all, the oldest first."""
        found: list[Job] = []
        while page := self._graph.jobs(Listing(limit=_PAGE, offset=len(found)), states=states):
            found.extend(page)
            if len(page) < _PAGE:
                break
        return found

    # Waiting for it -----------------------------------------------------------------------------

    def drain(
        self, timeout: float | None = None, *, retry: bool = False, progress: Progress | None = None
    ) -> Drained:
        """Have every waiting job tried now, and wait for it.

        Args:
            timeout: Seconds to wait at most; None waits until all were tried.
            retry: Try again what has failed for good, too.
            progress: Told of jobs done and jobs to do.
        """
        if retry:
            self._retry()
        done, failed, usage = self._done, self._failed, self._usage
        total = len(self._all("waiting", "running"))
        if not total:
            return Drained()
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            self._requests += 1
            ticket, self._urgent = self._requests, now()
        self._wake(0.0)
        while self._wait_for(ticket, deadline):
            if progress is not None:
                progress(min(total, self._done - done), total)
        left = len(self._all("waiting", "running"))
        return Drained(
            done=self._done - done, failed=self._failed - failed, left=left, usage=self._usage.since(usage)
        )

    def _wait_for(self, ticket: int, deadline: float | None) -> bool:
        """Wait a moment; False where the request is answered, or its time is over."""
        with self._changed:
            if self._answered >= ticket or self._closing:
                return False
            left = 0.2 if deadline is None else min(0.2, deadline - time.monotonic())
            if left <= 0:
                return False
            self._start()  # a handler that was at fault has ended the thread
            self._changed.wait(left)
        return True

    def _retry(self) -> None:
        self._put(
            [replace(row, state="waiting", attempts=0, updated_at=now()) for row in self._all("failed")]
        )

    # Working it off -----------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            self._take_back()
            while self._settle():
                self._pass()
        except StorageError as error:
            # The rows stay: the next write, drain or opening goes on with them.
            if not self._closing:
                log.warning("jobs wait until a later write or opening: %s", error)
            self._answer(self._requests)

    def _settle(self) -> bool:
        """Wait until there is something to look at; False where the store is being closed."""
        with self._changed:
            while not self._closing:
                pause = self._pause()
                if pause is not None and pause <= 0:
                    self._look_at = None
                    return True
                self._changed.wait(pause)
            return False

    def _pause(self) -> float | None:
        """Return the seconds to wait before looking; None until somebody says that there is something."""
        if self._answered < self._requests:
            return 0.0
        return None if self._look_at is None else self._look_at - time.monotonic()

    def _pass(self) -> None:
        """Do everything that is due; where nothing is, whoever waits for that is told."""
        seen, due = self._requests, self._due()
        for calls in due:
            if self._closing:
                return
            self._do(calls)
        if not due:
            self._answer(seen)

    def _answer(self, seen: int) -> None:
        with self._changed:
            self._answered = max(self._answered, seen)
            self._changed.notify_all()

    def _do(self, calls: Sequence[Sequence[Job]]) -> None:
        """Claim the jobs of some calls, make the calls, and note what became of the jobs."""
        claimed = [
            [replace(row, state="running", attempts=row.attempts + 1, updated_at=now()) for row in rows]
            for rows in calls
        ]
        self._put([row for rows in claimed for row in rows])
        done: list[str] = []
        kept: list[Job] = []
        for before, rows in zip(calls, claimed, strict=True):
            if self._closing:
                kept.extend(before)  # not tried
                continue
            try:
                self._call(rows)
            except HydraMemError as error:
                # What closing cut short is not held against it.
                kept.extend(before if self._closing else (self._after(row, error) for row in rows))
            else:
                done.extend(row.id for row in rows)
        self._commit(Write(changes=(), jobs=tuple(kept), removed=Removal(jobs=tuple(done))))
        self._done += len(done)
        with self._changed:
            self._changed.notify_all()

    def _call(self, rows: Sequence[Job]) -> None:
        handler = self._handlers[rows[0].kind]
        with in_the_name_of(rows[0]) if handler.audited else nullcontext():
            self._usage += handler.run(rows) or Usage()

    def _due(self) -> list[list[Sequence[Job]]]:
        """Return what is due as calls, those that are claimed together; see to what is due later."""
        due: dict[tuple[str, ...], list[Job]] = defaultdict(list)
        later: list[float] = []
        for row in self._all("waiting"):
            if row.kind not in self._handlers:
                continue
            if (seconds := self._wait_of(row)) <= 0:
                due[self._likeness(row)].append(row)
            else:
                later.append(seconds)
        if later:
            self._wake(min(later))
        by_kind: dict[str, list[Sequence[Job]]] = defaultdict(list)
        for (kind, *_), rows in due.items():
            by_kind[kind].extend(batches(rows, self._handlers[kind].most))
        return [together for calls in by_kind.values() for together in _claims(calls)]

    def _likeness(self, row: Job) -> tuple[str, ...]:
        """Return what jobs must have in common to be done in one call, their kind first."""
        apart = row.id if row.attempts >= _ALONE_FROM else ""
        if not self._handlers[row.kind].audited:
            return row.kind, row.project, apart
        said = job_payload(row)
        return row.kind, row.project, apart, said["actor"], said["run"] or row.id

    def _wait_of(self, row: Job) -> float:
        """Return the seconds until a job is due: 0 for one that is new, or not tried since a drain began."""
        if row.attempts == 0 or (self._urgent is not None and row.updated_at < self._urgent):
            return 0.0
        since: timedelta = now() - row.updated_at
        return float(_BACK_OFF ** (row.attempts - 1) - since.total_seconds())

    def _after(self, row: Job, error: HydraMemError) -> Job:
        """Return a job that failed as it is kept."""
        given_up = row.attempts >= MOST_ATTEMPTS
        self._failed += given_up
        said = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
        log.warning("job %s (%s) failed, attempt %d: %s", row.id, row.kind, row.attempts, said)
        return replace(row, state="failed" if given_up else "waiting", error=said, updated_at=now())

    def _take_back(self) -> None:
        """Take back what was begun by a thread or process that came to its end meanwhile."""
        begun = self._all("running")
        again = [
            replace(row, state="failed", error=row.error or "did not come to its end")
            if row.attempts >= MOST_ATTEMPTS
            else replace(row, state="waiting")
            for row in begun
        ]
        self._failed += sum(row.state == "failed" for row in again)
        self._put(again)

    def _put(self, rows: Sequence[Job]) -> None:
        if rows:
            self._commit(Write(changes=(), jobs=tuple(rows)))

    def close(self) -> None:
        """Wait for the job at hand and stop; what is left is done when the store is open again."""
        if os.getpid() != self._pid:
            return
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        atexit.unregister(self.close)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSING_SECONDS)


def _claims(calls: Sequence[Sequence[Job]]) -> Iterator[list[Sequence[Job]]]:
    """Cut calls into lists of not many more jobs than are claimed together."""
    together: list[Sequence[Job]] = []
    for call in calls:
        together.append(call)
        if sum(map(len, together)) >= _TOGETHER:
            yield together
            together = []
    if together:
        yield together
