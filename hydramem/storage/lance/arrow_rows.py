"""Rows of the LanceDB tables: their Arrow schemas, and Arrow tables made from chunks and entities."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from hydramem.core.errors import InvalidInputError
from hydramem.storage.cached_rows.row_arrays import microseconds
from hydramem.storage.lance.filters import moment
from hydramem.storage.row_codec import column_value
from hydramem.storage.vector_rows import (
    ChunkVector,
    EntityVector,
    StoredChunk,
    Vector,
    checked_vector,
    chunk_mirror_hash,
    entity_mirror_hash,
    searched_text,
    storable,
)

if TYPE_CHECKING:
    import pyarrow as pa


_WORDS = ("project", "kind", "layer", "scope", "state", "session", "document")
_TIMES = ("happened_at", "valid_from", "valid_to", "recorded_at", "retired_at", "expires_at")


def chunk_schema(dimension: int) -> "pa.Schema":
    """Return the columns of the table `chunks`; times are microseconds since 1970."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), dimension)),
            *((name, pa.string()) for name in _WORDS),
            ("categories", pa.list_(pa.string())),
            ("private", pa.bool_()),
            ("confidence", pa.float64()),
            *((name, pa.int64()) for name in _TIMES),
            ("mirror", pa.string()),
        ]
    )


def entity_schema(dimension: int) -> "pa.Schema":
    """Return the columns of the table `entities`; a row without a vector would take as much room."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            ("project", pa.string()),
            ("name", pa.string()),
            pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
            ("mirror", pa.string()),
        ]
    )


def chunk_rows(items: Sequence[ChunkVector], dimension: int) -> "pa.Table":
    """Turn chunks into rows; of several with one id the last wins.

    Raises:
        InvalidInputError: A vector does not fit, or a name is not Unicode text.
    """
    import pyarrow as pa

    latest = {item.chunk.id: item for item in items}
    vectors = _vector_column([(id, item.vector) for id, item in latest.items()], dimension)
    rows = [_chunk_row(item) for item in latest.values()]
    schema = chunk_schema(dimension)
    plain = pa.schema([column for column in schema if column.name != "vector"])
    table = pa.Table.from_pylist(rows, schema=plain)
    return table.add_column(schema.get_field_index("vector"), schema.field("vector"), vectors)


def stored_chunks(rows: "pa.Table") -> Iterator[StoredChunk]:
    """Yield what rows of the table `chunks` hold of their chunks."""
    for values in rows.to_pylist():
        times = {name: None if values[name] is None else moment(values[name]) for name in _TIMES}
        yield StoredChunk(**{**values, **times, "categories": tuple(values["categories"] or ())})


def entity_rows(items: Sequence[EntityVector], dimension: int) -> "pa.Table":
    """Turn entities into rows; of several with one id the last wins.

    Raises:
        InvalidInputError: A vector does not fit, or a project's name is not Unicode text.
    """
    import pyarrow as pa

    latest = {item.entity.id: item for item in items}
    entities = [item.entity for item in latest.values()]
    columns = {
        "id": [_checked(entity.id, entity.id) for entity in entities],
        "project": [_checked(entity.project, entity.id) for entity in entities],
        "name": [_readable(entity.name) for entity in entities],
        "vector": _vector_column([(id, item.vector) for id, item in latest.items()], dimension),
        "mirror": [entity_mirror_hash(entity) for entity in entities],
    }
    return pa.table(columns, schema=entity_schema(dimension))


def _chunk_row(item: ChunkVector) -> dict[str, Any]:
    chunk = item.chunk
    return {
        **{name: _checked(getattr(chunk, name), chunk.id) for name in ("id", *_WORDS)},
        **{name: _time(column_value(chunk, name)) for name in _TIMES},
        "text": _readable(searched_text(chunk)),
        "categories": [_checked(category, chunk.id) for category in chunk.categories],
        "private": chunk.private,
        # NaN is above every number in SQL and below none in Python; null is admitted by neither.
        "confidence": None if math.isnan(chunk.confidence) else chunk.confidence,
        "mirror": chunk_mirror_hash(chunk),
    }


def _time(moment: datetime | None) -> int | None:
    return None if moment is None else microseconds(moment)


def _checked(value: str | None, id: str) -> str | None:
    # Replacing a lone surrogate here could make two projects or scopes one.
    if value is not None and not storable(value):
        raise InvalidInputError(f"row {id!a}: {value[:80]!a} is not Unicode text (it has a lone surrogate)")
    return value


def _readable(text: str) -> str:
    return text if storable(text) else text.encode("utf-8", "replace").decode()


def _vector_column(items: Sequence[tuple[str, Vector | None]], dimension: int) -> "pa.Array":
    import pyarrow as pa

    values = np.zeros((len(items), dimension), dtype=np.float32)
    absent = np.zeros(len(items), dtype=np.bool_)
    for row, (id, vector) in enumerate(items):
        if vector is None:
            absent[row] = True
        else:
            values[row] = checked_vector(vector, dimension, name=id)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), dimension, mask=pa.array(absent))
