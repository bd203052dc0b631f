"""Tokens in a table: the contract of the file, on every node."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from psycopg.conninfo import make_conninfo

from hydramem.core.errors import InvalidInputError, NotFoundError, ReadOnlyError
from hydramem.storage.postgres import token_table
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.token_table import TokenTable
from hydramem.storage.tokens.token_rows import good_token, make_token, revoke_token
from tests.storage.postgres_server import new_schema, server_address


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TokenTable, TokenTable]]:
    """Two nodes of one memory, which keep nothing that they have read."""
    monkeypatch.setattr(token_table, "_KEPT_SECONDS", 0.0)
    address, schema = server_address(), new_schema()
    with (
        closing(TokenTable(Database(address, schema=schema, most_connections=2))) as one,
        closing(TokenTable(Database(address, schema=schema, most_connections=2))) as other,
    ):
        yield one, other
        with one._database.transaction() as connection:
            connection.execute(f'drop schema "{schema}" cascade')


def test_what_one_node_makes_and_revokes_another_sees(nodes, tmp_path: Path):
    one, other = nodes
    row, token = make_token(one, "ann", role="writer", projects=["billing", "é 'x'"])
    assert good_token(other.rows(), token) == row
    with pytest.raises(InvalidInputError, match="ann"):
        make_token(other, "ann", role="reader")
    make_token(other, "bo", role="reader")
    revoke_token(other, "ann")
    assert good_token(one.rows(), token) is None
    assert [each.name for each in one.rows()] == ["ann", "bo"]
    with pytest.raises(NotFoundError):
        revoke_token(one, "ann")


def test_the_table_holds_no_token_and_no_call_for_some_projects_reads_it(nodes):
    one, _ = nodes
    _, token = make_token(one, "ann", role="owner")
    schema = one._database.schema
    with one._database.transaction() as connection:
        ((row,),) = connection.execute("select row from server_tokens").fetchall()
    assert token not in row and "ann" in row
    with closing(Database(server_address(), schema=schema, projects=lambda: ["billing"])) as bounded:
        from hydramem.core.errors import StorageError

        with pytest.raises(StorageError), bounded.transaction() as connection:
            connection.execute("select row from server_tokens")


def read_only(schema: str) -> Database:
    """Return a database that refuses every write, as a standby does."""
    address = make_conninfo(server_address(), options="-c default_transaction_read_only=on")
    return Database(address, schema=schema, most_connections=2)


def test_a_server_that_takes_no_writes_is_read(nodes):
    one, _ = nodes
    row, token = make_token(one, "ann", role="reader")
    with closing(TokenTable(read_only(one._database.schema))) as standby:
        assert good_token(standby.rows(), token) == row
        with pytest.raises(ReadOnlyError):
            revoke_token(standby, "ann")
        assert good_token(standby.rows(), token) == row
        revoke_token(one, "ann")
        assert good_token(standby.rows(), token) is None


def test_where_the_table_is_missing_no_token_is_taken_for_none(nodes):
    one, _ = nodes
    with one._database.transaction() as connection:
        connection.execute("drop table server_tokens")
    with closing(read_only(one._database.schema)) as database, pytest.raises(ReadOnlyError):
        TokenTable(database)  # not "there are no tokens", which would let everybody in
    TokenTable(one._database)
    make_token(one, "bo", role="reader")
