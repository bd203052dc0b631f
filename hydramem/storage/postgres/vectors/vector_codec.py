"""Rows of the vector store's tables: made from chunks and entities, and read back."""

import math
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from hydramem.storage.postgres.connection import Row
from hydramem.storage.postgres.vectors.chunk_conditions import stored_time
from hydramem.storage.postgres.vectors.stored_text import checked, plain, readable
from hydramem.storage.postgres.vectors.vector_schema import NAMES, TIMES
from hydramem.storage.row_codec import column_value
from hydramem.storage.vector_rows import (
    ChunkVector,
    EntityVector,
    StoredChunk,
    checked_vector,
    chunk_mirror_hash,
    entity_mirror_hash,
)

CHUNK_COLUMNS = ("id", *NAMES, "categories", "private", "confidence", *TIMES, "mirror", "embedding")
ENTITY_COLUMNS = ("id", "project", "name", "mirror", "embedding")


def chunk_row(item: ChunkVector, dimension: int) -> Row:
    """Return the values of `CHUNK_COLUMNS` of a chunk.

    Raises:
        InvalidInputError: The vector does not fit, or a name is not Unicode text.
    """
    chunk = item.chunk
    names = (getattr(chunk, name) for name in ("id", *NAMES))
    return (
        *(None if name is None else checked(name, chunk.id) for name in names),
        [checked(category, chunk.id) for category in chunk.categories],
        chunk.private,
        # NaN is above every number in SQL and below none in Python; null is admitted by neither.
        None if math.isnan(chunk.confidence) else chunk.confidence,
        *(stored_time(column_value(chunk, name)) for name in TIMES),
        chunk_mirror_hash(chunk),
        None if item.vector is None else checked_vector(item.vector, dimension, name=chunk.id),
    )


def entity_row(item: EntityVector, dimension: int) -> Row:
    """Return the values of `ENTITY_COLUMNS` of an entity; errors as `chunk_row`."""
    entity = item.entity
    return (
        checked(entity.id, entity.id),
        checked(entity.project, entity.id),
        readable(entity.name),
        entity_mirror_hash(entity),
        checked_vector(item.vector, dimension, name=entity.id),
    )


def stored_chunk(values: Mapping[str, Any]) -> StoredChunk:
    """Return what a row holds of its chunk, from the values of its columns and its text."""
    read: dict[str, Any] = {**values, "categories": tuple(map(plain, values["categories"] or ()))}
    for name in ("id", "text", *NAMES):
        read[name] = None if values[name] is None else plain(values[name])
    for name in TIMES:
        read[name] = None if values[name] is None else values[name].replace(tzinfo=UTC)
    return StoredChunk(**read)
