"""The vector store on PostgreSQL with pgvector: exact below `index_rows`, approximate (HNSW) above.

HNSW as in Malkov and Yashunin, "Efficient and Robust Approximate Nearest Neighbor Search Using Hierarchical
Navigable Small World Graphs" (2018).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from psycopg import sql

from hydramem.core.config import StorageConfig
from hydramem.storage import bm25
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.postgres.connection import Connection, Database, Row
from hydramem.storage.postgres.pipelines import one_pipeline
from hydramem.storage.postgres.row_security import secure_tables
from hydramem.storage.postgres.vectors.chunk_conditions import chunk_conditions
from hydramem.storage.postgres.vectors.held_rows import HeldRows, HeldTables
from hydramem.storage.postgres.vectors.stored_text import escaped, findable, plain
from hydramem.storage.postgres.vectors.text_rows import (
    indexed_words,
    remove_texts,
    write_texts,
)
from hydramem.storage.postgres.vectors.text_search import best_matches, text_statistics
from hydramem.storage.postgres.vectors.vector_codec import (
    CHUNK_COLUMNS,
    ENTITY_COLUMNS,
    chunk_row,
    entity_row,
    stored_chunk,
)
from hydramem.storage.postgres.vectors.vector_schema import SpaceTables
from hydramem.storage.postgres.vectors.vector_upkeep import VectorUpkeep
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
    searched_text,
)
from hydramem.text.search_terms import MAX_QUERY_CHARS

_DELETE = """
    with removed as (delete from {%s} where id = any(%%s) returning *), noted as (
        insert into {gone} (id, kind, project) select id, '%s', project from removed
    )
    select %s from removed
"""


def open_vectors(
    database: Database, space: str, dimension: int, settings: StorageConfig
) -> "PostgresVectors":
    """Open the vectors of a space; missing tables are created.

    Args:
        database: Where they are.
        space: Name of the space, such as `vectors`: an embedder's vectors are a space.
        dimension: Length of a vector.
        settings: When to index.

    Raises:
        EmbeddingMismatchError: The space holds vectors of another length.
        StorageError: The database refused.
    """
    tables = SpaceTables(database, space)
    with database.transaction() as connection:
        tables.create(connection, dimension)
        secure_tables(database, connection)
    return PostgresVectors(database, tables, dimension, VectorUpkeep(database, tables, dimension, settings))


def drop_vectors(database: Database, space: str) -> None:
    """Delete a space, with all that it holds."""
    with database.transaction() as connection:
        SpaceTables(database, space).drop(connection)


class PostgresVectors:
    """Vectors and full text in a database; a write joins the thread's transaction where it has begun one.

    Args:
        database, tables, dimension: Where the rows are, and the length of a vector.
        upkeep: Builds the indices.
    """

    def __init__(self, database: Database, tables: SpaceTables, dimension: int, upkeep: VectorUpkeep) -> None:
        self._database = database
        self._tables = tables
        self._dimension = dimension
        self._upkeep = upkeep
        self._held = HeldRows(database, tables, dimension, upkeep.index_rows)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows, or replace those of the same id; of several with one id the last wins.

        Raises:
            InvalidInputError: A vector has another length, is zero or not finite, or a name is not Unicode
                text; nothing is written.
        """
        latest = {item.chunk.id: item for item in chunks}
        latest_entities = {item.entity.id: item for item in entities}
        # In the order of ids: writers that lock the same rows in different orders would wait for each other.
        chunk_rows = [chunk_row(latest[id], self._dimension) for id in sorted(latest)]
        entity_rows = [entity_row(latest_entities[id], self._dimension) for id in sorted(latest_entities)]
        if not (chunk_rows or entity_rows):
            return
        texts = {escaped(id): searched_text(latest[id].chunk) for id in sorted(latest)}
        with self._database.transaction() as connection, one_pipeline(connection):
            self._database.note_vectors()
            if entity_rows:
                self._upsert(connection, "entities", ENTITY_COLUMNS, entity_rows)
            if chunk_rows:
                self._upsert(connection, "chunks", CHUNK_COLUMNS, chunk_rows)
                write_texts(connection, self._tables, texts)
        self._upkeep.note_written(len(chunk_rows))

    def _upsert(
        self, connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Row]
    ) -> None:
        given = ", ".join(["%s"] * (len(columns) - 1) + ["%b"])  # a vector in text would be parsed
        replaced = ", ".join(f"{name} = excluded.{name}" for name in (*columns[1:], "written"))
        statement = self._tables.naming(
            f"insert into {{{table}}} ({', '.join(columns)}) values ({given})"
            f" on conflict (id) do update set {replaced}"
        )
        with connection.cursor() as cursor:
            cursor.executemany(statement, rows)

    def remove(self, *, chunks: Sequence[str] = (), entities: Sequence[str] = ()) -> None:
        """Delete rows by id; ids that are not there are no error."""
        gone_chunks, gone_entities = sorted(findable(chunks)), sorted(findable(entities))
        if not (gone_chunks or gone_entities):
            return
        with self._database.transaction() as connection:
            self._database.note_vectors()
            if gone_chunks:
                statement = _DELETE % ("chunks", "chunks", "number")
                numbers = connection.execute(self._tables.naming(statement), [gone_chunks]).fetchall()
                remove_texts(connection, self._tables, [row[0] for row in numbers])
            if gone_entities:
                statement = _DELETE % ("entities", "entities", "id")
                connection.execute(self._tables.naming(statement), [gone_entities])

    def nearest(self, vector: Vector, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks nearest by cosine among those that the filter admits, best first."""
        query = checked_vector(vector, self._dimension, name="the query")
        if limit <= 0:
            return ()
        condition, values = chunk_conditions(where)
        held = self._held.current()
        found = None if held is None else held.chunks.nearest(query, where, (), limit)
        if found is None or not self._may_see("chunks", found, condition, values):
            return self._nearest_stored("chunks", query, condition, values, limit)
        return found

    def nearest_entities(self, vector: Vector, projects: Sequence[str], limit: int) -> tuple[Scored, ...]:
        """Return the entities whose name is nearest by cosine, best first."""
        query = checked_vector(vector, self._dimension, name="the query")
        if limit <= 0:
            return ()
        condition, values = "true", dict[str, Any]()
        if projects:
            condition, values = "c.project = any(%(project)s::text[])", {"project": findable(projects)}
        held = self._held.current()
        found = None if held is None else held.entities.nearest(query, None, projects, limit)
        if found is None or not self._may_see("entities", found, condition, values):
            return self._nearest_stored("entities", query, condition, values, limit)
        return found

    def _may_see(
        self, table: str, found: Sequence[Scored], condition: str, values: Mapping[str, Any]
    ) -> bool:
        """Say whether the call may see what was found in memory, which holds every project's rows.

        Of a call for some projects the database decides that, as it does of every row that it returns.
        """
        if not self._database.is_bounded:
            return True
        ids = findable([hit.id for hit in found])
        search = f"select count(*) from {{{table}}} c where c.id = any(%(ids)s) and {condition}"
        with self._database.reading() as connection:
            row = connection.execute(self._tables.naming(search), {**values, "ids": ids}).fetchone()
        return row is not None and row[0] == len(ids)

    def _nearest_stored(
        self, table: str, query: Vector, condition: str, values: Mapping[str, Any], limit: int
    ) -> tuple[Scored, ...]:
        # Without an index the database sorts by distance, which is exact. An index that gives up before it
        # has found enough rows behind a filter is left aside by an order that it does not know.
        for order in ("c.embedding <=> %(query)b", "(c.embedding <=> %(query)b) + 0"):
            search = self._tables.naming(
                f"select c.id, c.embedding <=> %(query)b from {{{table}}} c"
                f" where c.embedding is not null and {condition} order by {order} limit {{limit}}",
                limit=sql.Literal(limit),
            )
            with self._database.reading() as connection:
                rows = connection.execute(search, {**values, "query": query}).fetchall()
            if len(rows) >= limit or not self._upkeep.indexed:
                break
        similarity = np.clip(1.0 - np.array([row[1] for row in rows], dtype=np.float64), -1.0, 1.0)
        return best_first((plain(row[0]) for row in rows), similarity.tolist())

    def matching(self, query: str, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks that best match words by BM25 among those that the filter admits, best first.

        Counts are of all rows, admitted or not; words beyond `MAX_QUERY_CHARS` are not looked for.
        """
        asked = indexed_words(query[:MAX_QUERY_CHARS])
        if limit <= 0 or not asked:
            return ()
        if (held := self._unbounded_rows()) is not None:
            return held.words.matching(asked, lambda ids: held.chunks.admitted(ids, where), limit)
        condition, values = chunk_conditions(where)
        with self._database.reading() as connection:
            found = best_matches(connection, self._tables, asked, condition, values, limit)
        return best_first((plain(hit.id) for hit in found), (hit.score for hit in found))

    def text_scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the BM25 scores that texts would have if they were rows too; 0 without a word of a query."""
        asked = indexed_words(query[:MAX_QUERY_CHARS])
        read: list[Counter[str]] = [indexed_words(text) for text in texts]
        if not any(asked.keys() & counts.keys() for counts in read):
            return (0.0,) * len(read)
        if (held := self._unbounded_rows()) is not None:
            known = held.words.statistics(asked)
        else:
            with self._database.reading() as connection:
                known = text_statistics(connection, self._tables, list(asked))
        return bm25.text_scores(asked, read, known.holding, known.rows, known.length)

    def _unbounded_rows(self) -> HeldTables | None:
        """Return the rows in memory for a call that may see all; for others the database counts."""
        return None if self._database.is_bounded else self._held.current()

    def vectors(self, chunks: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks by id; those without one are left out."""
        held = self._unbounded_rows()
        found = None if held is None else held.chunks.vectors(chunks)
        return self._vectors("chunks", chunks) if found is None else found

    def entity_vectors(self, entities: Sequence[str]) -> Mapping[str, Vector]:
        """Return the same of entities."""
        return self._vectors("entities", entities)

    def _vectors(self, table: str, ids: Sequence[str]) -> Mapping[str, Vector]:
        found = self._rows(
            f"select id, embedding from {{{table}}} where embedding is not null and id = any(%s)",
            [findable(ids)],
            binary=True,
        )
        return {plain(id): vector.to_numpy().astype(np.float32) for id, vector in found}

    def chunk_hashes(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the hash of the mirrored columns of every chunk held, or of some."""
        statement = "select id, mirror from {chunks}"
        found = (
            self._rows(statement)
            if among is None
            else self._rows(statement + " where id = any(%s)", [findable(among)])
        )
        return {plain(id): mirror for id, mirror in found}

    def entity_hashes(self) -> Mapping[str, str]:
        """Return the same for the entities held."""
        return {plain(id): mirror for id, mirror in self._rows("select id, mirror from {entities}")}

    def stored_chunks(self, ids: Sequence[str]) -> tuple[StoredChunk, ...]:
        """Return what is held of chunks by id, in any order; those that are not held are left out."""
        columns = [name for name in CHUNK_COLUMNS if name != "embedding"]
        rows = self._rows(
            f"select {', '.join(f'c.{name}' for name in columns)}, t.text"
            " from {chunks} c join {texts} t on t.number = c.number where c.id = any(%s)",
            [findable(ids)],
        )
        return tuple(stored_chunk(dict(zip((*columns, "text"), row, strict=True))) for row in rows)

    def stored_entities(self, ids: Sequence[str]) -> tuple[StoredEntity, ...]:
        """Return the same of entities."""
        rows = self._rows("select id, project, name from {entities} where id = any(%s)", [findable(ids)])
        return tuple(StoredEntity(id=plain(a), project=plain(b), name=plain(c)) for a, b, c in rows)

    def chunks_without_vector(self, among: Sequence[str] | None = None) -> frozenset[str]:
        """Return the ids of the chunks that are held without a vector, of all or of those named."""
        if among is not None and (held := self._unbounded_rows()) is not None:
            absent = held.chunks.without_vector(among)
            if absent is not None:
                return frozenset(absent)
        statement = "select id from {chunks} where embedding is null"
        found = (
            self._rows(statement)
            if among is None
            else self._rows(statement + " and id = any(%s)", [findable(among)])
        )
        return frozenset(plain(id) for (id,) in found)

    def maintain(self, *, after_bulk: bool = False, force: bool = False) -> None:
        """Count words and build the vector index where that pays; cheap where it does not."""
        self._upkeep.maintain(after_bulk=after_bulk, force=force)

    def check(self) -> None:
        """Read every row once.

        Raises:
            StorageError: The database cannot read one.
        """
        self._rows("select sum(vector_dims(embedding)), max(mirror) from {chunks}")
        self._rows("select sum(vector_dims(embedding)), max(name) from {entities}")
        self._rows("select sum(length(text)), sum(cardinality(words)) from {texts}")
        self._rows("select sum(count), count(distinct word) from {postings}")

    def remake_indices(self) -> bool:
        """Make the indices anew from the rows, and the words from the texts."""
        self._upkeep.remake()
        return True

    def stats(self) -> VectorStats:
        """Return row counts, and whether vectors are indexed."""
        ((chunks, entities),) = self._rows(
            "select (select count(*) from {chunks}), (select count(*) from {entities})"
        )
        return VectorStats(chunks=chunks, entities=entities, indexed=self._upkeep.indexed)

    def close(self) -> None:
        """Wait for an index that is being built; the database is closed by who opened it."""
        self._held.close()
        self._upkeep.close()

    def _rows(self, statement: str, values: Sequence[Any] = (), *, binary: bool = False) -> list[Row]:
        with self._database.reading() as connection, connection.cursor(binary=binary) as cursor:
            return cursor.execute(self._tables.naming(statement), values).fetchall()
