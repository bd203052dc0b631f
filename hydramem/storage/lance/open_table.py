"""Open or create the LanceDB tables of a folder, and bring those of earlier versions up to date."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.storage.lance.remote_client import import_lancedb
from hydramem.storage.lance.text_index import make_text_index

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

LanceTable = Any  # as in `table`


def finished_tables(folder: Path, names: Iterable[str]) -> set[str]:
    """Return those tables that were made to their end; what a kill left of another one is deleted.

    A table without a version and without rows never held anything. One whose versions are gone and that has
    files of rows is damaged: it stays, and opening it is an error.

    Args:
        folder, names: The folder, and the names of the tables in it.
    """
    finished = set()
    for name in names:
        table = folder / f"{name}.lance"
        if any(table.glob("_versions/*.manifest")) or any(table.glob("data/*")):
            finished.add(name)
        else:
            shutil.rmtree(table)
    return finished


def prepare_table(database: "lancedb.DBConnection", known: set[str], name: str, schema: "pa.Schema") -> int:
    """Bring a table of a folder up to date, or create it, with its full-text index.

    Returns the length of its vectors.

    Args:
        database, known: The folder, and the names of its tables.
        name, schema: The name and the columns of the table.

    Raises:
        ValueError: A column is missing.
    """
    if name in known:
        table = database.open_table(name)
        missing = set(schema.names) - set(table.schema.names)
        if missing:
            raise ValueError(f"table {name} lacks {', '.join(sorted(missing))}")
        if table.schema.field("vector").nullable and not schema.field("vector").nullable:
            _require_vectors(table)
    else:
        table = database.create_table(name, schema=schema)
    if "text" in schema.names:
        make_text_index(table)
    return int(table.schema.field("vector").type.list_size)


def reopen_table(folder: Path) -> LanceTable:
    """Open a table in a session of its own, which caches what is read of its files and indices."""
    return import_lancedb().connect(folder.parent).open_table(folder.stem)


def _require_vectors(table: LanceTable) -> None:
    """Delete the rows without a vector, which stores of earlier versions have, and let none in again."""
    table.delete("vector IS NULL")
    table.alter_columns({"path": "vector", "nullable": False})
