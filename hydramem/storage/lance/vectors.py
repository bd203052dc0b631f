"""The vector store on LanceDB: a folder with the tables `chunks` and `entities`."""

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hydramem.core.config import StorageConfig
from hydramem.core.errors import EmbeddingMismatchError, StorageError
from hydramem.core.runtime.freed_memory import return_freed_memory, return_large_blocks
from hydramem.storage.cached_rows.row_arrays import ROW_ID
from hydramem.storage.cached_rows.row_cache import RowCache
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.files.read_only import is_read_only
from hydramem.storage.lance.arrow_rows import (
    chunk_rows,
    chunk_schema,
    entity_rows,
    entity_schema,
    stored_chunks,
)
from hydramem.storage.lance.filters import chunk_predicate, project_predicate
from hydramem.storage.lance.open_table import finished_tables, prepare_table
from hydramem.storage.lance.read_write_lock import ReadWriteLock
from hydramem.storage.lance.remote_client import import_lancedb
from hydramem.storage.lance.table import Table
from hydramem.storage.lance.text_index import any_word
from hydramem.storage.vector_rows import (
    ChunkVector,
    EntityVector,
    Scored,
    StoredChunk,
    StoredEntity,
    Vector,
    VectorStats,
    best_first,
    checked_vector,
    storable,
)
from hydramem.text.search_terms import MAX_QUERY_CHARS

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger(__name__)
_PANICS = ("pyo3_runtime", "pyo3_async_runtimes")  # the modules of their classes

# How many more matches are looked for than are wanted, where some will not be admitted, and how many at most.
_SPARE = 1.5
_MOST_SPARE = 2000
_SMALLEST_SHARE = 1e-3


def open_vectors(path: Path, dimension: int, settings: StorageConfig) -> "LanceVectors":
    """Open the vectors folder; a missing or empty one is created with empty tables.

    Args:
        path, dimension: The folder, and the length of a vector.
        settings: When to index, compact and drop old versions.

    Raises:
        EmbeddingMismatchError: The folder holds vectors of another length.
        StorageError: The folder cannot be read or created; nothing in it is changed.
    """
    # Its log on stderr would mix with the output of a command; failures arrive as exceptions.
    os.environ.setdefault("LANCEDB_LOG", "error")
    # An index build takes every thread of its pool for as long as it runs; a write needs one too.
    os.environ.setdefault("LANCE_CPU_THREADS", str((os.cpu_count() or 1) + 4))
    lancedb = import_lancedb()
    return_large_blocks()
    with lance_errors(path):
        database = lancedb.connect(path)
        known = finished_tables(path, database.list_tables().tables or ())
        if not known:
            _require_unused(path)
        lock = ReadWriteLock()
        held = (
            prepare_table(database, known, "chunks", chunk_schema(dimension)),
            prepare_table(database, known, "entities", entity_schema(dimension)),
        )
    for stored in held:
        if stored != dimension:
            raise EmbeddingMismatchError(
                f"vectors in {path} have length {stored}, the embedder makes {dimension}; "
                "use the embedder that made them, or `hydramem reindex`"
            )
    with lance_errors(path):
        return LanceVectors(
            path,
            dimension,
            Table(path / "chunks.lance", settings, lock),
            Table(path / "entities.lance", settings, lock),
            lock,
        )


class LanceVectors:
    """Vectors and full text in a folder; many threads may read and write at once.

    Args:
        path: The folder, for messages.
        dimension, chunks, entities: The length of a vector, and the tables.
        lock: Keeps readers out of upkeep that deletes files.
    """

    def __init__(
        self, path: Path, dimension: int, chunks: Table, entities: Table, lock: ReadWriteLock
    ) -> None:
        self._path = path
        self._dimension = dimension
        self._chunks = chunks
        self._entities = entities
        self._lock = lock
        self._process = os.getpid()
        self._closed = False
        self._writing = threading.Lock()
        self._builder: threading.Thread | None = None
        self._entity_writer: ThreadPoolExecutor | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows, or replace those of the same id; of several with one id the last wins.

        Raises:
            InvalidInputError: A vector has another length, is zero or not finite, or a name is not
                Unicode text; nothing is written.
        """
        self._require_usable()
        chunk_table = chunk_rows(chunks, self._dimension)
        entity_table = entity_rows(entities, self._dimension)
        with self._write():
            if not (chunk_table.num_rows and entity_table.num_rows):
                self._chunks.put(chunk_table)
                self._entities.put(entity_table)
                return
            # Each waits for the disk most of its time: together they take no longer than one.
            pending = self._begin_entities(entity_table)
            try:
                self._chunks.put(chunk_table)
            finally:
                if pending is not None:
                    pending.result()
            if pending is None:
                self._entities.put(entity_table)

    def _begin_entities(self, entities: "pa.Table") -> "Future[None] | None":
        """Begin to put entities in another thread; None where none can be had, as when the process ends."""
        if self._entity_writer is None:
            self._entity_writer = ThreadPoolExecutor(1, thread_name_prefix="hydramem-entities")
        try:
            return self._entity_writer.submit(self._entities.put, entities)
        except RuntimeError:
            return None

    def remove(self, *, chunks: Sequence[str] = (), entities: Sequence[str] = ()) -> None:
        """Delete rows by id; ids that are not there are no error."""
        with self._write():
            self._chunks.remove(chunks)
            self._entities.remove(entities)

    def nearest(self, vector: Vector, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks nearest by cosine among those that the filter admits, best first."""
        return self._nearest(self._chunks, vector, limit, where=where, predicate=chunk_predicate(where))

    def nearest_entities(self, vector: Vector, projects: Sequence[str], limit: int) -> tuple[Scored, ...]:
        """Return the entities whose name is nearest by cosine, best first."""
        predicate = project_predicate(projects)
        return self._nearest(self._entities, vector, limit, projects=projects, predicate=predicate)

    def matching(self, query: str, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks that best match words by BM25 among those that the filter admits, best first.

        The query is words, never query syntax; words beyond `MAX_QUERY_CHARS` are not looked for.
        """
        self._require_usable()
        text = _storable_words(query)
        if limit <= 0 or not text.strip():
            return ()
        with self._read():
            cache = self._chunks.row_cache()
            if cache is None:
                scores = self._scan_matching(text, where, limit, only_indexed=False)
            else:
                scores = self._matching_cached(cache, text, where, limit)
        return best_first(scores, scores.values(), limit)

    def text_scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the BM25 scores that texts would have if they were rows too; 0 without a word of a query."""
        with self._read():
            return self._chunks.text_scores(_storable_words(query), texts)

    def vectors(self, chunks: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks by id; those without one are left out."""
        with self._read():
            return self._chunks.vectors(chunks)

    def entity_vectors(self, entities: Sequence[str]) -> Mapping[str, Vector]:
        """Return the same of entities."""
        with self._read():
            return self._entities.vectors(entities)

    def chunk_hashes(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the hash of the mirrored columns of every chunk held, or of some."""
        with self._read():
            return self._chunks.mirror(among)

    def entity_hashes(self) -> Mapping[str, str]:
        """Return the same for the entities held."""
        with self._read():
            return self._entities.mirror()

    def stored_chunks(self, ids: Sequence[str]) -> tuple[StoredChunk, ...]:
        """Return what is held of chunks by id, in any order; those that are not held are left out."""
        columns = [name for name in chunk_schema(self._dimension).names if name != "vector"]
        with self._read():
            return tuple(row for part in self._chunks.by_id(ids, columns) for row in stored_chunks(part))

    def stored_entities(self, ids: Sequence[str]) -> tuple[StoredEntity, ...]:
        """Return the same of entities."""
        with self._read():
            parts = self._entities.by_id(ids, ("id", "project", "name"))
            return tuple(StoredEntity(**row) for part in parts for row in part.to_pylist())

    def chunks_without_vector(self, among: Sequence[str] | None = None) -> frozenset[str]:
        """Return the ids of the chunks that are held without a vector, of all or of those named."""
        with self._read():
            if among is None:
                return frozenset(self._chunks.without_vector())
            return frozenset(self._chunks.without_vector_among(among))

    def maintain(self, *, after_bulk: bool = False, force: bool = False) -> None:
        """Compact, index and drop old versions where the policy says it pays; cheap where it does not.

        After a bulk of writes it pays sooner. Others write meanwhile, as far as they can. The vector index is
        built in a thread of its own, as it may take a minute; with `force` it is built before this returns.
        """
        if force:
            self._await_builder()
        with self._write():
            due = [
                table for table in (self._chunks, self._entities) if force or table.due(after_bulk=after_bulk)
            ]
        with lance_errors(self._path):
            compacted = [table for table in due if table.compact(self._write)]
        if compacted:
            return_freed_memory()
        with self._read():
            wanting = [table for table in compacted if table.wants_index()]
        if force:
            self._build(wanting)
        elif wanting:
            self._build_in_thread(wanting)

    def check(self) -> None:
        """Read every file of the tables and of their indices once, past all caches.

        Raises:
            StorageError: One is damaged or gone; the message names its table.
        """
        for table in (self._chunks, self._entities):
            with self._read(), lance_errors(self._path / table.name):
                table.read_all()

    def remake_indices(self) -> bool:
        """Make the indices anew from the rows; False where a table has damaged rows, and its indices stay."""
        with self._write():
            return self._chunks.remake_indices() and self._entities.remake_indices()

    def stats(self) -> VectorStats:
        """Return row counts and what upkeep looks at."""
        with self._read():
            chunks, entities = self._chunks.stats(), self._entities.stats()
        return VectorStats(
            chunks=chunks.rows,
            entities=entities.rows,
            fragments=chunks.fragments + entities.fragments,
            unindexed=chunks.unindexed,
            versions=chunks.versions + entities.versions,
            indexed=chunks.indexed,
        )

    def close(self) -> None:
        """Release the store; harmless when repeated. Waits for an index that is being built.

        The end of the process would wait for most of that work too, and then lose it. Much dead data is
        dropped, because there are no open readers any more.
        """
        self._await_builder()
        if self._closed or os.getpid() != self._process:
            return
        try:
            if not is_read_only(self._path):
                self._tidy()
        except StorageError as error:
            _log.warning("%s", error)  # the next upkeep drops them
        finally:
            self._closed = True
            if self._entity_writer is not None:
                self._entity_writer.shutdown()

    def _tidy(self) -> None:
        with self._write():
            for table in (self._chunks, self._entities):
                table.tidy()

    def _nearest(
        self,
        table: Table,
        vector: Vector,
        limit: int,
        *,
        where: ChunkFilter | None = None,
        projects: Sequence[str] = (),
        predicate: str | None,
    ) -> tuple[Scored, ...]:
        self._require_usable()
        query = checked_vector(vector, self._dimension, name="the query")
        if limit <= 0:
            return ()
        with self._read():
            if (cache := table.row_cache()) is not None:
                return cache.nearest(query, where, projects, limit)
            rows = table.search(query, predicate, limit, "_distance")
        similarity = np.clip(1.0 - rows["_distance"].to_numpy(), -1.0, 1.0)
        return best_first(rows["id"].to_pylist(), similarity.tolist())

    def _matching_cached(
        self, cache: RowCache, text: str, where: ChunkFilter, limit: int
    ) -> dict[str, float]:
        """Search the index, and in memory the rows that it does not have yet, where those are known.

        Rows in memory are looked at first, and again if any was written meanwhile: a row that is replaced
        leaves the index then.
        """
        begun = self._chunks.text_writes
        unindexed = self._chunks.unindexed_matches(text)
        only = unindexed is not None
        scores = self._matching_indexed(cache, text, where, limit, only_indexed=only)
        if scores is None:
            scores = self._scan_matching(text, where, limit, only_indexed=only)
        found = dict(unindexed or ())
        if only and self._chunks.text_writes != begun:
            found |= dict(self._chunks.unindexed_matches(text) or ())
        if found:
            passing = cache.admitted(list(found), where)
            scores |= {id: found[id] for id, passes in zip(found, passing, strict=True) if passes}
        return scores

    def _scan_matching(
        self, text: str, where: ChunkFilter, limit: int, *, only_indexed: bool
    ) -> dict[str, float]:
        predicate = chunk_predicate(where)
        rows = self._chunks.search(any_word(text), predicate, limit, "_score", only_indexed=only_indexed)
        return dict(zip(rows["id"].to_pylist(), rows["_score"].to_pylist(), strict=True))

    def _matching_indexed(
        self, cache: RowCache, text: str, where: ChunkFilter, limit: int, *, only_indexed: bool
    ) -> dict[str, float] | None:
        """Search among all rows and leave out those not admitted; None where too few would be left.

        LanceDB tests a filter by reading its columns of every row, and reads the id of every hit separately:
        that takes longer than the search itself.
        """
        wanted = int(limit * _SPARE / max(cache.share(where), _SMALLEST_SHARE))
        if wanted > _MOST_SPARE + limit:
            return None
        rows = self._chunks.numbers(any_word(text), wanted, only_indexed=only_indexed)
        ids = cache.ids(rows[ROW_ID].to_pylist(), self._chunks.numbered)
        passing = cache.admitted(ids, where)
        scored = zip(ids, rows["_score"].to_pylist(), passing, strict=True)
        found = {id: score for id, score, passes in scored if passes and id is not None}
        return found if len(found) >= limit or rows.num_rows < wanted else None

    def _build(self, tables: Sequence[Table]) -> None:
        # Not as a reader: upkeep that waited for it would hold up every other read.
        with lance_errors(self._path):
            for table in tables:
                table.build_index()

    def _build_in_thread(self, tables: Sequence[Table]) -> None:
        if self._builder is None or not self._builder.is_alive():
            self._builder = threading.Thread(
                target=self._try_to_build, args=(tables,), name="hydramem-vector-index", daemon=True
            )
            self._builder.start()

    def _try_to_build(self, tables: Sequence[Table]) -> None:
        try:
            self._build(tables)
        except StorageError as error:
            # Searches stay exact without it, and a later upkeep tries again.
            _log.warning("the vector index was not built: %s", error)

    def _await_builder(self) -> None:
        if self._builder is not None and os.getpid() == self._process:
            self._builder.join()

    @contextmanager
    def _read(self) -> Iterator[None]:
        self._require_usable()
        with self._lock.reading(), lance_errors(self._path):
            yield

    @contextmanager
    def _write(self) -> Iterator[None]:
        self._require_usable()
        with self._writing, lance_errors(self._path):
            yield

    def _require_usable(self) -> None:
        if os.getpid() != self._process:
            raise StorageError(
                f"vectors in {self._path} were opened before this process was forked; connect again in it"
            )
        if self._closed:
            raise StorageError(f"vectors in {self._path} are closed; connect again")


def _storable_words(query: str) -> str:
    """Return the words of a query that are looked for, without lone surrogates."""
    text = query[:MAX_QUERY_CHARS]
    return text if storable(text) else text.encode("utf-8", "replace").decode()


def _require_unused(path: Path) -> None:
    # Files without a table are what is left of a damaged folder; tables laid beside them would hide that.
    if any(path.iterdir()):
        raise ValueError("it holds files but no table")


@contextmanager
def lance_errors(path: Path) -> Iterator[None]:
    """Turn what LanceDB and Arrow raise into a StorageError that names the folder and the way out."""
    try:
        yield
    except (RuntimeError, ValueError, OSError, LookupError, TypeError) as error:
        raise _damage(path, error) from error
    except BaseException as error:
        # A panic of Rust, as on a damaged file, need be no Exception, and its classes cannot be imported.
        if type(error).__module__ not in _PANICS:
            raise
        raise _damage(path, error) from error


def _damage(path: Path, error: BaseException) -> StorageError:
    return StorageError(
        f"vectors in {path}: {error}; nothing was deleted, "
        "`hydramem doctor --fix` rebuilds them from the graph"
    )
