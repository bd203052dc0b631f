"""The rows of the vector stores: their text, their mirror hashes, and the check of a vector."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.row_types import Chunk, Entity
from hydramem.text.lexicon import MONTHS

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkVector:
    """A chunk for the vector store; without a vector it is found by full text only."""

    chunk: Chunk
    vector: Vector | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityVector:
    """An entity for the vector store; without a vector it is found by its name's words only."""

    entity: Entity
    vector: Vector | None


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


def searched_text(chunk: Chunk) -> str:
    """Return a chunk's text as full text reads it: as the embedder does, and the day it happened in words.

    Questions name months and years that turns do not repeat. The embedder is better off without them.
    """
    day = chunk.happened_at
    text = indexed_text(chunk)
    return text if day is None else f"{day.day} {MONTHS[day.month - 1].title()} {day.year}\n{text}"
