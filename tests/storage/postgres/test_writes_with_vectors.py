"""A write and its vectors in one transaction: what becomes of the write where the vectors fail."""

from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.core.row_types import Mention
from hydramem.storage.postgres.connection import Database, LostConnectionError
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from tests.storage.postgres_server import new_schema, server_address
from tests.storage.rows import chunk, write

IMPATIENT = "-c lock_timeout=300"
Nodes = tuple[PostgresGraph, PostgresGraph]


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    schema = new_schema()
    address = f"{server_address()}&options={IMPATIENT.replace(' ', '%20').replace('=', '%3D')}"
    one, other = (open_postgres_graph(Database(address, schema=schema, most_connections=4)) for _ in range(2))
    yield one, other
    with other.database.transaction() as connection:
        connection.execute(f'DROP SCHEMA "{schema}" CASCADE'.encode())
    one.close()
    other.close()


def broken_vectors() -> None:
    raise InvalidInputError("vector of c1: zero, it points nowhere")


def test_a_write_stands_where_its_vectors_are_wrong(nodes: Nodes) -> None:
    graph, _ = nodes
    row, error = graph.write_with(write(chunks=(chunk("c1"),)), broken_vectors, last=False)
    assert isinstance(error, InvalidInputError)
    assert [each.id for each in graph.outbox()] == [row]
    assert [each.id for each in graph.chunks(["c1"])] == ["c1"]


def test_a_write_stands_where_the_database_refuses_its_vectors(nodes: Nodes) -> None:
    graph, _ = nodes

    def refused() -> None:
        with graph.database.transaction() as connection:
            connection.execute("SELECT 1 / 0")  # nobody reads the answer

    row, error = graph.write_with(write(chunks=(chunk("c1"),)), refused, last=False)
    assert isinstance(error, StorageError) and "22012" in str(error)
    assert [each.id for each in graph.outbox()] == [row]
    assert graph.count_chunks() == 1


def test_a_write_with_its_vectors_leaves_nothing_to_replicate(nodes: Nodes) -> None:
    graph, _ = nodes
    put: list[int] = []
    assert graph.write_with(write(chunks=(chunk("c1"),)), lambda: put.append(1), last=False) == (None, None)
    assert put == [1] and graph.outbox() == () and graph.count_chunks() == 1


def test_rows_that_are_wrong_are_refused_with_their_vectors(nodes: Nodes) -> None:
    graph, _ = nodes
    dangling = write(chunks=(chunk("c1"),), mentions=(Mention(chunk="c1", entity="nobody"),))
    with pytest.raises(InvalidInputError, match="nobody"):
        graph.write_with(dangling, lambda: None, last=False)
    assert graph.count_chunks() == 0 and graph.outbox() == ()


def test_a_write_whose_connection_is_lost_is_not_tried_again(nodes: Nodes) -> None:
    graph, other = nodes

    def lost() -> None:
        with graph.database.transaction() as connection:
            pid = connection.info.backend_pid
        with other.database.apart() as connection:
            connection.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

    tried: list[int] = []

    def put() -> None:
        tried.append(1)
        lost()

    with pytest.raises(LostConnectionError):
        graph.write_with(write(chunks=(chunk("c1"),)), put, last=False)
    assert tried == [1] and other.count_chunks() == 0


def test_the_last_write_of_a_holder_lets_others_in_with_its_commit(nodes: Nodes) -> None:
    graph, other = nodes
    with graph.writing_alone(["p"]):
        graph.write_with(write(chunks=(chunk("c1"),)), lambda: None, last=False)
        with pytest.raises(StoreBusyError):
            other.writing_alone(["p"]).__enter__()
        graph.write_with(write(chunks=(chunk("c2"),)), lambda: None, last=True)
        with other.writing_alone(["p"]):
            assert other.count_chunks() == 2
    with other.writing_alone(None):
        pass
