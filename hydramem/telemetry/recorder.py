"""Telemetry of an open store: calls are noted in memory, and a thread writes them in batches.

It never slows or fails an operation. Where its file cannot be written it switches itself off, with one line
in the log; of calls that come faster than they are written the newest are dropped and counted. A process that
is killed loses the calls of the last seconds.
"""

import atexit
import logging
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from hydramem.core.config import TelemetryConfig
from hydramem.core.errors import StorageError
from hydramem.core.results.telemetry_results import TelemetryReport, TelemetryWiped
from hydramem.core.time import clock
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.telemetry.observed_results import Observed, surface_of
from hydramem.telemetry.report import report
from hydramem.telemetry.source_tokens import SourceSizes, TokenCounts, token_counts
from hydramem.telemetry.telemetry_file import CallRow, TelemetryFile

T = TypeVar("T")
log = logging.getLogger(__name__)
FILE = "telemetry.db"
"""Name of the file in the store's folder."""
_PAGE = "view"
"""The surface that people read, and no agent."""
_WAIT_SECONDS = 5.0
_BATCH_CALLS = 256
_MOST_WAITING = 10_000
_CALLS_BETWEEN_UPKEEP = 1_000
DAYS_OF_TOTALS = 400
"""Days that totals are kept, where there is room."""
_BYTES_OF_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class NotedCall:
    """A call as its thread notes it."""

    at: datetime
    operation: str
    actor: str
    outcome: str
    ms: float
    seen: Observed


class Telemetry:
    """The telemetry of one store. Safe to use from many threads.

    Args:
        file: Its file; None keeps it in memory.
        settings: Whether it is on, and its bounds.
        peek: Returns the graph of a project where it is in memory, to find the size of sources.
        read_only: Whether the store's folder cannot be written, and so nothing is recorded.
    """

    def __init__(
        self,
        file: Path | None,
        settings: TelemetryConfig,
        peek: Callable[[str], Snapshot | None],
        *,
        read_only: bool = False,
    ) -> None:
        self._file = TelemetryFile(file)
        self._settings = settings
        self._peek = peek
        self._configured = _why_off(settings, read_only=read_only)
        self._off = self._configured
        self._changed = threading.Condition()
        self._one_writer = threading.Lock()
        self._waiting: list[NotedCall] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._writer: threading.Thread | None = None
        self._calls_to_upkeep = 0
        self._closed = False
        self._pid = os.getpid()

    @property
    def is_on(self) -> bool:
        """Whether calls are recorded."""
        return self._off is None and not self._closed

    @property
    def state(self) -> str:
        """`on`, or `off: ` and why."""
        return "on" if self._off is None else f"off: {self._off}"

    def note(self, operation: str, actor: str, outcome: str, ms: float, seen: Observed) -> None:
        """Note a call that has ended. Takes microseconds."""
        call = NotedCall(clock(), operation, actor, outcome, ms, seen)
        with self._changed:
            if not self.is_on:
                return
            if len(self._waiting) >= _MOST_WAITING:
                self._counts[_today(), "dropped"] += 1
                return
            self._waiting.append(call)
            if len(self._waiting) in (1, _BATCH_CALLS):
                self._start()
                self._changed.notify_all()

    def count(self, counts: Counter[str]) -> None:
        """Add to the measures of the day, by name; they are written with the next call."""
        if self.is_on:
            day = _today()
            with self._changed:
                self._counts.update({(day, name): count for name, count in counts.items()})

    def flush(self) -> None:
        """Write what is noted. What cannot be written is lost; a failure switches telemetry off."""
        with self._one_writer:
            with self._changed:
                calls, self._waiting = self._waiting, []
                counts, self._counts = self._counts, Counter()
            if (calls or counts) and self._off is None:
                self._or_off(lambda: self._write(calls, counts))

    def report(self, days: int) -> TelemetryReport:
        """Return what was recorded today and in the days before.

        Args:
            days: How many days, today included.
        """
        self.flush()
        until = clock().date()
        since = (until - timedelta(days=days - 1)).isoformat()
        with self._one_writer:
            read = self._or_off(
                lambda: (self._file.totals(since), self._file.measures(since), self._file.bytes())
            )
        totals, measures, size = read or ({}, {}, 0)
        return report(totals, measures, since=since, until=until.isoformat(), state=self.state, size=size)

    def wipe(self) -> TelemetryWiped:
        """Delete everything that was recorded, and what is noted.

        Raises:
            StorageError: The file cannot be deleted.
        """
        with self._one_writer:
            with self._changed:
                waiting, self._waiting = len(self._waiting), []
                self._counts.clear()
            calls = self._or_off(self._file.calls) or 0
            try:
                size = self._file.bytes()
                self._file.delete()
            except OSError as error:
                raise StorageError(f"{self._file.file}: cannot be deleted: {error.strerror}") from error
            self._off = self._configured  # a file that failed is gone
            return TelemetryWiped(calls=calls + waiting, bytes=size)

    def close(self) -> None:
        """Write what is noted and note no more; harmless when repeated, and in a forked child."""
        if os.getpid() != self._pid:
            return  # the parent process has the same notes, and writes them
        atexit.unregister(self.close)
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._writer is not None and self._writer is not threading.current_thread():
            self._writer.join()
        self.flush()
        with self._one_writer:
            self._or_off(self._file.close)

    def _start(self) -> None:
        if self._writer is None:
            self._writer = threading.Thread(target=self._run, name="hydramem-telemetry", daemon=True)
            self._writer.start()
            atexit.register(self.close)  # a program that never closes its handle still counts

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                self._changed.wait_for(
                    lambda: self._closed or len(self._waiting) >= _BATCH_CALLS, _WAIT_SECONDS
                )
                if self._closed:
                    return
            self.flush()

    def _write(self, calls: Sequence[NotedCall], counts: Counter[tuple[str, str]]) -> None:
        sizes: dict[str, SourceSizes | None] = {}

        def sizes_of(project: str) -> SourceSizes | None:
            if project not in sizes:
                snapshot = self._peek(project)
                sizes[project] = None if snapshot is None else SourceSizes(snapshot)
            return sizes[project]

        measures = {key: (count, float(count)) for key, count in counts.items()}
        for call in calls:
            for key, (count, total) in _measures(call).items():
                stored = measures.get(key, (0, 0.0))
                measures[key] = stored[0] + count, stored[1] + total
        rows = [_row(call, token_counts(call.seen.given, sizes_of)) for call in calls]
        self._file.add(rows, measures)
        self._calls_to_upkeep -= len(rows)
        if self._calls_to_upkeep <= 0:
            self._calls_to_upkeep = _CALLS_BETWEEN_UPKEEP
            self._maintain()

    def _maintain(self) -> None:
        today = clock().date()
        self._file.fold((today - timedelta(days=self._settings.days - 1)).isoformat())
        self._file.drop((today - timedelta(days=DAYS_OF_TOTALS)).isoformat())
        self._file.shrink(self._settings.max_mb * _BYTES_OF_MEGABYTE)

    def _or_off(self, work: Callable[[], T]) -> T | None:
        """Run a function on the file; where it fails, telemetry is off until the store is opened again."""
        try:
            return work()
        except (sqlite3.Error, OSError) as error:
            if self._off is None:
                log.warning(
                    "%s: %s; telemetry is off until the store is opened again", self._file.file, error
                )
                self._off = str(error)
            return None


def _why_off(settings: TelemetryConfig, *, read_only: bool) -> str | None:
    if not settings.enabled:
        return "telemetry.enabled is false"
    return "the store's folder cannot be written" if read_only else None


def _today() -> str:
    return _day(clock())


def _day(at: datetime) -> str:
    return at.astimezone(UTC).date().isoformat()


def _measures(call: NotedCall) -> dict[tuple[str, str], tuple[int, float]]:
    day = _day(call.at)
    found = {(day, name): (1, float(value)) for name, value in call.seen.measures.items()}
    if call.seen.auc is not None:
        found[day, "auc"] = 1, call.seen.auc
    return found


def _row(call: NotedCall, tokens: TokenCounts) -> CallRow:
    seen, surface = call.seen, surface_of(call.actor)
    counted = tokens.given if seen.tokens is None else seen.tokens
    to_agent = seen.hits is not None and surface != _PAGE
    return CallRow(
        at=int(call.at.timestamp() * 1000),
        operation=call.operation,
        surface=surface,
        outcome=call.outcome,
        ms=round(call.ms, 3),
        hits=seen.hits,
        relevance=seen.relevance,
        answered=None if seen.answered is None else int(seen.answered),
        tokens=counted if to_agent else None,
        baseline=tokens.sources if to_agent else None,
    )
