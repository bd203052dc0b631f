"""Follows the writes of other processes, so that what this one holds in memory stays current."""

import contextvars
import logging
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.feed import FeedReader, FeedRow, joined
from hydramem.storage.schema import CHUNK, ENTITY, ITEM, LINKS, MENTIONS, RELATES
from hydramem.storage.write import Removal, Write

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Connection
    from hydramem.storage.postgres.graph.graph import PostgresGraph

log = logging.getLogger(__name__)
Follow = Callable[[Write | None, tuple[str, ...], bool], None]
"""Called with rows as they are now, the projects of the write, and whether it left jobs.

None in the place of rows: what was written is not known, so nothing that is held of these projects is right;
of no projects means of all.
"""
Wants = Callable[[FeedRow], bool]
"""Says whether anything is held in memory of what a write of another process changed."""
_LONGEST_SILENCE_S = 0.8
# Several that write fast wake each other for many writes at once: a writer catches up by itself.
_LEAST_PAUSE_S = 0.05
_PAUSE_AFTER_ERROR_S = 0.5


class Follower:
    """The thread that reads the change feed, woken by the database and from time to time by itself.

    Args:
        graph: Whose feed.
        follow: What is done with each write, or with several at once.
        wants: Rows of a write of which nothing is held are not read.
    """

    def __init__(self, graph: "PostgresGraph", follow: Follow, wants: Wants = lambda row: True) -> None:
        self._graph = graph
        self._follow = follow
        self._wants = wants
        self._read_at = 0.0
        self._reader = FeedReader(graph.database, graph.node)
        self._one_reader = threading.RLock()
        self._in_order: AbstractContextManager[object] = nullcontext()
        # Whether something was read, or missed, that `follow` was not called with.
        self._behind = False
        self._closing = threading.Event()
        self._woken, self._wake = socket.socketpair()
        self._thread: threading.Thread | None = None

    def start(self, in_order: AbstractContextManager[object]) -> None:
        """Begin to follow.

        Args:
            in_order: The writer lock of this process: no row that was read is followed after a newer one.
        """
        self._in_order = in_order
        self._thread = threading.Thread(target=self._run, name="hydramem-feed", daemon=True)
        self._thread.start()

    @property
    def reader(self) -> FeedReader:
        """What reads the feed; only used with the writer lock of this process."""
        return self._reader

    def catch_up(self) -> None:
        """Follow all that has committed by now. The caller has the writer lock of this process.

        Raises:
            StorageError: The database cannot be reached.
        """
        # A call that may see some projects alone reads the feed of all: it is this process's, not the call's.
        contextvars.Context().run(self._catch_up)
        # Who decides on what to write relies on nothing that was read before.
        self._graph.database.writes.note()

    def _catch_up(self) -> None:
        with self._one_reader:
            self._read_at = monotonic()
            behind, self._behind = self._behind, True
            rows = self._reader.read()
            if rows is None or behind:
                self._follow(None, (), True)
            else:
                for row in joined(rows):
                    self._follow(self._as_write(row), row.projects, row.jobs > 0)
            self._behind = False
        if rows is None or rows:
            self._graph.database.writes.note()

    def _as_write(self, row: FeedRow) -> Write | None:
        """Return the rows that a write changed, as they are now; None where it does not name them."""
        if row.keys is None:
            return None
        if not self._wants(row):
            return Write(changes=())
        graph = self._graph
        keys: Mapping[str, list[Any]] = row.keys

        def ids(plural: str) -> list[str]:
            return [key[0] for key in keys.get(plural, ())]

        def named(plural: str) -> set[tuple[str, ...]]:
            return {tuple(key) for key in keys.get(plural, ())}

        mentions, links = named(MENTIONS.plural), named(LINKS.plural)
        relations = named(RELATES.plural)
        between = graph.relations_between([(key[0], key[1]) for key in relations])
        removed: dict[str, Any] = {
            plural: tuple(tuple(key) if isinstance(key, list) else key for key in gone)
            for plural, gone in row.removed.items()
        }
        return Write(
            changes=(),
            chunks=graph.chunks(ids(CHUNK.plural)),
            entities=graph.entities(ids(ENTITY.plural)),
            items=graph.nodes(ITEM, ids(ITEM.plural)),
            mentions=tuple(
                each
                for each in graph.edges(MENTIONS, ids(MENTIONS.plural), end="source")
                if MENTIONS.key_of(each) in mentions
            ),
            relations=tuple(each for each in between if RELATES.key_of(each) in relations),
            links=tuple(
                each
                for each in graph.edges(LINKS, ids(LINKS.plural), end="source")
                if LINKS.key_of(each) in links
            ),
            removed=Removal(**removed),
            embedded=row.embedded,
        )

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
            except StorageError as error:
                with self._one_reader:
                    # A server that was killed may give the numbers of lost transactions again.
                    self._behind = True
                if not self._closing.wait(_PAUSE_AFTER_ERROR_S):
                    log.info("the change feed is tried again: %s", error)

    def _listen(self) -> None:
        writes = self._graph.database.writes
        with self._graph.database.apart() as connection, selectors.DefaultSelector() as selector:
            for each in (connection, self._woken):
                selector.register(each, selectors.EVENT_READ)
            connection.execute(f'LISTEN "{self._graph.channel}"'.encode())
            try:
                while not self._closing.is_set():
                    with self._in_order:
                        self._catch_up()
                    writes.followed = True
                    writes.refresh()
                    self._wait(connection, selector)
            finally:
                writes.followed = False
                if not connection.closed:
                    connection.execute("UNLISTEN *")

    def _wait(self, connection: "Connection", selector: selectors.BaseSelector) -> None:
        """Wait until another process has written, this one closes, or nobody said anything for long."""
        end = monotonic() + _LONGEST_SILENCE_S
        while not self._closing.is_set() and (left := end - monotonic()) > 0:
            # What has arrived with an answer is not on the socket any more.
            if {told.payload for told in connection.notifies(timeout=0)} - {self._graph.node}:
                self._closing.wait(max(0.0, self._read_at + _LEAST_PAUSE_S - monotonic()))
                return
            selector.select(left)

    def close(self) -> None:
        """End the thread; harmless when repeated."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._wake.send(b".")
        if self._thread is not None:
            self._thread.join()
        self._wake.close()
        self._woken.close()
