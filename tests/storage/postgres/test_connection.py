"""Connections: what notices a dead host, and what an error says."""

from contextlib import closing

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from psycopg.conninfo import make_conninfo

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Database
from tests.storage.postgres_server import server_address


def parameters(address: str) -> dict[str, str]:
    database = Database(address, schema="public", most_connections=1)
    with closing(database), database.reading() as connection:
        return connection.info.get_parameters()


def test_a_connection_whose_server_died_ends() -> None:
    given = parameters(server_address())
    waits = [int(given[f"keepalives_{name}"]) for name in ("idle", "interval", "count")]
    assert waits[0] + waits[1] * waits[2] <= 30
    assert int(given["tcp_user_timeout"]) <= 30_000
    assert int(given["connect_timeout"]) <= 10


def test_what_the_address_says_of_it_is_kept() -> None:
    given = parameters(make_conninfo(server_address(), keepalives_idle=77, connect_timeout=3))
    assert (given["keepalives_idle"], given["connect_timeout"]) == ("77", "3")


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:sesame@127.0.0.1:1/x", "sesame", "postgresql://ann:sesame@127.0.0.1:1:2/x"],
)
def test_an_error_says_nothing_of_the_address(address: str) -> None:
    with pytest.raises(StorageError) as raised:
        Database(address)
    assert "sesame" not in str(raised.value) and "127.0.0.1" not in str(raised.value)
