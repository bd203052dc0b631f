"""The tables on PostgreSQL: made once, of a known version, and reached without a word of the address."""

import logging
import threading
import traceback
from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.errors import SchemaError, StorageError
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.postgres.schema_statements import (
    ADDED,
    FIRST_VERSION,
    MIGRATIONS,
    columns_of,
    prepare_schema,
    set_meta,
)
from hydramem.storage.schema import EDGE_TABLES, NODE_TABLES, SCHEMA_VERSION
from tests.storage.postgres_server import new_schema, server_address
from tests.storage.rows import chunk, entity, mention, write


@pytest.fixture
def schema() -> Iterator[str]:
    name = new_schema()
    yield name
    with Database(server_address(), schema=name).transaction() as connection:
        connection.execute(f'DROP SCHEMA "{name}" CASCADE'.encode())


def opened(schema: str) -> PostgresGraph:
    return open_postgres_graph(Database(server_address(), schema=schema, most_connections=2))


def test_every_version_since_the_first_has_its_step() -> None:
    assert len(MIGRATIONS) == SCHEMA_VERSION - FIRST_VERSION


def test_the_tables_have_the_columns_of_the_schema(schema: str) -> None:
    graph = opened(schema)
    with graph.database.reading() as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s", [schema]
        ).fetchall()
    graph.close()
    for table in (*NODE_TABLES, *EDGE_TABLES):
        added = {text.split('"')[1] for text in ADDED.get(table.name, ())}
        found = {column for name, column in rows if name == table.name.lower()}
        assert found == {*columns_of(table), *added}, table.name


def test_processes_that_open_a_new_store_at_once_make_it_once(schema: str) -> None:
    failures: list[BaseException] = []

    def open_and_write(number: int) -> None:
        try:
            graph = opened(schema)
            graph.write(write(chunks=(chunk(f"c{number}"),)))
            graph.close()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=open_and_write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    graph = opened(schema)
    assert graph.count_chunks() == 4
    graph.close()


def test_a_newer_store_is_left_alone(schema: str) -> None:
    graph = opened(schema)
    set_meta(graph.database, {"schema_version": str(SCHEMA_VERSION + 1)})
    graph.close()
    with pytest.raises(SchemaError, match=f"schema version {SCHEMA_VERSION + 1}.*untouched"):
        opened(schema)


def test_a_step_leads_to_the_next_version_and_one_that_fails_to_none(schema: str) -> None:
    graph = opened(schema)
    later = SCHEMA_VERSION + 1
    step = ("ALTER TABLE chunk ADD COLUMN colour text", "UPDATE chunk SET colour = 'red'")
    graph.write(write(chunks=(chunk(),)))
    with pytest.raises(StorageError, match="nowhere"):
        prepare_schema(
            graph.database, version=later, migrations=(*MIGRATIONS, (*step, "SELECT * FROM nowhere"))
        )
    assert graph.meta()["schema_version"] == str(SCHEMA_VERSION)
    prepare_schema(graph.database, version=later, migrations=(*MIGRATIONS, step))
    assert graph.meta()["schema_version"] == str(later)
    with graph.database.reading() as connection:
        assert connection.execute("SELECT colour FROM chunk").fetchall() == [("red",)]
    graph.close()


def test_edges_follow_the_project_of_their_chunk(schema: str) -> None:
    graph = opened(schema)
    graph.write(write(chunks=(chunk(project="p"),), entities=(entity(),), mentions=(mention(),)))
    graph.write(write(chunks=(chunk(project="q"),)))
    with graph.database.reading() as connection:
        assert connection.execute("SELECT project FROM mentions").fetchall() == [("q",)]
    graph.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://hm_user:s3cret@127.0.0.1:9/hm_db",
        "host=127.0.0.1 port=9 user=hm_user password=s3cret dbname=hm_db",
        "postgresql://hm_user:s3cret@127.0.0.1:9:2/hm_db",
        "s3cret hm_user",
    ],
)
def test_an_error_tells_nothing_of_the_address(address: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(StorageError, match="HYDRAMEM_STORAGE_URL") as caught:
        Database(address)
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    for secret in ("s3cret", "hm_user", "hm_db", "127.0.0.1"):
        assert told.count(secret) == 0
