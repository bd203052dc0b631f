"""The registry of snapshots: each project's graph in memory, kept current by the writes that commit.

Walks read a `Snapshot`, which never changes; `Snapshots` loads one per project at first use and returns a
newer one as writes come in.
"""

import threading
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from hydramem.core.runtime.freed_memory import return_freed_memory
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write

_FEW = 200
"""Most keys that are looked up in the store rather than by loading the graph, which takes far longer."""


class Snapshots:
    """The current snapshot of each project: loaded at first use, kept current by `apply`.

    A write that commits while its project is being loaded waits in a queue and is applied afterwards. Rows
    are applied whole, so applying one that the load has already read does no harm.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._projects: dict[str, _LiveGraph] = {}
        # Graphs that are being loaded and will replace the current ones.
        self._reloading: dict[str, _LiveGraph] = {}
        # Projects whose current graph a thread keeps while it removes rows.
        self._kept: dict[str, _KeptView] = {}

    def of(self, project: str) -> Snapshot:
        """Return a project's snapshot with every write applied so far; an unknown project's is empty."""
        with self._lock:
            live = self._projects.setdefault(project, _LiveGraph(project, self._graph))
        snapshot = live.current()
        if snapshot.size == 0:
            # A project without a graph takes no memory; the next call loads it again.
            self.forget(project)
        return snapshot

    def loaded(self, project: str) -> Snapshot | None:
        """Return a project's snapshot where it is in memory; None where a read would have to load it."""
        with self._lock:
            live = self._projects.get(project)
        return live.current() if live is not None and live.loaded else None

    def holds(self, projects: Collection[str]) -> bool:
        """Return whether one of these projects is in memory, or is being loaded."""
        with self._lock:
            return any(name in self._projects or name in self._reloading for name in projects)

    def known(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the entity id of each key that is an entity's key or alias; others are left out.

        A few keys are looked up in the store until the project is loaded: loading a large one takes seconds,
        which a single memory need not wait for.
        """
        with self._lock:
            live = self._projects.get(project)
        if len(keys) <= _FEW and (live is None or not live.loaded):
            return self._graph.entities_called(project, keys)
        return self.of(project).names.lookup(keys)

    def apply(self, write: Write, projects: Collection[str] = ()) -> None:
        """Apply a committed write, in the order of commits. Never waits for a load.

        Args:
            write: The rows.
            projects: Of them, besides those that they name themselves.
        """
        names = _projects_of(write) | set(projects)
        if replace(write.removed, jobs=()) and not self._keeps(names):
            # Columns only grow: a graph that lost rows is loaded again. A dump's rows may be of any project.
            with self._lock:
                forgotten = names or {*self._projects, *self._reloading}
            for name in forgotten:
                self.forget(name)
            return
        with self._lock:
            known = (*self._projects.items(), *self._reloading.items())
            touched = [live for name, live in known if name in names]
        for live in touched:
            live.apply(write)

    @contextmanager
    def keeping(self, project: str) -> Iterator[None]:
        """Keep a project's current snapshot while this thread removes rows from it; reload it at the end.

        Loading a large graph takes seconds, which readers would wait for after each removal. Here the
        removing thread waits for it, once; until then others read the snapshot of before, and whatever they
        find in it is checked against the store before it is returned.
        """
        with self._lock:
            kept = self._kept[project] = _KeptView(thread=threading.get_ident())
        try:
            yield
        finally:
            with self._lock:
                del self._kept[project]
            if kept.removed:
                self._renew(project)

    def _keeps(self, names: set[str]) -> bool:
        """Say whether this thread keeps the snapshots of all these projects; note that it removed rows."""
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
                return  # not loaded
            fresh = self._reloading[project] = _LiveGraph(project, self._graph)
        try:
            fresh.current()
        except BaseException:
            self.forget(project)
            raise
        with self._lock:
            # Where it was forgotten meanwhile, the loaded graph may be older than the removal.
            if self._reloading.pop(project, None) is fresh:
                self._projects[project] = fresh

    def forget_all(self) -> None:
        """Drop every project's snapshot."""
        with self._lock:
            self._projects.clear()
            self._reloading.clear()

    def forget(self, project: str) -> None:
        """Drop a project's snapshot; the next call loads it from the store."""
        with self._lock:
            self._projects.pop(project, None)
            self._reloading.pop(project, None)


@dataclass(slots=True, kw_only=True)
class _KeptView:
    """The thread that keeps a project's snapshot, and whether it removed rows."""

    thread: int
    removed: bool = False


def _projects_of(write: Write) -> set[str]:
    rows = (write.changes, write.chunks, write.entities, write.relations)
    return {row.project for part in rows for row in part}


class _LiveGraph:
    """One project's growing graph and the writes that are queued for it."""

    _QUEUED = 256

    def __init__(self, project: str, graph: GraphStore) -> None:
        self._project = project
        self._graph = graph
        self._lock = threading.Lock()
        self._queue: deque[Write] = deque()
        self._writer: SnapshotWriter | None = None

    @property
    def loaded(self) -> bool:
        return self._writer is not None

    def current(self) -> Snapshot:
        with self._lock:
            if self._writer is None:
                self._writer = SnapshotWriter(self._project, *self._graph.graph_tables(self._project))
                return_freed_memory()
            self._drain()
            return self._writer.snapshot()

    def apply(self, write: Write) -> None:
        self._queue.append(write)
        # The next reader drains the queue. Without readers, a writer past the bound drains it to the bound.
        if len(self._queue) > self._QUEUED and self._lock.acquire(blocking=False):
            try:
                self._drain(leaving=self._QUEUED)
            finally:
                self._lock.release()

    def _drain(self, *, leaving: int = 0) -> None:
        while self._writer is not None and len(self._queue) > leaving:
            self._writer.apply(self._queue.popleft())
