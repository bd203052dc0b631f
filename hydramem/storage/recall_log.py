"""What was recalled, which shows what is useful: collected for seconds and written in batches.

A recall is a read, and stays as fast as one: its hits are noted here, and a separate thread writes them. What
is left is written when the store is closed or the interpreter exits; a process that is killed may lose the
hits of the last seconds. A recall outside any session belongs to the day's session of its surface, such as
`cli 2026-11-22`: reuse counts sessions, and a script that asks a hundred times on one day is one use.
"""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.errors import HydraMemError
from hydramem.core.ids import session_id
from hydramem.core.project_bounds import unbounded
from hydramem.core.row_types import Recalled, Session
from hydramem.core.time import clock
from hydramem.storage.changes import current_actor
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from hydramem.storage.writer_lock import Writing

log = logging.getLogger(__name__)
QUERIES = "queries"
"""Key of a session's metadata that holds its last queries, each with its time."""
_BATCH_ROWS = 100
_WAIT_SECONDS = 5.0
_MOST_QUERIES = 20
_MOST_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecallingSession:
    """The session that this context recalls for; queries of a private one are not kept.

    Attributes:
        name: Its name; None where nothing is noted.
    """

    recalls: "Recalls"
    name: str | None
    private: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noted:
    """The hits of one recall in one project, best first."""

    project: str
    session: str
    query: str | None
    chunks: tuple[str, ...]
    at: datetime


_current: ContextVar[_RecallingSession | None] = ContextVar("recalling", default=None)


class Recalls:
    """The recalls that are not written yet. Safe to use from many threads.

    Args:
        graph: Where chunks and sessions are looked up.
        commit: What writes a batch.
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
        self._one_flush = threading.Lock()
        self._changed = threading.Condition()
        self._waiting: list[_Noted] = []
        self._rows = 0
        self._writer: threading.Thread | None = None
        self._pid = os.getpid()
        self._closed = False

    @contextmanager
    def during(self, session: str | None, *, private: bool = False) -> Iterator[None]:
        """Note the recalls of this context for a session; None notes nothing."""
        token = _current.set(_RecallingSession(recalls=self, name=session or None, private=private))
        try:
            yield
        finally:
            _current.reset(token)

    @property
    def session(self) -> str | None:
        """Name of the session that this context recalls for, None where it has none."""
        recalling = _current.get()
        return recalling.name if recalling is not None and recalling.recalls is self else None

    def note(self, query: str, found: Sequence[tuple[str, str]]) -> None:
        """Note the hits of a recall for the session of this context, else for the day. Takes microseconds.

        Args:
            query: Kept with a session that somebody named, unless that is private.
            found: Project and chunk of each hit, best first.
        """
        recalling = _current.get()
        named = recalling is not None and recalling.recalls is self
        session = recalling.name if recalling is not None and named else _day_session()
        if session is None or not found:
            return
        kept = _storable(query) if recalling is not None and named and not recalling.private else None
        by_project: dict[str, list[str]] = {}
        for project, chunk in found:
            by_project.setdefault(project, []).append(chunk)
        at = clock()
        with self._changed:
            if self._closed:
                return
            for project, chunks in by_project.items():
                noted = _Noted(project=project, session=session, query=kept, chunks=tuple(chunks), at=at)
                self._waiting.append(noted)
            self._rows += len(found)
            if self._writer is None:
                self._writer = threading.Thread(target=self._run, name="hydramem-recalls", daemon=True)
                self._writer.start()
                atexit.register(self.close)  # a program that never closes its handle still counts
            self._changed.notify_all()

    def flush(self) -> None:
        """Write what is noted. What cannot be written is lost, and logged."""
        with self._one_flush, unbounded():
            noted = self._take()
            if not noted:
                return
            try:
                with self._writing(sorted({each.project for each in noted})):
                    if (write := self._write(noted)).recalled:
                        self._commit(write)
            except HydraMemError as error:
                # Not retried: it may have been written, and no recall may count twice.
                log.warning("what %d recalls brought is not recorded: %s", len(noted), error)

    def _take(self) -> list[_Noted]:
        with self._changed:
            noted, self._waiting, self._rows = self._waiting, [], 0
        return noted

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

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                self._changed.wait_for(lambda: self._closed or self._rows >= _BATCH_ROWS, _WAIT_SECONDS)
                if self._closed:
                    return
            self.flush()

    def _write(self, noted: Sequence[_Noted]) -> Write:
        """Build the write; chunks that are deleted by now are left out."""
        wanted = dict.fromkeys(chunk for each in noted for chunk in each.chunks)
        there = {row.id for row in self._graph.chunks(list(wanted))}
        recalled = tuple(
            Recalled(session=session_id(each.project, each.session), chunk=chunk, rank=rank, at=each.at)
            for each in noted
            for rank, chunk in enumerate(each.chunks, 1)
            if chunk in there
        )
        used = {row.session for row in recalled}
        return Write(changes=(), sessions=self._sessions(noted, used), recalled=recalled)

    def _sessions(self, noted: Sequence[_Noted], used: set[str]) -> tuple[Session, ...]:
        rows = {row.id: row for row in self._graph.sessions(sorted(used))}
        for each in noted:
            id = session_id(each.project, each.session)
            if id not in used:
                continue
            row = rows.get(id) or Session(
                id=id, project=each.project, name=each.session, started_at=each.at, last_at=each.at
            )
            rows[id] = (
                row if each.query is None else replace(row, metadata=_with_query(row, each.query, each.at))
            )
        return tuple(rows.values())


def _with_query(session: Session, query: str, at: datetime) -> Mapping[str, object]:
    """Return a session's metadata with one more query; the oldest are dropped."""
    earlier = session.metadata.get(QUERIES)
    queries = [*(earlier if isinstance(earlier, list | tuple) else ()), {"text": query, "at": at.isoformat()}]
    return {**session.metadata, QUERIES: queries[-_MOST_QUERIES:]}


def query_at(session: Session, at: datetime) -> str | None:
    """Return the query that a session asked at this moment; None where it does not keep it."""
    kept = session.metadata.get(QUERIES)
    asked = kept if isinstance(kept, list | tuple) else ()
    moment = at.isoformat()
    return next(
        (each["text"] for each in asked if isinstance(each, Mapping) and each.get("at") == moment), None
    )


def _day_session() -> str:
    """Return the name of the session of recalls that belong to no other: the surface and the day (UTC)."""
    return f"{current_actor()} {clock():%Y-%m-%d}"


def _storable(query: str) -> str:
    return query[:_MOST_CHARS].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
