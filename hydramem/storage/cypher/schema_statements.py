"""The tables as Cypher: the first schema, the steps between versions, and the marker of the engine."""

from pathlib import Path

from hydramem.core.errors import SchemaError, StorageError
from hydramem.storage.cypher.checkpoints.generations import serving_file
from hydramem.storage.cypher.engine import Engine, Query
from hydramem.storage.cypher.open_database import ENGINES
from hydramem.storage.cypher.recovery.check_log import REMEDY
from hydramem.storage.schema import (
    CHUNK_EDGE_TABLES,
    EDGE_TABLES,
    NODE_TABLES,
    SCHEMA_VERSION,
    ColumnKind,
    EdgeTable,
    Table,
)

CYPHER_TYPES: dict[ColumnKind, str] = {
    "text": "STRING",
    "texts": "STRING[]",
    "json": "STRING",
    "time": "TIMESTAMP",
    "number": "DOUBLE",
    "integer": "INT64",
    "flag": "BOOL",
}

MARKER = "engine"
"""Name of the file beside the graph that says which engine wrote it, and with which schema version."""
ON_A_SERVER = "postgres"
"""What the marker says where the graph is not in the folder."""
Steps = tuple[tuple[str, ...], ...]

MIGRATIONS: Steps = (
    (
        "ALTER TABLE RELATES ADD IF NOT EXISTS verifier STRING",
        "ALTER TABLE RELATES ADD IF NOT EXISTS probability DOUBLE",
        "ALTER TABLE RELATES ADD IF NOT EXISTS verified_at TIMESTAMP",
        "ALTER TABLE Change ADD IF NOT EXISTS reason STRING",
    ),
    ("ALTER TABLE Change ADD IF NOT EXISTS image STRING",),
    (
        "CREATE NODE TABLE IF NOT EXISTS Request(id STRING, operation STRING, answer STRING, at TIMESTAMP, "
        "PRIMARY KEY(id))",
    ),
    (
        "CREATE NODE TABLE IF NOT EXISTS Item(id STRING, project STRING, `key` STRING, session STRING, "
        "`value` STRING, namespace STRING[], chunks STRING[], position INT64, ttl DOUBLE, "
        "created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP, PRIMARY KEY(id))",
    ),
)
"""The statements that lead from version 1 to 2, from 2 to 3, and so on.

A column is added where it is missing: some stores of version 1 have columns of version 2 already.
"""


def _columns(table: Table) -> tuple[str, ...]:
    return tuple(f"`{column.name}` {CYPHER_TYPES[column.kind]}" for column in table.columns)


def _create_edges(table: EdgeTable) -> str:
    inside = ", ".join((f"FROM {table.source} TO {table.target}", *_columns(table)))
    return f"CREATE REL TABLE {table.name}({inside})"


def schema_statements() -> tuple[str, ...]:
    """Return the statements that create every table of the current version."""
    nodes = (
        f"CREATE NODE TABLE {table.name}({', '.join(_columns(table))}, PRIMARY KEY(id))"
        for table in NODE_TABLES
    )
    return (
        *nodes,
        "CREATE NODE TABLE Meta(name STRING, `value` STRING, PRIMARY KEY(name))",
        *map(_create_edges, (*EDGE_TABLES, *CHUNK_EDGE_TABLES)),
    )


def prepare_schema(
    engine: Engine, *, new: bool = True, version: int = SCHEMA_VERSION, migrations: Steps = MIGRATIONS
) -> None:
    """Create the tables of a new store, or bring an older one up to date, in one transaction.

    Args:
        new: Whether the store may be new; else it must have tables.
        version: The version to arrive at.
        migrations: The steps from version 1 on.

    Raises:
        SchemaError: The store was written by a newer version; it is untouched.
        StorageError: It must have tables and has none.
    """
    found = stored_version(engine)
    if found is None and not new:
        raise StorageError(f"{engine.file}: a store was written here, but its log is gone or empty; {REMEDY}")
    if found is None:
        _apply(engine, schema_statements(), version)
    elif found > version:
        raise _too_new(engine.file, found, version)
    elif found < version:
        steps = migrations[found - 1 : version - 1]
        _apply(engine, tuple(statement for step in steps for statement in step), version)


def stored_version(engine: Engine) -> int | None:
    """Return the schema version that a store was written with; None for an empty one."""
    with engine.reading() as query:
        tables = {name for (name,) in query("CALL show_tables() RETURN name", {})}
        if not tables:
            return None
        if "Meta" not in tables:
            raise StorageError(f"{engine.file}: is a graph, but not one of HydraMem's; name another folder")
        found = query("MATCH (m:Meta {name: 'schema_version'}) RETURN m.`value`", {})
    if not found or not found[0][0].isdecimal():
        raise StorageError(f"{engine.file}: does not say its schema version; restore a backup")
    return int(found[0][0])


def _apply(engine: Engine, statements: tuple[str, ...], version: int) -> None:
    with engine.writing() as query:
        for statement in statements:
            query(statement, {})
        set_meta(query, {"schema_version": str(version)})


def set_meta(query: Query, values: dict[str, str]) -> None:
    """Set some of the store's own facts."""
    for name, value in values.items():
        query(
            "MERGE (m:Meta {name: $name}) ON CREATE SET m.`value` = $value ON MATCH SET m.`value` = $value",
            {"name": name, "value": value},
        )


def graph_file(folder: Path, engine: str) -> Path:
    """Return where an engine keeps its graph in a store's folder: the generation that serves."""
    return serving_file(folder / f"{engine}.db")


def check_folder(folder: Path, engine: str, *, salvage: bool = False) -> bool:
    """Check, before anything is opened, that a folder is new or was written by this engine.

    Opening alone lets an engine write to its file, so a newer store must be told from outside.

    Args:
        folder, engine: The folder of the graph, and the engine.
        salvage: Whether the graph file may be gone or empty.

    Returns:
        Whether a store was written there.

    Raises:
        SchemaError: A newer version wrote it.
        StorageError: Another engine wrote it, or its graph file is gone or empty.
    """
    if not check_engine(folder, engine):
        return False
    file = graph_file(folder, engine)
    log = file.with_name(file.name + ".wal")
    # The engine would take an empty or missing file for a new store and start over in silence.
    if not salvage and (not file.exists() or (file.stat().st_size == 0 and not log.exists())):
        raise StorageError(f"{file}: the graph file is gone or empty; {REMEDY}")
    return True


def check_engine(folder: Path, engine: str) -> bool:
    """Check that no other engine and no newer version wrote a folder; return whether anyone did.

    Raises:
        SchemaError: A newer version wrote it.
        StorageError: Another engine wrote it, or the note about that is damaged.
    """
    marker = folder / MARKER
    if not marker.exists():
        return False
    mark = marker.read_bytes().strip().decode("utf-8", "replace")
    wrote, _, version = mark.partition(" ")
    if wrote not in (*ENGINES, ON_A_SERVER) or not (version.isdecimal() or mark == wrote):
        raise StorageError(
            f"{marker}: is damaged; it holds the name of the engine and the schema version; restore a backup"
        )
    if version and int(version) > SCHEMA_VERSION:
        raise _too_new(folder, int(version), SCHEMA_VERSION)
    if wrote != engine:
        raise StorageError(
            f"{folder}: was written by {wrote!r}, and {engine} cannot read it; set storage.graph: {wrote}, "
            "or move the memory with dump and load"
        )
    return True


def mark_folder(folder: Path, engine: str) -> None:
    """Write down which engine and schema version a folder belongs to, once its schema is complete."""
    marker, mark = folder / MARKER, f"{engine} {SCHEMA_VERSION}\n"
    if not marker.exists() or marker.read_text(encoding="utf-8") != mark:
        marker.write_text(mark, encoding="utf-8")


def _too_new(place: Path, found: int, known: int) -> SchemaError:
    return SchemaError(
        f"{place}: has schema version {found}, this HydraMem reads up to {known}; "
        "use a newer HydraMem; the store is untouched"
    )
