"""One LanceDB table: upsert and delete by id, and the upkeep that keeps it quick and small."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.config import StorageConfig
from hydramem.storage.cached_rows.row_arrays import ROW_ID
from hydramem.storage.cached_rows.row_cache import RowCache
from hydramem.storage.lance.checksums import damaged_files, is_of_index, note_checksums
from hydramem.storage.lance.filters import ids_predicate
from hydramem.storage.lance.open_table import reopen_table
from hydramem.storage.lance.read_write_lock import ReadWriteLock
from hydramem.storage.lance.row_ids import RowIds
from hydramem.storage.lance.text_index import TEXT_INDEX, index_reads, make_text_index
from hydramem.storage.lance.unindexed_text import UnindexedText
from hydramem.storage.vector_rows import Vector

if TYPE_CHECKING:
    import pyarrow as pa

# LanceDB's own annotations call the result of `Table.stats` an object (it is a dict) and do not know the
# methods of a vector search.
LanceTable = Any
VECTOR_INDEX = "vector_idx"

# Ids in one filter; longer filters cost more to parse than further scans.
_IDS_PER_FILTER = 1000

# Upkeep rewrites the full-text index, so a larger table waits for a share of its rows: at 100,000 rows it
# takes about two seconds, and the rows that wait add about as many milliseconds to a search as at 6,000.
_ROWS_PER_UNINDEXED = 32
_ROWS_PER_FRAGMENT = 800

# A bulk of at least this share of the table took far longer to embed than its upkeep takes.
_ROWS_PER_BULK = 100

# Rows read at once where all are.
_ROWS_PER_PIECE = 8192

# Dead bytes of a folder, as a share of its live ones and besides, from which they are dropped.
_DEAD_SHARE = 0.2
_DEAD_BYTES = 128 << 10

# Parts that a vector index may fall into (one more at each upkeep) before it is built anew.
_MOST_INDEX_PARTS = 64

_PREEMPTED = "commit conflict"
_AT_ONCE = timedelta(milliseconds=1)
_NEVER = timedelta(days=36_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStats:
    """Row counts of a table, and the counts that decide on its upkeep."""

    rows: int
    fragments: int
    unindexed: int
    versions: int
    indexed: bool


class Table:
    """A table with a unique `id` and a nullable `vector`; the caller sees to one writer at a time.

    Upkeep is decided from counters of what was written, so that a call with nothing due costs nothing.
    """

    def __init__(self, folder: Path, settings: StorageConfig, lock: ReadWriteLock) -> None:
        """Open a table that is there.

        Args:
            folder: The folder of the table.
            settings: When to index and compact.
            lock: Keeps readers out of upkeep that deletes files.
        """
        self._folder = folder
        self._table = table = reopen_table(folder)
        self._settings = settings
        self._lock = lock
        schema = table.schema
        self._dimension = schema.field("vector").type.list_size
        self._cache = RowCache(schema.names, self._dimension, self._pieces)
        self._row_ids: RowIds | None = None
        # Compaction and an index build undo each other's work, so one waits for the other.
        self._upkeep = threading.Lock()
        stats = self.stats()
        self._indexed = stats.indexed
        self._fragments = max(0, stats.fragments - 1)
        self._unindexed = stats.unindexed
        # Whether there may be old versions: those that an earlier process left, or this one writes.
        self._changed = stats.versions > 1
        self._unindexed_text = (
            UnindexedText(index_reads(lambda: self._table), complete=not stats.unindexed)
            if "text" in schema.names
            else None
        )

    @property
    def name(self) -> str:
        """The name of the table's folder."""
        return self._folder.name

    def read_all(self) -> None:
        """Read every column of every row, the whole full-text index and every file that has a checksum."""
        for name in damaged_files(self._folder):
            raise ValueError(f"{self._folder / name} is damaged: its checksum is another one than was noted")
        table = reopen_table(self._folder)
        for _ in table.search().to_batches(_ROWS_PER_PIECE):
            pass
        if self._unindexed_text is not None:
            table.prewarm_index(TEXT_INDEX)

    def remake_indices(self) -> bool:
        """Make the indices anew from the rows; False, and nothing is done, where files of rows are damaged.

        The caller keeps writers out.
        """
        if not all(map(is_of_index, damaged_files(self._folder))):
            return False
        with self._upkeep:
            if self._unindexed_text is not None:
                make_text_index(self._table, anew=True)
            if self._indexed:
                self._make_vector_index()
            with self._lock.exclusive():
                self._drop_versions()
            note_checksums(self._folder)
            if self._unindexed_text is not None:
                self._unindexed_text.restart(unindexed=0)
            self._unindexed = 0
        return True

    @property
    def indexed(self) -> bool:
        """Whether the vectors have an index."""
        return self._indexed

    def put(self, rows: "pa.Table") -> None:
        """Insert rows or replace those of the same id, in one version: readers see all or nothing.

        Rows without a vector that are there already, just so, cost nothing.
        """
        rows = self._known_rows().changed(rows)
        if rows.num_rows == 0:
            return
        # LanceDB counts a null among "bad" vectors; the rows were checked when they were made.
        with self._dropping_caches():
            if self._unindexed_text is not None:
                # Before the index loses those that are replaced: a search in between finds them.
                self._unindexed_text.put(rows)
            if self._known_rows().holds_any(rows):
                upsert = self._table.merge_insert("id").when_matched_update_all()
                upsert.when_not_matched_insert_all().execute(rows, on_bad_vectors="null")
            else:
                self._table.add(rows, on_bad_vectors="null")
        self._known_rows().put(rows)
        self._cache.put(rows)
        self._count_write(rows.num_rows)

    def remove(self, ids: Sequence[str]) -> None:
        """Delete rows by id; ids that are not there cost nothing."""
        ids = self._known_rows().those_held(ids)
        for predicate in _predicates(ids):
            with self._dropping_caches():
                self._table.delete(predicate)
            self._count_write(0)
        self._known_rows().remove(ids)
        self._cache.remove(ids)
        if self._unindexed_text is not None:
            self._unindexed_text.remove(ids)

    @contextmanager
    def _dropping_caches(self) -> Iterator[None]:
        """Drop what is cached of the rows where a change fails: its outcome is unknown."""
        try:
            with self._cache.dropped_on_error():
                yield
        except BaseException:
            self._row_ids = None
            if self._unindexed_text is not None:
                self._unindexed_text.drop()
            raise

    def _known_rows(self) -> RowIds:
        if self._row_ids is None:
            self._row_ids = RowIds(self._all(("id", "mirror")), self.without_vector_among)
        return self._row_ids

    def by_id(self, ids: Sequence[str], columns: Sequence[str]) -> "Iterator[pa.Table]":
        """Yield some columns of rows by id, in batches."""
        for predicate in _predicates(ids):
            yield self._table.search().where(predicate).select(list(columns)).to_arrow()

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Return vectors by id, from memory or read; rows without one are left out."""
        cached = self._cache.vectors(ids)
        if cached is not None:
            return cached
        found: dict[str, Vector] = {}
        for rows in self.by_id(ids, ("id", "vector")):
            present = rows.filter(rows["vector"].is_valid())
            values = present["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            vectors = values.reshape(-1, self._dimension)
            found.update(zip(present["id"].to_pylist(), vectors, strict=True))
        return found

    def mirror(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the mirror hash of every row by id, or of some."""
        columns = ("id", "mirror")
        parts = [self._all(columns)] if among is None else self.by_id(among, columns)
        return {
            id: hash
            for rows in parts
            for id, hash in zip(rows["id"].to_pylist(), rows["mirror"].to_pylist(), strict=True)
        }

    def _all(self, columns: Sequence[str]) -> "pa.Table":
        return self._table.search().select(list(columns)).to_arrow()

    def without_vector(self) -> Sequence[str]:
        """Return the ids of the rows that have no vector."""
        rows = self._table.search().where("vector IS NULL").select(["id"]).to_arrow()
        ids: list[str] = rows["id"].to_pylist()
        return ids

    def without_vector_among(self, ids: Sequence[str]) -> Sequence[str]:
        """Return those of some ids whose rows have no vector."""
        bare = self._cache.without_vector(ids)
        if bare is not None:
            return bare
        # Tested here: LanceDB would read every vector to find those that are null.
        return [
            id
            for rows in self.by_id(ids, ("id", "vector"))
            for id in rows.filter(rows["vector"].is_null())["id"].to_pylist()
        ]

    def search(
        self, query: Any, where: str | None, limit: int, column: str, *, only_indexed: bool = False
    ) -> "pa.Table":
        """Run a search among the rows that a filter admits; return `id` and the score's column.

        Args:
            query, where, limit, column: The query, the filter, the number of rows, and the score's column.
            only_indexed: Leave out the rows that the index does not have yet.
        """
        search = self._table.search(query)
        if only_indexed:
            search = search.fast_search()
        if column == "_distance":
            # Both settings only matter where there is an index; without one the search is exact.
            search = search.distance_type("cosine").nprobes(20).refine_factor(5)
        if where is not None:
            search = search.where(where, prefilter=True)
        return search.limit(min(limit, max(1, self.rows()))).select(["id", column]).to_arrow()

    def row_cache(self) -> RowCache | None:
        """Return the rows in memory; None where they are too many and LanceDB's index is used.

        Rows that are in memory are used until the index exists.
        """
        if self._cache.loaded:
            small = len(self._cache) <= self._settings.index_rows
        else:
            small = self.rows() <= self._settings.index_rows
        if small or (self._cache.loaded and not self._indexed):
            return self._cache
        self._cache.drop()
        return None

    def _pieces(self, columns: Sequence[str]) -> "Iterator[pa.Table]":
        """Yield some columns of every row, with its row number."""
        import pyarrow as pa

        for batch in self._table.search().select(list(columns)).with_row_id(True).to_batches(_ROWS_PER_PIECE):
            yield pa.Table.from_batches([batch])

    def numbers(self, query: Any, limit: int, *, only_indexed: bool = False) -> "pa.Table":
        """Run a search by words among all rows; return row number and score, which saves reading the rows.

        Args:
            query, limit: The query, and the number of rows.
            only_indexed: Leave out the rows that the index does not have yet.
        """
        # Counting the rows takes LanceDB as long as a search of few of them.
        rows = len(self._cache) if self._cache.loaded else self.rows()
        search = self._table.search(query).limit(min(limit, max(1, rows)))
        if only_indexed:
            search = search.fast_search()
        return search.select(["_score"]).with_row_id(True).to_arrow()

    def numbered(self, numbers: Sequence[int]) -> "pa.Table":
        """Return `id` and row number of rows by number; those that are gone are left out."""
        predicate = f"{ROW_ID} IN ({', '.join(map(str, numbers))})"
        return self._table.search().where(predicate).select(["id"]).with_row_id(True).to_arrow()

    @property
    def text_writes(self) -> int:
        """A number that grows with each write of rows outside the full-text index."""
        return 0 if self._unindexed_text is None else self._unindexed_text.moment()

    def unindexed_matches(self, query: str) -> Sequence[tuple[str, float]] | None:
        """Return the rows outside the full-text index that have a word of a query, with their scores.

        None where they are not in memory, and a search has to scan the table for them.
        """
        return None if self._unindexed_text is None else self._unindexed_text.matching(query)

    def text_scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the scores that texts would have if they were rows too, where the table has text."""
        return () if self._unindexed_text is None else self._unindexed_text.scores(query, texts)

    def rows(self) -> int:
        """Return the number of rows."""
        return int(self._table.count_rows())

    def stats(self) -> TableStats:
        """Return the counts of the table; costs some milliseconds."""
        text = self._table.index_stats(TEXT_INDEX)
        return TableStats(
            rows=self.rows(),
            fragments=int(self._table.stats()["fragment_stats"]["num_fragments"]),
            unindexed=text.num_unindexed_rows if text is not None else 0,
            versions=len(self._table.list_versions()),
            indexed=self._table.index_stats(VECTOR_INDEX) is not None,
        )

    def due(self, *, after_bulk: bool = False) -> bool:
        """Say whether compaction pays: after a bulk of writes sooner, because searches follow, not writes."""
        fragments, unindexed = self._settings.compact_fragments, self._settings.compact_unindexed
        if after_bulk:
            many = self._unindexed >= max(unindexed // 2, self.rows() // _ROWS_PER_BULK)
            return many or self._is_wasteful()
        if self._fragments < fragments and self._unindexed < unindexed:
            return False
        rows = self.rows()
        return self._fragments >= max(fragments, rows // _ROWS_PER_FRAGMENT) or self._unindexed >= max(
            unindexed, rows // _ROWS_PER_UNINDEXED
        )

    def compact(self, writing: Callable[[], AbstractContextManager[None]]) -> bool:
        """Merge fragments, bring indices up to date, drop old versions; False during an index build.

        Args:
            writing: Keeps other writers out; it is held where they must not come in between.
        """
        if not self._upkeep.acquire(blocking=False):
            return False
        try:
            self._compact(writing)
        finally:
            self._upkeep.release()
        return True

    def _compact(self, writing: Callable[[], AbstractContextManager[None]]) -> None:
        # In two steps: the long one runs in parallel with others, only deleting files has to be alone.
        self._gather(writing)
        with writing():
            self._cache.renumber()
            with self._lock.exclusive():
                self._drop_versions()
            note_checksums(self._folder)
            if self._unindexed_text is not None:
                text = self._table.index_stats(TEXT_INDEX)
                self._unindexed_text.restart(unindexed=text.num_unindexed_rows)

    def _gather(self, writing: Callable[[], AbstractContextManager[None]]) -> None:
        """Merge fragments and update indices in parallel with writers; alone, if one came in between.

        New rows do not disturb it. A change of rows that it is moving does: LanceDB keeps the change.
        """
        fragments, unindexed = self._fragments, self._unindexed
        self._fragments = self._unindexed = 0
        with writing():
            written = self.text_writes
        try:
            self._table.optimize(cleanup_older_than=_NEVER)
            if self._unindexed_text is not None:
                self._unindexed_text.indexed(written)
        except RuntimeError as error:
            self._fragments += fragments
            self._unindexed += unindexed
            if _PREEMPTED not in str(error):
                raise
            with writing():
                self._table.optimize(cleanup_older_than=_NEVER)
                self._fragments = self._unindexed = 0

    def _drop_versions(self) -> None:
        """Merge what is left to merge and delete every file that the last version does not name.

        Those of a compaction that a writer preempted are named by no version: LanceDB would keep them for a
        week, as another process might be writing them. Here no one else reads or writes.
        """
        self._table.optimize(cleanup_older_than=_AT_ONCE, delete_unverified=True)
        # The session of a table keeps the files of each index that was ever read open, deleted ones too.
        self._table = reopen_table(self._folder)
        self._changed = False

    def _is_wasteful(self) -> bool:
        """Say whether much of the folder is dead: files of old versions and of preempted compactions."""
        if not self._changed:
            return False
        live = int(self._table.stats()["total_bytes"])
        return folder_bytes(self._folder) - live > _DEAD_SHARE * live + _DEAD_BYTES

    def tidy(self) -> None:
        """Drop what is dead where it is much; there are no readers or writers, now or later."""
        if not self._upkeep.acquire(blocking=False):
            return
        try:
            if self._is_wasteful():
                self._drop_versions()
                note_checksums(self._folder)
        finally:
            self._upkeep.release()

    def wants_index(self) -> bool:
        """Say whether a vector index would pay and is missing, or has fallen into many parts; scans once."""
        if self._indexed:
            return bool(self._table.index_stats(VECTOR_INDEX).num_indices > _MOST_INDEX_PARTS)
        least = self._settings.index_rows
        return self.rows() >= least and self._table.count_rows("vector IS NOT NULL") >= least

    def build_index(self) -> None:
        """Build the vector index; writes and reads go on meanwhile. Only one build runs at a time."""
        if not self._upkeep.acquire(blocking=False):
            return
        try:
            self._make_vector_index()
        finally:
            self._upkeep.release()

    def _make_vector_index(self) -> None:
        from lancedb.index import HnswSq

        self._table.create_index("vector", config=HnswSq(distance_type="cosine"), name=VECTOR_INDEX)
        self._indexed = True

    def _count_write(self, rows: int) -> None:
        self._fragments += 1
        self._unindexed += rows
        self._changed = True


def folder_bytes(folder: Path) -> int:
    """Return the bytes of the files of a folder; one that goes meanwhile counts nothing."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _predicates(ids: Sequence[str]) -> Iterator[str]:
    unique = list(dict.fromkeys(ids))
    for start in range(0, len(unique), _IDS_PER_FILTER):
        yield ids_predicate(unique[start : start + _IDS_PER_FILTER])
