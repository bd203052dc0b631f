"""The vector store in memory: exact cosine over all rows, and BM25 computed plainly."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.storage import bm25
from hydramem.storage.chunk_filter import ChunkFilter
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
    chunk_mirror_hash,
    entity_mirror_hash,
    searched_text,
)
from hydramem.text.search_terms import MAX_QUERY_CHARS, words


@dataclass(frozen=True, slots=True)
class _Row:
    item: ChunkVector
    counts: Counter[str]
    length: int


class InMemoryVectors:
    """Vectors and full text that live as long as the process.

    Args:
        dimension: Length of a vector.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._lock = threading.RLock()
        self._chunks: dict[str, _Row] = {}
        self._entities: dict[str, EntityVector] = {}
        self._rows_with: Counter[str] = Counter()
        self._words = 0

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows, or replace those of the same id; of several with one id the last wins.

        Raises:
            InvalidInputError: A vector has another length, is zero or not finite; nothing is written.
        """
        kept_chunks = [
            replace(c, vector=None if c.vector is None else self._copied(c.chunk.id, c.vector))
            for c in chunks
        ]
        kept_entities = [
            EntityVector(entity=e.entity, vector=self._copied(e.entity.id, e.vector)) for e in entities
        ]
        with self._lock:
            for item in kept_chunks:
                self._drop(item.chunk.id)
                self._add(item)
            self._entities.update((item.entity.id, item) for item in kept_entities)

    def remove(self, *, chunks: Sequence[str] = (), entities: Sequence[str] = ()) -> None:
        """Delete rows by id; ids that are not there are no error."""
        with self._lock:
            for id in chunks:
                self._drop(id)
            for id in entities:
                self._entities.pop(id, None)

    def nearest(self, vector: Vector, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks nearest by cosine among those that the filter admits, best first."""
        with self._lock:
            admitted = [row.item for row in self._chunks.values() if where.admits(row.item.chunk)]
        return self._nearest(vector, [(item.chunk.id, item.vector) for item in admitted], limit)

    def nearest_entities(self, vector: Vector, projects: Sequence[str], limit: int) -> tuple[Scored, ...]:
        """Return the entities whose name is nearest by cosine, best first."""
        with self._lock:
            items = list(self._entities.values())
        admitted = [item for item in items if not projects or item.entity.project in projects]
        return self._nearest(vector, [(item.entity.id, item.vector) for item in admitted], limit)

    def matching(self, query: str, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks that best match words by BM25 among those that the filter admits, best first.

        Counts are of all rows, admitted or not; words beyond `MAX_QUERY_CHARS` are not looked for.
        """
        asked = Counter(words(query[:MAX_QUERY_CHARS]))
        with self._lock:
            rows = len(self._chunks)
            weights = {
                word: times * bm25.rarity(self._rows_with[word], rows) for word, times in asked.items()
            }
            mean = self._words / max(1, len(self._chunks))
            scores = {
                id: sum(
                    bm25.word_score(row.counts[word], row.length, mean) * weights[word] for word in shared
                )
                for id, row in self._chunks.items()
                if (shared := weights.keys() & row.counts.keys()) and where.admits(row.item.chunk)
            }
        return best_first(scores, scores.values(), max(0, limit))

    def text_scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the BM25 scores that texts would have if they were rows too; 0 without a word of a query."""
        asked = Counter(words(query[:MAX_QUERY_CHARS]))
        read = [Counter(words(text)) for text in texts]
        with self._lock:
            total, length = len(self._chunks), self._words
            holding = {word: self._rows_with[word] for word in asked}
        return bm25.text_scores(asked, read, holding, total, length)

    def vectors(self, chunks: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks by id; those without one are left out."""
        with self._lock:
            held = {id: self._chunks[id].item.vector for id in chunks if id in self._chunks}
        return {id: vector for id, vector in held.items() if vector is not None}

    def entity_vectors(self, entities: Sequence[str]) -> Mapping[str, Vector]:
        """Return the same of entities."""
        with self._lock:
            return {id: self._entities[id].vector for id in entities if id in self._entities}

    def chunk_hashes(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the hash of the mirrored columns of every chunk held, or of some."""
        with self._lock:
            held = self._chunks
            ids = held if among is None else [id for id in among if id in held]
            return {id: chunk_mirror_hash(held[id].item.chunk) for id in ids}

    def entity_hashes(self) -> Mapping[str, str]:
        """Return the same for the entities held."""
        with self._lock:
            return {id: entity_mirror_hash(item.entity) for id, item in self._entities.items()}

    def stored_chunks(self, ids: Sequence[str]) -> tuple[StoredChunk, ...]:
        """Return what is held of chunks by id, in any order; those that are not held are left out."""
        with self._lock:
            rows = [self._chunks[id].item.chunk for id in dict.fromkeys(ids) if id in self._chunks]
        return tuple(map(_stored, rows))

    def stored_entities(self, ids: Sequence[str]) -> tuple[StoredEntity, ...]:
        """Return the same of entities."""
        with self._lock:
            rows = [self._entities[id].entity for id in dict.fromkeys(ids) if id in self._entities]
        return tuple(StoredEntity(id=row.id, project=row.project, name=row.name) for row in rows)

    def chunks_without_vector(self, among: Sequence[str] | None = None) -> frozenset[str]:
        """Return the ids of the chunks that are held without a vector, of all or of those named."""
        with self._lock:
            held = self._chunks
            ids = held if among is None else [id for id in among if id in held]
            return frozenset(id for id in ids if held[id].item.vector is None)

    def maintain(self, *, after_bulk: bool = False, force: bool = False) -> None:
        """Do nothing: every search looks at every row."""

    def check(self) -> None:
        """Do nothing: memory has no files that could be damaged."""

    def remake_indices(self) -> bool:
        """Do nothing: there are no indices."""
        return True

    def stats(self) -> VectorStats:
        """Return row counts."""
        return VectorStats(chunks=len(self._chunks), entities=len(self._entities))

    def close(self) -> None:
        """Do nothing; the rows go with the object."""

    def _copied(self, id: str, vector: Vector) -> Vector:
        return checked_vector(vector, self._dimension, name=id).copy()

    def _add(self, item: ChunkVector) -> None:
        found = words(searched_text(item.chunk))
        self._chunks[item.chunk.id] = _Row(item, Counter(found), len(found))
        self._rows_with.update(set(found))
        self._words += len(found)

    def _drop(self, id: str) -> None:
        row = self._chunks.pop(id, None)
        if row is not None:
            self._rows_with.subtract(row.counts.keys())
            self._words -= row.length

    def _nearest(
        self, vector: Vector, items: Sequence[tuple[str, Vector | None]], limit: int
    ) -> tuple[Scored, ...]:
        query = checked_vector(vector, self._dimension, name="the query")
        embedded = [(id, held) for id, held in items if held is not None]
        if not embedded:
            return ()
        matrix = np.stack([held for _, held in embedded])
        cosine = matrix @ query / (np.linalg.norm(matrix, axis=1) * np.linalg.norm(query))
        return best_first((id for id, _ in embedded), cosine, max(0, limit))


def _stored(chunk: Chunk) -> StoredChunk:
    names = {item.name for item in fields(StoredChunk)} - {"text", "mirror"}
    values = {name: getattr(chunk.times, name, None) or getattr(chunk, name, None) for name in names}
    return StoredChunk(
        **values,  # type: ignore[arg-type]
        text=searched_text(chunk),
        mirror=chunk_mirror_hash(chunk),
    )
