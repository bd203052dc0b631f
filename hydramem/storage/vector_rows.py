"""The contract of a vector store, which is derived from the graph store, and the rows that it holds.

Three vector stores ship: `storage.lance`, `storage.postgres` and `storage.in_memory`. Each is safe to use
from many threads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import Chunk, Entity
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.text.lexicon import MONTHS

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkVector:
    """A chunk for the vector store; without a vector it is found by full text only."""

    chunk: Chunk
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityVector:
    """An entity that the vector store holds: one whose name is worth a vector (`worth_a_vector`)."""

    entity: Entity
    vector: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """What the vector store holds of a chunk, without its vector.

    Attributes:
        text: Its text as full text reads it (`searched_text`): with its day, headings and speaker.
        mirror: The hash of the mirrored columns when it was written (`chunk_mirror_hash`).
    """

    id: str
    project: str
    text: str
    kind: str
    layer: str
    scope: str
    state: str
    session: str | None
    document: str | None
    categories: tuple[str, ...]
    private: bool
    confidence: float | None
    happened_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None
    expires_at: datetime | None
    mirror: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEntity:
    """What the vector store holds of an entity, without its vector."""

    id: str
    project: str
    name: str


def indexed_text(chunk: Chunk) -> str:
    """Return a chunk's text as the embedder and the full-text index read it.

    Headings come above it and its speaker before it: both contain words that questions use.
    """
    spoken = f"{chunk.author}: {chunk.text}" if chunk.author else chunk.text
    return f"{' > '.join(chunk.heading_path)}\n{spoken}" if chunk.heading_path else spoken


def chunk_mirror_hash(chunk: Chunk) -> str:
    """Hash the columns of a chunk that the vector store mirrors, so that a stale row is detected."""
    times = chunk.times
    mirrored = (
        *(chunk.text, chunk.project, chunk.kind, chunk.layer, chunk.state, chunk.scope, chunk.categories),
        *(chunk.document, chunk.session, chunk.private, chunk.confidence, chunk.heading_path, chunk.author),
        *(chunk.happened_at, chunk.expires_at),
        *(times.valid_from, times.valid_to, times.recorded_at, times.retired_at),
    )
    return content_hash(repr(mirrored))


def entity_mirror_hash(entity: Entity) -> str:
    """Hash the columns of an entity that the vector store mirrors."""
    return content_hash(repr((entity.project, entity.name)))


def checked_vector(vector: Vector, dimension: int, *, name: str) -> Vector:
    """Return a vector as float32 of the right length that has a direction.

    Args:
        vector: Shape (dimension,), unit length.
        dimension: Length that the store holds.
        name: What the vector belongs to, for the error message.

    Raises:
        InvalidInputError: It has another length, is not finite, or is zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.asarray(vector, dtype=np.float32)
        length = float(np.linalg.norm(array))
    if array.shape != (dimension,):
        raise InvalidInputError(f"vector of {name}: shape {array.shape}, the store holds ({dimension},)")
    if not np.isfinite(length):
        raise InvalidInputError(f"vector of {name}: not finite")
    if length == 0.0:
        raise InvalidInputError(f"vector of {name}: zero, it points nowhere")
    return array


def storable(text: str) -> bool:
    """Say whether text can be a column's value: lone surrogates have no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def searched_text(chunk: Chunk) -> str:
    """Return a chunk's text as full text reads it: as the embedder does, and the day it happened in words.

    Questions name months and years that turns do not repeat. The embedder is better off without them.
    """
    day = chunk.happened_at
    text = indexed_text(chunk)
    return text if day is None else f"{day.day} {MONTHS[day.month - 1].title()} {day.year}\n{text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate: higher scores are better; cosine for vectors, BM25 for text."""

    id: str
    score: float


def best_first(ids: Iterable[str], scores: Iterable[float], limit: int | None = None) -> tuple[Scored, ...]:
    """Return candidates, the highest score first, ties by id; at most `limit`."""
    found = [Scored(id=id, score=float(score)) for id, score in zip(ids, scores, strict=True)]
    return tuple(sorted(found, key=lambda scored: (-scored.score, scored.id))[:limit])


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStats:
    """Row counts of the vector store, and the counts that decide on its upkeep."""

    chunks: int = 0
    entities: int = 0
    fragments: int = 0
    unindexed: int = 0
    versions: int = 0
    indexed: bool = False


class VectorStore(Protocol):
    """Vectors and full text, derived from the graph store and rebuilt from it at need."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows, or replace those of the same id.

        Raises:
            InvalidInputError: A vector has another length, or is not finite.
        """

    def remove(self, *, chunks: Sequence[str] = (), entities: Sequence[str] = ()) -> None:
        """Delete rows by id; ids that are not there are no error."""

    def nearest(self, vector: Vector, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks nearest by cosine among those that the filter admits, best first."""

    def matching(self, query: str, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks that best match words by BM25 among those that the filter admits, best first.

        The query is words, never query syntax.
        """

    def text_scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the BM25 scores that texts would have if they were rows too; 0 without a word of a query.

        Args:
            query: Words, as `matching` takes them.
            texts: As `searched_text` returns them.
        """

    def nearest_entities(self, vector: Vector, projects: Sequence[str], limit: int) -> tuple[Scored, ...]:
        """Return the entities whose name is nearest by cosine, best first."""

    def vectors(self, chunks: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks by id; those without one are left out."""

    def entity_vectors(self, entities: Sequence[str]) -> Mapping[str, Vector]:
        """Return the same of entities."""

    def chunk_hashes(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the hash of the mirrored columns (`chunk_mirror_hash`) of every chunk held, or of some."""

    def entity_hashes(self) -> Mapping[str, str]:
        """Return the same for the entities held."""

    def stored_chunks(self, ids: Sequence[str]) -> tuple[StoredChunk, ...]:
        """Return what is held of chunks by id, in any order; those that are not held are left out."""

    def stored_entities(self, ids: Sequence[str]) -> tuple[StoredEntity, ...]:
        """Return the same of entities."""

    def chunks_without_vector(self, among: Sequence[str] | None = None) -> frozenset[str]:
        """Return the ids of the chunks that are held without a vector, of all or of those named."""

    def maintain(self, *, after_bulk: bool = False, force: bool = False) -> None:
        """Index, compact and drop old versions where the policy says it pays.

        Args:
            after_bulk: Many rows were written in pieces and searches follow: upkeep pays sooner.
            force: Do all of it now.
        """

    def check(self) -> None:
        """Read all that is held once.

        Raises:
            StorageError: Some of it cannot be read.
        """

    def remake_indices(self) -> bool:
        """Make the indices anew from the rows; False where files of rows are damaged.

        Raises:
            StorageError: The rows cannot be read.
        """

    def stats(self) -> VectorStats:
        """Return row counts and the counts that decide on upkeep."""

    def close(self) -> None:
        """Release the store; harmless when repeated."""
