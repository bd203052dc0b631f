"""The current graph of every project in memory, kept current by the writes that commit.

Walks read a `Snapshot`, which never changes; `Snapshots` loads one per project at first use and hands
out a newer one as writes come in.
"""

import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write

_FEW = 200
"""Keys that are looked up in the store in a fraction of the time that loading the graph takes."""


class Snapshots:
    """The current snapshot of each project: loaded at first use, kept current by `apply`.

    A write that commits while its project is being loaded waits in a queue and is applied after; rows
    are applied whole, so one that the load has already seen does no harm.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._projects: dict[str, _Live] = {}
        # What is being loaded beside the one that is shown, and takes its place.
        self._coming: dict[str, _Live] = {}
        # Projects that a thread keeps on showing, with what it removed from them or not.
        self._kept: dict[str, _Kept] = {}

    def of(self, project: str) -> Snapshot:
        """Return a project's snapshot with every write applied so far; an unknown project's is empty."""
        with self._lock:
            live = self._projects.setdefault(project, _Live(project, self._graph))
        snapshot = live.current()
        if snapshot.size == 0:
            # A name that was only asked for takes no room; the next look loads it afresh.
            self.forget(project)
        return snapshot

    def known(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the entity id of each key that is an entity's key or alias; others are left out.

        A few keys are looked up in the store until the project is loaded: to load a large one takes seconds,
        which a single memory need not wait for.
        """
        with self._lock:
            live = self._projects.get(project)
        if len(keys) <= _FEW and (live is None or not live.loaded):
            return self._graph.entities_called(project, keys)
        return self.of(project).names.lookup(keys)

    def apply(self, write: Write) -> None:
        """Take in a write, after it was committed and in the order of commits. Never waits for a load."""
        names = _projects_of(write)
        if replace(write.removed, jobs=()) and not self._keeps(names):
            self._forget_all(names)
            return
        with self._lock:
            known = (*self._projects.items(), *self._coming.items())
            touched = [live for name, live in known if name in names]
        for live in touched:
            live.apply(write)

    @contextmanager
    def keeping(self, project: str) -> Iterator[None]:
        """Go on showing what this thread removes from a project, until the end of this.

        To load a large graph takes seconds, which whoever reads would wait for after each removal. Here the
        thread that removes waits for it, once, and others read what was there until then: whatever they
        find is read from the store before it is told.
        """
        with self._lock:
            kept = self._kept[project] = _Kept(thread=threading.get_ident())
        try:
            yield
        finally:
            with self._lock:
                del self._kept[project]
            if kept.removed:
                self._renew(project)

    def _keeps(self, names: set[str]) -> bool:
        """Say whether this thread keeps on showing every project that it removes from, and note it."""
        with self._lock:
            kept = [self._kept.get(name) for name in names]
            own = bool(kept) and all(one and one.thread == threading.get_ident() for one in kept)
            for one in kept if own else ():
                if one is not None:
                    one.removed = True
            return own

    def _renew(self, project: str) -> None:
        with self._lock:
            if project not in self._projects:
                return  # nobody looks at it
            fresh = self._coming[project] = _Live(project, self._graph)
        try:
            fresh.current()
        except BaseException:
            self.forget(project)
            raise
        with self._lock:
            # Where it was forgotten meanwhile, what was loaded may be older than what was removed.
            if self._coming.pop(project, None) is fresh:
                self._projects[project] = fresh

    def _forget_all(self, names: set[str]) -> None:
        # Columns only grow: what lost rows is loaded anew. A dump's rows may be of any project.
        with self._lock:
            for name in names or {*self._projects, *self._coming}:
                self._projects.pop(name, None)
                self._coming.pop(name, None)

    def forget(self, project: str) -> None:
        """Drop a project's snapshot; the next look loads it from the store."""
        with self._lock:
            self._projects.pop(project, None)
            self._coming.pop(project, None)


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A thread that goes on showing a project, and whether it removed anything."""

    thread: int
    removed: bool = False


def _projects_of(write: Write) -> set[str]:
    rows = (write.changes, write.chunks, write.entities, write.relations)
    return {row.project for part in rows for row in part}


class _Live:
    """One project's growing graph and the writes that wait for it."""

    _QUEUED = 256

    def __init__(self, project: str, graph: GraphStore) -> None:
        self._project = project
        self._graph = graph
        self._lock = threading.Lock()
        self._queue: deque[Write] = deque()
        self._growing: SnapshotWriter | None = None

    @property
    def loaded(self) -> bool:
        return self._growing is not None

    def current(self) -> Snapshot:
        with self._lock:
            if self._growing is None:
                self._growing = SnapshotWriter(self._project, *self._graph.graph_tables(self._project))
            self._drain()
            return self._growing.snapshot()

    def apply(self, write: Write) -> None:
        self._queue.append(write)
        # Whoever reads next drains the queue. Where nobody reads for long, a writer takes in one write for
        # each that it adds: others wait for it meanwhile.
        if len(self._queue) > self._QUEUED and self._lock.acquire(blocking=False):
            try:
                self._drain(leaving=self._QUEUED)
            finally:
                self._lock.release()

    def _drain(self, *, leaving: int = 0) -> None:
        while self._growing is not None and len(self._queue) > leaving:
            self._growing.apply(self._queue.popleft())
