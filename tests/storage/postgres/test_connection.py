"""Connections: what notices a dead host, and what an error says."""

from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg
from psycopg.conninfo import make_conninfo

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.pipelines import Statement, run_together
from hydramem.storage.postgres.server_epochs import ServerEpochs
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


def test_each_statement_sees_what_was_committed_before_it_whatever_the_address_says() -> None:
    options = r"-c default_transaction_isolation=repeatable\ read"
    database = Database(make_conninfo(server_address(), options=options), schema="public", most_connections=1)
    with closing(database), database.transaction() as connection:
        assert connection.execute("SHOW transaction_isolation").fetchone() == ("read committed",)


def test_a_lost_server_begins_one_epoch_however_many_connections_break() -> None:
    database = Database(server_address(), schema="public", most_connections=4)
    with closing(database):
        with database.apart() as one, database.apart() as other:
            began = database.epoch
            pids = [one.info.backend_pid, other.info.backend_pid]
        assert database.epoch == began
        with psycopg.connect(server_address(), autocommit=True) as connection:
            connection.execute("select pg_terminate_backend(pid, 5000) from unnest(%s::int[]) as pid", [pids])
        for _ in pids:
            with suppress(StorageError), database.apart() as broken:
                broken.execute("select 1")
        with database.apart() as connection:
            connection.execute("select 1")
            assert database.epoch == began + 1


def test_another_server_begins_an_epoch() -> None:
    database = Database(server_address(), schema="public", most_connections=1)
    with closing(database), database.apart() as connection:
        epochs, start = ServerEpochs(), datetime(2026, 1, 1, tzinfo=UTC)
        epochs.joined(connection, start)
        epochs.joined(connection, start)
        assert epochs.current == 0
        epochs.joined(connection, start + timedelta(seconds=1))
        assert epochs.current == 1


@pytest.mark.parametrize("names", [1, 3])
def test_statements_after_one_that_failed_run_on_the_same_connection_later(names: int) -> None:
    """A statement is prepared when it repeats; one that never reached the server is not."""
    questions: list[Statement | None] = [(f"SELECT %(given)s::int + {n}", {"given": 1}) for n in range(names)]
    divided = "SELECT 1 / %(given)s::int"
    database = Database(server_address(), schema="public", most_connections=1)
    with closing(database), database.apart() as connection:
        for _ in range(5):
            run_together(connection, [(divided, {"given": 1}), *questions])
        with pytest.raises(psycopg.errors.DivisionByZero):
            run_together(connection, [(divided, {"given": 0}), *questions])
        for _ in range(2):
            answers = run_together(connection, [(divided, {"given": 1}), *questions])
            assert answers[1:] == [[(1 + n,)] for n in range(names)]
