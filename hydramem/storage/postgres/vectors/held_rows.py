"""The rows of a space in this process: searches of vectors and words that ask the database nothing.

They are read at the first search. What others write is read as soon as the follower hears of it; what this
process wrote, and what a writer must know before it decides, is read by the next search. A search reads what
was written since by itself where no follower listens, or it has not read for a second.
"""

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from hydramem.core.errors import StorageError
from hydramem.storage.cached_rows.row_cache import RowCache
from hydramem.storage.cached_rows.word_index import WordIndex
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.vectors.held_reads import (
    CHUNK_FILTERS,
    ENTITY_FILTERS,
    ChangedRows,
    SpaceState,
    can_hold,
    columns_of_rows,
    read_changed,
    read_state,
    read_table,
    read_words,
)
from hydramem.storage.postgres.vectors.stored_text import plain
from hydramem.storage.postgres.vectors.text_rows import indexed_words
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger(__name__)

_LONGEST_BEHIND_S = 1.0
# A search asks the database where rows are not read by then: 20,000 chunks take one second to two.
_LONGEST_WAIT_S = 3.0
# Without searches for so long, only the next one reads what was written.
_UNUSED_S = 60.0
# The ids of deleted rows are kept for twice as long (`VectorUpkeep`).
_LONGEST_AWAY_S = 3600.0


@dataclass(slots=True, kw_only=True)
class HeldTables:
    """The rows of a space as they were at a moment.

    Attributes:
        state, epoch: What was seen, and of which server.
        read_at: When that was, by this process's clock.
        writes: The number of noted writes by then.
    """

    chunks: RowCache
    entities: RowCache
    words: WordIndex
    state: SpaceState
    epoch: int
    read_at: float
    writes: int

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are gone that it pays to read all anew."""
        return self.words.wasteful or not (self.chunks.loaded and self.entities.loaded)


class HeldRows:
    """What this process holds of a space, of every project.

    Args:
        database, tables, dimension: Where the rows are, and the length of a vector.
        most: How many rows of a table are held at most; of a larger one, none.
    """

    def __init__(self, database: Database, tables: SpaceTables, dimension: int, most: int) -> None:
        self._database = database
        self._tables = tables
        self._dimension = dimension
        self._most = most
        self._lock = threading.RLock()
        self._held: HeldTables | None = None
        self._reader: threading.Thread | None = None
        self._began_at = 0.0
        self._closing = False
        self._refused = False
        self._used_at = monotonic()
        database.writes.add_refresh(self._follow)

    def current(self) -> HeldTables | None:
        """Return the rows as they are now; None where the database is to be asked.

        Raises:
            StorageError: The database cannot be read.
        """
        # What this thread has written and not committed is for its own eyes.
        if self._refused or self._closing or self._database.in_transaction:
            return None
        self._used_at = monotonic()
        for _ in range(2):
            if self._held is None:
                self._wait_for_rows()
            if (held := self._read_changed(_LONGEST_BEHIND_S)) is not None or self._refused:
                return held
        return None

    def _wait_for_rows(self) -> None:
        """Let all rows be read; a search that comes when that has begun waits for the rest of the time."""
        with self._lock:
            if self._reader is None or not self._reader.is_alive():
                self._reader = threading.Thread(target=self._try_to_read, name="hydramem-held", daemon=True)
                self._began_at = monotonic()
                self._reader.start()
            reader, end = self._reader, self._began_at + _LONGEST_WAIT_S
        reader.join(max(0.0, end - monotonic()))

    def _try_to_read(self) -> None:
        try:
            self._read_all()
        except StorageError as error:
            _log.info("rows are searched in the database: %s", error)

    def _read_all(self) -> None:
        database, tables = self._database, self._tables
        read_at, writes = monotonic(), database.writes.count
        with database.apart() as connection:
            if not can_hold(connection, tables, self._most):
                self._refused = True
                return
            epoch, state = database.epoch, read_state(connection, tables)
        chunks, entities = self._cache("chunks"), self._cache("entities")
        with ThreadPoolExecutor(1, thread_name_prefix="hydramem-held-words") as executor:
            words = executor.submit(self._read_words)
            for cache in (chunks, entities):
                cache.load()
        with self._lock:
            self._held = HeldTables(
                chunks=chunks, entities=entities, words=words.result(), state=state, epoch=epoch,
                read_at=read_at, writes=writes,
            )  # fmt: skip

    def _read_words(self) -> WordIndex:
        with self._database.apart() as connection:
            return read_words(connection, self._tables)

    def _cache(self, table: str) -> RowCache:
        def read(columns: Sequence[str]) -> "Iterator[pa.Table]":
            with self._database.apart() as connection:
                for piece in read_table(connection, self._tables, table):
                    if self._closing:
                        raise StorageError("the vectors are closed")
                    yield piece

        filters = CHUNK_FILTERS if table == "chunks" else ENTITY_FILTERS
        return RowCache(("id", "vector", *filters), self._dimension, read)

    def _read_changed(self, behind_s: float) -> HeldTables | None:
        """Bring what is held up to date, unless it is; None where nothing is held.

        Args:
            behind_s: For how long it counts as up to date while nothing is heard of.
        """
        with self._lock:
            held = self._held
            if held is None or not self._is_behind(held, behind_s):
                return held
            read_at, writes = monotonic(), self._database.writes.count
            with self._database.apart() as connection:
                epoch = self._database.epoch
                changed = read_changed(connection, self._tables, held.state.seen)
            if self._must_read_all(held, changed, epoch):
                self._held = None
                return None
            self._take(held, changed)
            held.state, held.read_at, held.writes = changed.state, read_at, writes
            if max(len(held.chunks), len(held.entities)) > self._most:
                self._refused, self._held = True, None
            elif held.wasteful:
                self._held = None
            return self._held

    def _is_behind(self, held: HeldTables, behind_s: float) -> bool:
        writes = self._database.writes
        return (
            not writes.followed
            or held.writes != writes.count
            or held.epoch != self._database.epoch
            or monotonic() - held.read_at > behind_s
        )

    def _must_read_all(self, held: HeldTables, changed: ChangedRows, epoch: int) -> bool:
        """Say whether what changed is not all that may differ.

        A server that takes over, or is restored, counts transactions from earlier, and has lost some.
        """
        return (
            epoch != held.epoch
            or changed.too_many
            or changed.state.table != held.state.table
            or changed.state.next_transaction < held.state.next_transaction
            or monotonic() - held.read_at > _LONGEST_AWAY_S
        )

    def _take(self, held: HeldTables, changed: ChangedRows) -> None:
        if changed.gone:
            gone = [plain(id) for id, kind in changed.gone if kind == "chunks"]
            held.words.remove(gone)
            held.chunks.remove(gone)
            held.entities.remove([plain(id) for id, kind in changed.gone if kind == "entities"])
        if changed.entities:
            held.entities.put(columns_of_rows(changed.entities, ENTITY_FILTERS))
        if not changed.chunks:
            return
        held.chunks.put(columns_of_rows([row[:-2] for row in changed.chunks], CHUNK_FILTERS))
        for id, *_, text, version in changed.chunks:
            if text is not None:
                held.words.put(plain(id), version, partial(_words, text))

    def _follow(self) -> None:
        """Read what others have written, so that no search has to."""
        if self._held is not None and monotonic() - self._used_at < _UNUSED_S and not self._closing:
            self._read_changed(_LONGEST_BEHIND_S / 2)

    def close(self) -> None:
        """Hold nothing any more; harmless when repeated."""
        self._closing = True
        self._database.writes.drop_refresh(self._follow)
        reader = self._reader
        if reader is not None:
            reader.join()
        self._held = None


def _words(stored: str) -> Counter[str]:
    return indexed_words(plain(stored))
