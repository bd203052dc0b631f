"""The tables of a vector store in PostgreSQL, and the queries' way to name them.

A space is one embedder's vectors: tables that share a prefix, so that a reindex fills a second space beside
the one in use. Vectors stand in the rows themselves (`storage plain`), filter columns beside them, and texts
in a table of their own: a row with both goes out of line, and reads take 2.7 times as long.
"""

import re

from psycopg import sql

from hydramem.core.errors import EmbeddingMismatchError
from hydramem.storage.postgres.connection import Connection, Database

TIMES = ("happened_at", "valid_from", "valid_to", "recorded_at", "retired_at", "expires_at")
NAMES = ("project", "kind", "layer", "scope", "state", "session", "document")
MOST_INDEXED_DIMENSION = 2000
"""Longer vectors have no index in pgvector: they are searched exactly."""

# A row of a table must fit in a page of 8 kB where its vector may not move out of line.
_MOST_PLAIN_DIMENSION = 1800
_SPACE = re.compile(r"[a-z0-9_]{1,40}")
_INDICES = ("project", "written", "vectors")
_TABLES = ("chunks", "entities", "texts", "postings", "text_counts", "frequent_words", "gone")

# The ids of rows that were deleted, for those who hold them in memory; upkeep forgets them.
_CREATE_GONE = (
    """
    create table if not exists {gone} (
        id text collate "C" not null,
        kind text not null,
        project text collate "C" not null,
        written xid8 not null default pg_current_xact_id(),
        at timestamptz not null default now()
    )""",
    "create index if not exists {gone_written} on {gone} (written)",
)
_CREATE = (
    f"""
    create table if not exists {{chunks}} (
        number bigint generated always as identity unique,
        id text collate "C" primary key,
        {", ".join(f'{name} text collate "C"' for name in NAMES)},
        categories text[],
        private boolean not null,
        confidence double precision,
        {", ".join(f"{name} timestamp" for name in TIMES)},
        mirror text not null,
        written xid8 not null default pg_current_xact_id(),
        embedding vector({{dimension}}) storage {{storage}}
    )""",
    "create index if not exists {chunks_project} on {chunks} (project, state)",
    "create index if not exists {chunks_written} on {chunks} (written)",
    """
    create table if not exists {entities} (
        id text collate "C" primary key,
        project text collate "C" not null,
        name text not null,
        mirror text not null,
        written xid8 not null default pg_current_xact_id(),
        embedding vector({dimension}) storage {storage} not null
    )""",
    "create index if not exists {entities_project} on {entities} (project)",
    "create index if not exists {entities_written} on {entities} (written)",
    """
    create table if not exists {texts} (
        number bigint primary key,
        project text collate "C" not null,
        text text not null,
        words text[] not null,
        length integer not null
    )""",
    """
    create table if not exists {postings} (
        word text collate "C",
        number bigint,
        count integer not null,
        length integer not null,
        project text collate "C" not null,
        primary key (word, number) include (count, length, project)
    )""",
    # One row a write, folded by upkeep: writers of one counter would wait for each other.
    """
    create table if not exists {text_counts} (
        project text collate "C" not null,
        rows bigint not null,
        words bigint not null
    )""",
    # How many rows held a word when upkeep counted; the word '' stands for every row.
    """
    create table if not exists {frequent_words} (
        project text collate "C",
        word text collate "C",
        rows bigint not null,
        primary key (word, project)
    )""",
    *_CREATE_GONE,
)


class SpaceTables:
    """The tables of one space, by which statements name them.

    Args:
        database: Its schema holds the tables.
        space: Name of the space, such as `vectors`; dashes become underscores.
    """

    def __init__(self, database: Database, space: str) -> None:
        self.space = space.replace("-", "_")
        if not _SPACE.fullmatch(self.space):
            raise ValueError(f"no name of a space: {space!r}")
        self.schema = database.schema
        indices = [f"{table}_{kind}" for table in ("chunks", "entities") for kind in _INDICES]
        self._named: dict[str, bytes] = {}
        self._names = {
            **{name: sql.Identifier(database.schema, f"{self.space}_{name}") for name in _TABLES},
            # An index is made in its table's schema, and named without it.
            **{name: sql.Identifier(f"{self.space}_{name}") for name in (*indices, "gone_written")},
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The tables' own names, without the schema."""
        return tuple(f"{self.space}_{name}" for name in _TABLES)

    def naming(self, statement: str, **parts: sql.Composable) -> bytes:
        """Return a statement with the tables' names in the place of `{chunks}` and so on."""
        if parts:
            return sql.SQL(statement).format(**self._names, **parts).as_bytes()
        named = self._named.get(statement)
        if named is None:
            named = self._named[statement] = sql.SQL(statement).format(**self._names).as_bytes()
        return named

    def create(self, connection: Connection, dimension: int) -> None:
        """Create the tables that are missing.

        Raises:
            EmbeddingMismatchError: They hold vectors of another length.
        """
        held = self.stored_dimension(connection)
        if held == dimension:
            self._add_gone(connection)
            return
        if held is not None:
            raise EmbeddingMismatchError(
                f"the database's vectors have length {held}, the embedder makes {dimension}; "
                "use the embedder that made them, or `hydramem reindex`"
            )
        connection.execute("select pg_advisory_xact_lock(hashtextextended('hydramem', 0))")
        storage = "plain" if dimension <= _MOST_PLAIN_DIMENSION else "external"
        parts = {"dimension": sql.Literal(dimension), "storage": sql.SQL(storage)}
        for statement in _CREATE:
            connection.execute(self.naming(statement, **parts))

    def _add_gone(self, connection: Connection) -> None:
        """Create the table that spaces of earlier versions lack."""
        row = connection.execute("select to_regclass(%s)", [self.qualified("gone")]).fetchone()
        if row is None or row[0] is None:
            connection.execute("select pg_advisory_xact_lock(hashtextextended('hydramem', 0))")
            for statement in _CREATE_GONE:
                connection.execute(self.naming(statement))

    def qualified(self, table: str) -> str:
        """Return the quoted name of a table with its schema, as `to_regclass` takes it."""
        return f'"{self.schema}"."{self.space}_{table}"'

    def stored_dimension(self, connection: Connection) -> int | None:
        """Return the length of the vectors that the tables hold; None where there are no tables."""
        row = connection.execute(
            "select atttypmod from pg_attribute where attname = 'embedding' and attrelid = to_regclass(%s)",
            [self.qualified("chunks")],
        ).fetchone()
        return None if row is None else int(row[0])

    def drop(self, connection: Connection) -> None:
        """Delete the tables, with all that they hold."""
        for name in _TABLES:
            connection.execute(self.naming(f"drop table if exists {{{name}}}"))
