"""The durable queue: work that a write leaves for later is a row of the graph until a thread has done it.

A job is claimed before it runs, so that one that kills the process is not retried for ever, and deleted when
it is done. If the process dies in between, the job runs again: jobs can be repeated.
"""

import atexit
import json
import logging
import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from hydramem.core.errors import HydraMemError, StorageError
from hydramem.core.ids import new_id
from hydramem.core.results.upkeep_results import Drained
from hydramem.core.row_types import Job, JobState, Usage
from hydramem.core.time import clock, now
from hydramem.storage.changes import acting_as, current_actor, current_run, in_one_run
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.storage.writer_lock import Writing

log = logging.getLogger(__name__)
MOST_ATTEMPTS = 5
"""Tries after which a job counts as failed."""
_PAGE = 20_000

# Seconds. Jobs are done together, once no new one came for a moment, or after at most so long.
_QUIET, _LONGEST_QUIET = 0.1, 5.0

# Seconds until jobs of an earlier process begin: a command that only reads has ended by then.
_AFTER_OPENING = 1.0

# A failed job waits one second, then four, then sixteen, and so on.
_BACK_OFF = 4.0

# Jobs that are claimed, and deleted, in one write.
_TOGETHER = 64

# Each call waits for the writer lock, behind every other writer. Where jobs pile up, several quick calls are
# made under one hold of it: one for so many pending jobs, and at most so many, which take some 0.3 s.
_JOBS_PER_CALL_HELD = 8
_MOST_CALLS_HELD = 32

# From so many attempts on, a job runs alone: another of its batch may be the one that fails.
_ALONE_FROM = 2

# Closing waits so long for the running job; after that it finds the store closed, and runs again later.
_CLOSING_SECONDS = 10.0
_LONGEST_ERROR = 500
Progress = Callable[[int, int], None]
"""Called with jobs done and jobs to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """The function that does the jobs of one kind.

    An audited one is called as the actor and in the run of the write that left the jobs: undoing that run
    also undoes what they wrote.

    Attributes:
        run: Does some jobs, and returns the cost of model calls, if any; it may be called again with jobs
            that it has done before.
        most: Jobs for one call.
        audited: Whether jobs of two runs are done in separate calls.
        quick: Whether a call takes some milliseconds, so that several may hold up other writers.
    """

    run: Callable[[Sequence[Job]], Usage | None]
    most: int = 1
    audited: bool = True
    quick: bool = False


def job(kind: str, *, project: str, **payload: object) -> Job:
    """Build a job for a write to carry, in the name of who makes it and within the run of this context.

    Args:
        kind: Which handler does it.
        project: Namespace that it works in.
        payload: What the handler must know, as JSON can hold it.
    """
    at = now()
    values = {"actor": current_actor(), "run": current_run(), **payload}
    text = json.dumps(values, ensure_ascii=True, sort_keys=True)
    return Job(id=new_id("j"), project=project, kind=kind, payload=text, created_at=at, updated_at=at)


def job_payload(job: Job) -> Mapping[str, Any]:
    """Return the values of a job's payload by name."""
    payload: dict[str, Any] = json.loads(job.payload)
    return payload


@contextmanager
def in_the_name_of(job: Job) -> Iterator[None]:
    """Write as the actor and in the run of the write that left a job."""
    payload = job_payload(job)
    with acting_as(payload["actor"]), in_one_run(payload["run"]):
        yield


class Jobs:
    """The queue of one open store, and the thread that works it off, which starts once it is needed.

    Args:
        graph, commit: Where the rows are, and what commits a write.
        writing: Returns the writer lock for some projects.
    """

    def __init__(
        self,
        graph: GraphStore,
        commit: Callable[[Write], None],
        writing: Writing,
    ) -> None:
        self._graph = graph
        self._commit = commit
        self._writing = writing
        self._unseen = 0  # jobs since the last look
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
        """Whether handlers are set."""
        return bool(self._handlers)

    @property
    def closing(self) -> bool:
        """Whether the store is being closed: long work should stop."""
        return self._closing

    def serve(self, handlers: Mapping[str, Handler]) -> None:
        """Set the handlers by kind; begin with the jobs that an earlier process left."""
        with self._changed:
            self._handlers = dict(handlers)
        if self._graph.jobs(Listing(limit=1), states=("waiting", "running")):
            self._wake(_AFTER_OPENING)

    def noticed(self, write: Write) -> None:
        """Schedule the jobs of a committed write."""
        if new := sum(row.state == "waiting" for row in write.jobs):
            self._unseen += new
            self._wake(0.0 if self._unseen >= _TOGETHER else _QUIET)

    def noticed_elsewhere(self) -> None:
        """Look for jobs that another process left, once it had the time to do them itself."""
        self._wake(_AFTER_OPENING)

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
        """Try every waiting job now, and wait for it.

        Args:
            timeout: Seconds to wait at most; None waits until all were tried.
            retry: Try again what has failed for good, too.
            progress: Called with the number of jobs done and of jobs to do.
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
            ticket, self._urgent = self._requests, clock()
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
            [replace(row, state="waiting", attempts=0, updated_at=clock()) for row in self._all("failed")]
        )

    # Working it off -----------------------------------------------------------------------------
    def _work(self) -> None:
        try:
            self._put_back()
            while self._wait_for_work():
                self._pass()
        except StorageError as error:
            # The rows stay: the next write, drain or opening continues with them.
            if not self._closing:
                log.warning("jobs wait until a later write or opening: %s", error)
            self._answer(self._requests)

    def _wait_for_work(self) -> bool:
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
        """Do everything that is due; if nothing is, answer the requests that wait for it."""
        seen, self._unseen = self._requests, 0
        due = self._due()
        claimed = False
        for place, calls in enumerate(due):
            if self._closing:
                return
            left = sum(len(call) for later in due[place:] for call in later)
            held = max(1, min(_MOST_CALLS_HELD, left // _JOBS_PER_CALL_HELD))
            claimed = self._claim_and_do(calls, held=held) or claimed
        if due and not claimed:
            self._wake(_AFTER_OPENING)  # other processes do them; those of one that dies are looked for again
        if not claimed:
            self._answer(seen)

    def _answer(self, seen: int) -> None:
        with self._changed:
            self._answered = max(self._answered, seen)
            self._changed.notify_all()

    def _claim_and_do(self, calls: Sequence[Sequence[Job]], *, held: int) -> bool:
        """Do the jobs of some calls that no other process does; return whether there were any."""
        rows = self._graph.claim_jobs([row for call in calls for row in call])
        try:
            own = {row.id for row in rows}
            left = [[row for row in call if row.id in own] for call in calls]
            if rows:
                self._do([call for call in left if call], held=held)
            return bool(rows)
        finally:
            self._graph.release_jobs(rows)

    def _do(self, calls: Sequence[Sequence[Job]], *, held: int) -> None:
        """Note that the jobs of some calls of one kind run, make the calls, and record their outcome.

        Args:
            held: Quick calls that are made while other writers wait.
        """
        claimed = [
            [replace(row, state="running", attempts=row.attempts + 1, updated_at=clock()) for row in rows]
            for rows in calls
        ]
        self._put([row for rows in claimed for row in rows])
        done: list[str] = []
        kept: list[Job] = []
        alone = held == 1 or not self._handlers[calls[0][0].kind].quick
        for some in batches(list(zip(calls, claimed, strict=True)), 1 if alone else held):
            projects = _projects(row for before, _ in some for row in before)
            with nullcontext() if alone else self._writing(projects):
                for before, rows in some:
                    self._try(before, rows, done, kept)
        with self._writing(_projects(row for rows in claimed for row in rows)):
            self._commit(Write(changes=(), jobs=tuple(kept), removed=Removal(jobs=tuple(done))))
        self._done += len(done)
        with self._changed:
            self._changed.notify_all()

    def _try(self, before: Sequence[Job], rows: Sequence[Job], done: list[str], kept: list[Job]) -> None:
        """Make one call; note the jobs that are done, and the rows of those that stay."""
        if self._closing:
            kept.extend(before)  # not tried
            return
        try:
            self._call(rows)
        except HydraMemError as error:
            # An attempt that closing interrupted does not count.
            kept.extend(before if self._closing else (self._failed_row(row, error) for row in rows))
        else:
            done.extend(row.id for row in rows)

    def _call(self, rows: Sequence[Job]) -> None:
        handler = self._handlers[rows[0].kind]
        with in_the_name_of(rows[0]) if handler.audited else nullcontext():
            self._usage += handler.run(rows) or Usage()

    def _due(self) -> list[list[Sequence[Job]]]:
        """Return the due jobs as calls, grouped by claim; schedule the jobs that are due later."""
        due: dict[tuple[str, ...], list[Job]] = defaultdict(list)
        later: list[float] = []
        for row in self._all("waiting"):
            if row.kind not in self._handlers:
                continue
            if (seconds := self._wait_of(row)) <= 0:
                due[self._call_key(row)].append(row)
            else:
                later.append(seconds)
        if later:
            self._wake(min(later))
        by_kind: dict[str, list[Sequence[Job]]] = defaultdict(list)
        for (kind, *_), rows in due.items():
            by_kind[kind].extend(batches(rows, self._handlers[kind].most))
        return [together for calls in by_kind.values() for together in _claims(calls)]

    def _call_key(self, row: Job) -> tuple[str, ...]:
        """Return what jobs of one call have in common, their kind first."""
        apart = row.id if row.attempts >= _ALONE_FROM else ""
        if not self._handlers[row.kind].audited:
            return row.kind, row.project, apart
        payload = job_payload(row)
        return row.kind, row.project, apart, payload["actor"], payload["run"] or row.id

    def _wait_of(self, row: Job) -> float:
        """Return the seconds until a job is due: 0 for one that is new, or not tried since a drain began."""
        if row.attempts == 0 or (self._urgent is not None and row.updated_at < self._urgent):
            return 0.0
        since: timedelta = clock() - row.updated_at
        if since < timedelta(0):  # the clock was set back: how long it has waited is not known
            return 0.0
        return float(_BACK_OFF ** (row.attempts - 1) - since.total_seconds())

    def _failed_row(self, row: Job, error: HydraMemError) -> Job:
        """Return a job that failed as it is kept."""
        given_up = row.attempts >= MOST_ATTEMPTS
        self._failed += given_up
        message = f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
        log.warning("job %s (%s) failed, attempt %d: %s", row.id, row.kind, row.attempts, message)
        return replace(row, state="failed" if given_up else "waiting", error=message, updated_at=clock())

    def _put_back(self) -> None:
        """Put back the jobs that an ended thread or process had begun."""
        begun = self._graph.claim_jobs(self._all("running"))
        again = [
            replace(row, state="failed", error=row.error or "did not come to its end")
            if row.attempts >= MOST_ATTEMPTS
            else replace(row, state="waiting")
            for row in begun
        ]
        self._failed += sum(row.state == "failed" for row in again)
        try:
            self._put(again)
        finally:
            self._graph.release_jobs(begun)

    def _put(self, rows: Sequence[Job]) -> None:
        if rows:
            self._commit(Write(changes=(), jobs=tuple(rows)))

    def stop(self) -> None:
        """Begin no job any more, without waiting for the running one."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def close(self) -> None:
        """Wait for the running job and stop; the other jobs are done when the store is open again."""
        if os.getpid() != self._pid:
            return
        self.stop()
        thread = self._thread
        atexit.unregister(self.close)
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSING_SECONDS)


def _projects(rows: Iterable[Job]) -> list[str]:
    return sorted({row.project for row in rows})


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
