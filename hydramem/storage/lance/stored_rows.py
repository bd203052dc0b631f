"""Reads what a folder of vectors holds without opening it as a store: of any embedder, without its graph."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.storage.lance.arrow_rows import stored_chunks
from hydramem.storage.lance.remote_client import import_lancedb
from hydramem.storage.lance.vectors import lance_errors
from hydramem.storage.vector_rows import StoredChunk, StoredEntity

if TYPE_CHECKING:
    import pyarrow as pa


def rows_in_folder(path: Path) -> tuple[tuple[StoredChunk, ...], tuple[StoredEntity, ...]]:
    """Return the chunks and entities that a folder of vectors holds, without their vectors.

    Raises:
        StorageError: The folder cannot be read.
    """
    lancedb = import_lancedb()
    with lance_errors(path):
        database = lancedb.connect(path)
        known = set(database.list_tables().tables or ())
        chunks = _all_but_vectors(database.open_table("chunks")) if "chunks" in known else None
        entities = _all_but_vectors(database.open_table("entities")) if "entities" in known else None
        found = () if entities is None else entities.select(["id", "project", "name"]).to_pylist()
        return (
            () if chunks is None else tuple(stored_chunks(chunks)),
            tuple(StoredEntity(**row) for row in found),
        )


def _all_but_vectors(table: Any) -> "pa.Table":
    names: Sequence[str] = [name for name in table.schema.names if name != "vector"]
    return table.search().select(list(names)).to_arrow()
