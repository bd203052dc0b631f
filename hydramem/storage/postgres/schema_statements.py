"""The tables as SQL: the statements that make them, and the steps between versions of the schema."""

from typing import TYPE_CHECKING

from hydramem.core.errors import SchemaError, StorageError
from hydramem.storage.postgres.feed import FEED_INDEX, FEED_TABLE
from hydramem.storage.postgres.project_locks import schema_lock
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    EDGE_TABLES,
    ENTITY,
    ITEM,
    JOB,
    LINKS,
    MENTIONS,
    NODE_TABLES,
    OUTBOX,
    RECALLED,
    RELATES,
    REQUEST,
    SCHEMA_VERSION,
    SESSION,
    ColumnKind,
    EdgeTable,
    NodeTable,
    Table,
)

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database

# Text is compared by its code points, as Python does, whatever the locale of the database. Times are UTC.
POSTGRES_TYPES: dict[ColumnKind, str] = {
    "text": 'text COLLATE "C"',
    "texts": 'text[] COLLATE "C"',
    "json": "text",
    "time": "timestamp",
    "number": "double precision",
    "integer": "bigint",
    "flag": "boolean",
}

_PROJECT = '"project" text COLLATE "C"'
_PROJECTS = '"projects" text[] COLLATE "C"'
_PLACE = '"place" bigint GENERATED ALWAYS AS IDENTITY'
ADDED: dict[str, tuple[str, ...]] = {
    MENTIONS.name: (_PROJECT,),
    LINKS.name: (_PROJECT,),
    RECALLED.name: (_PROJECT, _PLACE),
    OUTBOX.name: (_PROJECTS,),
    REQUEST.name: (_PROJECTS,),
    ENTITY.name: (_PLACE,),
}
"""Columns beside those of the rows: whose row it is, and in which order rows were made."""

_INDICES: dict[str, tuple[str, ...]] = {
    DOCUMENT.name: ("(project)",),
    CHUNK.name: (
        "(project, recorded_at)",
        "(document, position) WHERE document IS NOT NULL",
        "(session, position) WHERE session IS NOT NULL",
        "(expires_at) WHERE expires_at IS NOT NULL",
    ),
    ENTITY.name: ("(project)", "USING hash (key)"),  # a name may be longer than a row of a btree
    SESSION.name: ("(project)",),
    ITEM.name: ("(project)",),
    CHANGE.name: (
        "(target)",
        "(at)",
        "(project, at)",
        "(coalesce(run, id))",
        "(request) WHERE request IS NOT NULL",
    ),
    JOB.name: ("(created_at)",),
    MENTIONS.name: ("(entity)", "(project)"),
    RELATES.name: ("(object)", "(project)"),
    LINKS.name: ("(target)", "(project)"),
    RECALLED.name: ("(session)", "(chunk)", "(project)"),
}

Steps = tuple[tuple[str, ...], ...]
FIRST_VERSION = 5
"""Of the schema that the first stores on PostgreSQL had."""
MIGRATIONS: Steps = ()
"""The statements that lead from the first version to the next, from that to the one after, and so on."""


def table_name(table: Table) -> str:
    """Return the name of a table in the database."""
    return f'"{table.name.lower()}"'


def columns_of(table: Table) -> tuple[str, ...]:
    """Return the columns of a table, in the order that `row_codec.encode` gives and `decode` reads."""
    ends = table.ends if isinstance(table, EdgeTable) else ()
    return (*ends, *(column.name for column in table.columns))


def key_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that identify a row; recalls have none."""
    return () if table is RECALLED else table.key_fields


def _create(table: NodeTable | EdgeTable) -> str:
    ends = [f'"{end}" {POSTGRES_TYPES["text"]}' for end in table.ends] if isinstance(table, EdgeTable) else []
    columns = [f'"{column.name}" {POSTGRES_TYPES[column.kind]}' for column in table.columns]
    key = ", ".join(f'"{name}"' for name in key_columns(table))
    inside = (*ends, *columns, *ADDED.get(table.name, ()), *([f"PRIMARY KEY ({key})"] if key else ()))
    return f"CREATE TABLE {table_name(table)} ({', '.join(inside)})"


def schema_statements() -> tuple[str, ...]:
    """Return the statements that create every table of the current version, and its indices."""
    tables: tuple[NodeTable | EdgeTable, ...] = (*NODE_TABLES, *EDGE_TABLES)
    return (
        'CREATE TABLE "meta" ("name" text COLLATE "C" PRIMARY KEY, "value" text NOT NULL)',
        *map(_create, tables),
        FEED_TABLE,
        FEED_INDEX,
        *(
            f"CREATE INDEX ON {table_name(table)} {index}"
            for table in tables
            for index in _INDICES.get(table.name, ())
        ),
    )


def prepare_schema(
    database: "Database", *, version: int = SCHEMA_VERSION, migrations: Steps = MIGRATIONS
) -> None:
    """Create the tables of a new store, or bring an older one up to date, in one transaction.

    Of several processes that open the store at once, one does it and the others wait.

    Args:
        database: Whose schema has the tables, or gets them.
        version: The version to arrive at.
        migrations: The steps from `FIRST_VERSION` on.

    Raises:
        SchemaError: A newer version wrote the store; it is untouched.
        StorageError: The schema has a table `meta` that is not of HydraMem, or cannot be changed.
    """
    with database.transaction() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [schema_lock(database.schema)])
        found = connection.execute("SELECT to_regclass(%s)", [f'"{database.schema}"."meta"']).fetchone()
        if found is None or found[0] is None:
            statements = schema_statements()
        else:
            statements = _steps_from(_stored_version(database), version, migrations)
        for statement in statements:
            connection.execute(statement.encode())
        if statements:
            set_meta(database, {"schema_version": str(version)})


def _stored_version(database: "Database") -> int:
    with database.transaction() as connection:
        row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    if row is None or not str(row[0]).isdecimal():
        raise StorageError(
            f"schema {database.schema!r} of the database does not say its version; restore a backup"
        )
    return int(row[0])


def _steps_from(found: int, version: int, migrations: Steps) -> tuple[str, ...]:
    if found > version:
        raise SchemaError(
            f"the database has schema version {found}, this HydraMem reads up to {version}; "
            "use a newer HydraMem; the store is untouched"
        )
    steps = migrations[found - FIRST_VERSION : version - FIRST_VERSION]
    return tuple(statement for step in steps for statement in step)


def set_meta(database: "Database", values: dict[str, str]) -> None:
    """Set some of the store's own facts."""
    with database.transaction() as connection:
        for name, value in values.items():
            connection.execute(
                "INSERT INTO meta (name, value) VALUES (%s, %s) "
                "ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
                [name, value],
            )
