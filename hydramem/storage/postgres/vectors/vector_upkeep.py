"""Upkeep of a vector store in PostgreSQL: counts folded, frequent words counted, the vector index built.

Any node may do it; one does at a time. Searches are right without it, and slower.
"""

import logging
import math
import threading
import time

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Connection, Database, bound_waits
from hydramem.storage.postgres.vectors.text_rows import rewrite_words
from hydramem.storage.postgres.vectors.vector_schema import MOST_INDEXED_DIMENSION, SpaceTables

_log = logging.getLogger(__name__)

# Rows that this process writes before it looks whether upkeep is due; after a bulk, before it vacuums.
_LOOK_AFTER = 512
_VACUUM_AFTER = 2000

# A word that more rows hold is counted by upkeep, not at each search; again when there are a tenth more rows.
_FREQUENT = 1000
_GROWTH = 1.1
# In the middle of a bulk they grow by a tenth with each batch, and nobody searches yet.
_COUNTED_EVERY_S = 30.0

# Who holds rows in memory and has not read for half as long reads all of them again (`HeldRows`).
_FORGET_GONE = "delete from {gone} where at < now() - interval '2 hours'"
_FOLD = """
    with folded as (delete from {text_counts} returning project, rows, words)
    insert into {text_counts} (project, rows, words)
    select project, sum(rows), sum(words) from folded group by project
"""
_ROWS_NOW_AND_THEN = """
    select (select coalesce(sum(rows), 0)::bigint from {text_counts}),
           (select coalesce(sum(rows), 0)::bigint from {frequent_words} where word = '')
"""
_COUNT_WORDS = f"""
    insert into {{frequent_words}} (project, word, rows)
    select project, word, count(*) from {{postings}}
    where word in (select word from {{postings}} group by word having count(*) > {_FREQUENT})
    group by project, word
    union all
    select project, '', sum(rows) from {{text_counts}} group by project
"""


class VectorUpkeep:
    """The upkeep of one space.

    Args:
        database, tables, dimension: What is kept up.
        settings: From how many rows the vector index pays.
    """

    def __init__(
        self, database: Database, tables: SpaceTables, dimension: int, settings: StorageConfig
    ) -> None:
        self._database = database
        self._tables = tables
        self._indexable = dimension <= MOST_INDEXED_DIMENSION
        self.index_rows = settings.index_rows
        self._lock = threading.Lock()
        self._written = 0
        self._counted_at = -math.inf
        self._builder: threading.Thread | None = None

    @property
    def indexed(self) -> bool:
        """Whether the chunks have a vector index that searches can use."""
        with self._database.reading() as connection:
            return self._has_index(connection, "chunks_vectors")

    def note_written(self, rows: int) -> None:
        """Note how many rows were written."""
        with self._lock:
            self._written += rows

    def maintain(self, *, after_bulk: bool, force: bool) -> None:
        """Do what pays; the index is built in a thread of its own, with `force` before this returns."""
        with self._lock:
            written = self._written
            if written < _LOOK_AFTER and not (force or (after_bulk and written)):
                return
            self._written = 0
        with self._database.transaction() as connection:
            if not self._only_one(connection, "pg_try_advisory_xact_lock"):
                return
            self._fold(connection, count=force or after_bulk)
            owned, rows = self._ownership_and_rows(connection)
        if not owned:
            return
        if force or (after_bulk and written >= _VACUUM_AFTER):
            self._vacuum()
        if self._indexable and rows >= self.index_rows:
            self._build(wait=force)

    def _fold(self, connection: Connection, *, count: bool) -> None:
        connection.execute(self._tables.naming(_FORGET_GONE))
        connection.execute(self._tables.naming(_FOLD))
        now, then = connection.execute(self._tables.naming(_ROWS_NOW_AND_THEN)).fetchone() or (0, 0)
        due = count or time.monotonic() - self._counted_at > _COUNTED_EVERY_S
        if due and now > _FREQUENT and now > _GROWTH * then:
            self._counted_at = time.monotonic()
            connection.execute(self._tables.naming("delete from {frequent_words}"))
            connection.execute(self._tables.naming(_COUNT_WORDS))

    def _ownership_and_rows(self, connection: Connection) -> tuple[bool, int]:
        """Say whether this role may build indices, and how many rows there are."""
        owned = connection.execute(
            "select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass(%s)",
            [f'"{self._tables.schema}"."{self._tables.space}_chunks"'],
        ).fetchone()
        rows = connection.execute(self._tables.naming(_ROWS_NOW_AND_THEN)).fetchone()
        return bool(owned and owned[0]), rows[0] if rows else 0

    def _vacuum(self) -> None:
        """Tell the planner what was written, and let searches of words read the index alone."""
        with self._database.apart() as connection:
            for table in ("chunks", "entities", "texts", "postings"):
                connection.execute(self._tables.naming(f"vacuum (analyze) {{{table}}}"))

    def _build(self, *, wait: bool) -> None:
        with self._lock:
            building = self._builder is not None and self._builder.is_alive()
            if not building:
                self._builder = threading.Thread(
                    target=self._try_to_build, name="hydramem-vector-index", daemon=True
                )
                self._builder.start()
        if wait:
            self.close()

    def _try_to_build(self) -> None:
        try:
            with self._database.apart() as connection:
                if not self._only_one(connection, "pg_try_advisory_lock"):
                    return
                try:
                    self._build_missing(connection)
                finally:
                    connection.execute("select pg_advisory_unlock_all()")
        except StorageError as error:
            _log.warning("the vector index was not built: %s", error)  # searches stay exact without it

    def _build_missing(self, connection: Connection) -> None:
        connection.execute("set maintenance_work_mem = '512MB'")
        connection.execute("set lock_timeout = 0")  # it waits for every transaction that runs
        try:
            for table in ("chunks", "entities"):
                index = f"{table}_vectors"
                if self._has_index(connection, index):
                    continue
                name = f'"{self._tables.schema}"."{self._tables.space}_{index}"'
                # One that a process left unfinished is never used, and still written.
                connection.execute(f"drop index concurrently if exists {name}")
                connection.execute(
                    self._tables.naming(
                        f"create index concurrently {{{index}}} on {{{table}}}"
                        " using hnsw (embedding vector_cosine_ops) with (m = 16, ef_construction = 128)"
                    )
                )
        finally:
            connection.execute("reset maintenance_work_mem")
            bound_waits(connection)

    def _has_index(self, connection: Connection, index: str) -> bool:
        found = connection.execute(
            "select indisvalid from pg_index where indexrelid = to_regclass(%s)",
            [f'"{self._tables.schema}"."{self._tables.space}_{index}"'],
        ).fetchone()
        return bool(found and found[0])

    def _only_one(self, connection: Connection, lock: str) -> bool:
        name = f"hydramem upkeep {self._tables.schema} {self._tables.space} {lock}"
        taken = connection.execute(f"select {lock}(hashtextextended(%s, 0))", [name]).fetchone()
        return bool(taken and taken[0])

    def remake(self) -> None:
        """Make every index anew, and the words from the texts."""
        with self._database.transaction() as connection:
            rewrite_words(connection, self._tables)
            for table in ("chunks", "entities", "texts", "postings"):
                connection.execute(self._tables.naming(f"reindex table {{{table}}}"))

    def close(self) -> None:
        """Wait for an index that is being built."""
        if self._builder is not None:
            self._builder.join()
