"""Tokens of the HTTP server in a table, which every node of a memory reads."""

import time
from collections.abc import Callable, Iterable

import msgspec

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Connection, Database
from hydramem.storage.postgres.row_security import secure_tables
from hydramem.storage.tokens.token_rows import TokenRow

_KEPT_SECONDS = 1.0
"""How long rows are kept that were read: so long a node still accepts a token that another has revoked."""
_MAKE = "create table server_tokens (place integer primary key, row text not null)"


class TokenTable:
    """The tokens of one schema; safe to use from many threads and nodes.

    The table has no project, so no call for some projects reads it (`row_security`). It is made where it is
    missing; a server that takes no writes can be read where it has the table.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read: tuple[float, tuple[TokenRow, ...]] = (-_KEPT_SECONDS, ())
        with database.transaction() as connection:
            if _has_table(connection, database) and _is_read_only(connection):
                return  # a standby, which reads what the primary made
            _lock(connection, database)
            if not _has_table(connection, database):
                connection.execute(_MAKE)
            secure_tables(database, connection)

    def rows(self) -> tuple[TokenRow, ...]:
        """Return every token, the oldest first, as they were at most a second ago.

        Raises:
            StorageError: The database cannot be reached, or a row is damaged.
        """
        at, rows = self._read
        if time.monotonic() - at >= _KEPT_SECONDS:
            with self._database.reading() as connection:
                rows = _rows(connection)
            self._read = (time.monotonic(), rows)
        return rows

    def change(self, edit: Callable[[tuple[TokenRow, ...]], Iterable[TokenRow]]) -> None:
        """Replace the rows by what `edit` makes of them, while no node changes them.

        Raises:
            StorageError: The database refused, or cannot be reached; nothing is changed.
        """
        with self._database.transaction() as connection:
            _lock(connection, self._database)
            rows = tuple(edit(_rows(connection)))
            connection.execute("delete from server_tokens")
            with connection.cursor() as cursor:
                cursor.executemany(
                    "insert into server_tokens (place, row) values (%s, %s)",
                    [(place, msgspec.json.encode(row).decode()) for place, row in enumerate(rows)],
                )
        self._read = (time.monotonic(), rows)

    def close(self) -> None:
        """Close the connections."""
        self._database.close()


def _has_table(connection: Connection, database: Database) -> bool:
    name = f'"{database.schema}".server_tokens'
    return connection.execute("select to_regclass(%s) is not null", [name]).fetchone() == (True,)


def _is_read_only(connection: Connection) -> bool:
    found = connection.execute("select current_setting('transaction_read_only')").fetchone()
    return found == ("on",)


def _lock(connection: Connection, database: Database) -> None:
    name = f"{database.schema} tokens"
    connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def _rows(connection: Connection) -> tuple[TokenRow, ...]:
    found = connection.execute("select row from server_tokens order by place").fetchall()
    try:
        return tuple(msgspec.json.decode(row, type=TokenRow) for (row,) in found)
    except msgspec.MsgspecError as error:
        raise StorageError(f"a token in the database is damaged, so none is accepted: {error}") from error
