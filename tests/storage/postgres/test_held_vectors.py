"""Vectors held in memory by one node follow what every other node writes."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import ChunkVector, EntityVector, Vector
from tests.storage import rows
from tests.storage.postgres_server import new_schema, server_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.vectors.vectors import PostgresVectors, open_vectors

ALL = ChunkFilter(states=())


def axis(number: int) -> Vector:
    return np.eye(8, dtype=np.float32)[number]


def item(id: str, number: int | None, **fields: str) -> ChunkVector:
    return ChunkVector(chunk=rows.chunk(id, **fields), vector=None if number is None else axis(number))


@pytest.fixture
def nodes() -> Iterator[tuple[PostgresVectors, PostgresVectors]]:
    """Return the stores of two nodes on one database."""
    schema = new_schema()
    databases = [Database(server_address(), schema=schema, most_connections=4) for _ in range(2)]
    first, second = (open_vectors(one, "vectors", 8, StorageConfig()) for one in databases)
    yield first, second
    with databases[0].transaction() as connection:
        connection.execute(f'drop schema "{schema}" cascade')
    for one in databases:
        with closing(one):
            pass


def nearest(store: PostgresVectors, number: int, where: ChunkFilter = ALL, limit: int = 1) -> list[str]:
    return [hit.id for hit in store.nearest(axis(number), where, limit)]


def test_what_another_node_writes_changes_and_deletes_is_seen_at_the_next_search(
    nodes: tuple[PostgresVectors, PostgresVectors],
) -> None:
    here, there = nodes
    here.put([item("a", 0), item("b", 1)])
    assert nearest(here, 0) == nearest(there, 0) == ["a"]
    there.put([item("c", 2), item("a", 3)])
    assert nearest(here, 2) == ["c"]
    assert nearest(here, 3) == ["a"]
    there.remove(chunks=["c"])
    assert nearest(here, 2, limit=5) == ["a", "b"]
    there.put([item("b", None)])
    assert nearest(here, 1, limit=5) == ["a"]
    there.put(entities=[EntityVector(entity=rows.entity("e"), vector=axis(4))])
    assert [hit.id for hit in here.nearest_entities(axis(4), ("p",), 3)] == ["e"]
    there.put([item("a", 3, project="q")])
    assert nearest(here, 3, ChunkFilter(projects=("p",))) == []
    assert nearest(here, 3, ChunkFilter(projects=("q",))) == ["a"]


def test_a_row_that_is_committed_after_a_later_one_was_seen_is_not_missed(
    nodes: tuple[PostgresVectors, PostgresVectors],
) -> None:
    here, there = nodes
    with there._database.transaction():
        there.put([item("early", 0)])  # has the lower number, and the lower transaction
        here.put([item("late", 1)])
        assert nearest(here, 0, limit=5) == ["late"]
        assert nearest(there, 0, limit=5) == ["early", "late"]
    here.put([item("last", 2)])
    assert nearest(here, 0) == ["early"]


def test_a_narrow_filter_finds_rows_that_are_not_among_the_nearest(
    nodes: tuple[PostgresVectors, PostgresVectors], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hydramem.storage.postgres.vectors import vectors

    monkeypatch.setattr(vectors, "_FEW_CANDIDATES", 3)
    monkeypatch.setattr(vectors, "_CANDIDATES_OF_LIMIT", 1)
    here, _ = nodes
    here.put([item(f"near{number}", 0) for number in range(20)])
    here.put([item("far", 1, scope="/rare"), item("farther", 2, scope="/rare")])
    assert sorted(nearest(here, 0, ChunkFilter(scope="/rare"), limit=5)) == ["far", "farther"]


def test_a_table_that_outgrows_memory_is_searched_in_the_database(
    nodes: tuple[PostgresVectors, PostgresVectors],
) -> None:
    here, _ = nodes
    small = open_vectors(here._database, "vectors", 8, StorageConfig(index_rows=3))
    here.put([item(f"c{number}", number) for number in range(3)])
    assert nearest(small, 1) == ["c1"]
    assert small._held["chunks"].candidates(axis(0), 1) is not None
    here.put([item("c3", 3)])
    assert nearest(small, 3) == ["c3"]
    assert small._held["chunks"].candidates(axis(0), 1) is None
    here.put([item("c4", 4)])
    assert nearest(small, 4) == ["c4"]


def test_rows_of_a_restored_dump_are_read_once(nodes: tuple[PostgresVectors, PostgresVectors]) -> None:
    here, there = nodes
    here.put([item("old", 0)])
    with here._database.transaction() as connection:  # as the server had counted that wrote the dump
        connection.execute(f"update vectors_chunks set written = '{2**62}'::xid8")
    assert nearest(there, 0) == ["old"]
    there._held["chunks"]._matrix[0] = axis(5)  # what is read again would be as it is stored
    here.put([item("new", 1)])
    assert nearest(there, 1) == ["new"]
    assert nearest(there, 5) == ["old"]
    here.put([item("old", 2)])
    assert nearest(there, 2) == ["old"]


def test_a_database_that_counts_from_earlier_is_read_anew(
    nodes: tuple[PostgresVectors, PostgresVectors],
) -> None:
    here, there = nodes
    here.put([item("a", 0)])
    assert nearest(there, 0) == ["a"]
    there._held["chunks"]._seen_to = str(2**62)  # as a server had counted whose standby took over
    here.put([item("b", 1)])
    assert nearest(there, 1) == ["b"]
