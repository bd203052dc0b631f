"""The rows that one node holds in memory follow what every node writes."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import ChunkVector, EntityVector, Vector
from tests.storage import rows
from tests.storage.postgres_server import new_schema, server_address

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.vectors import held_reads, held_rows
from hydramem.storage.postgres.vectors.held_reads import SpaceState
from hydramem.storage.postgres.vectors.held_rows import HeldTables
from hydramem.storage.postgres.vectors.vectors import PostgresVectors, drop_vectors, open_vectors

ALL = ChunkFilter(states=())
Nodes = tuple[PostgresVectors, PostgresVectors]


def axis(number: int) -> Vector:
    return np.eye(8, dtype=np.float32)[number]


def item(id: str, number: int | None, text: str = "words", **fields: str) -> ChunkVector:
    return ChunkVector(chunk=rows.chunk(id, text, **fields), vector=None if number is None else axis(number))


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    """Return the stores of two nodes on one database."""
    schema = new_schema()
    databases = [Database(server_address(), schema=schema, most_connections=4) for _ in range(2)]
    first, second = (open_vectors(one, "vectors", 8, StorageConfig()) for one in databases)
    yield first, second
    with databases[0].transaction() as connection:
        connection.execute(f'drop schema "{schema}" cascade')
    for one in databases:
        one.close()


def nearest(store: PostgresVectors, number: int, where: ChunkFilter = ALL, limit: int = 1) -> list[str]:
    return [hit.id for hit in store.nearest(axis(number), where, limit)]


def matching(store: PostgresVectors, query: str, where: ChunkFilter = ALL, limit: int = 5) -> list[str]:
    return [hit.id for hit in store.matching(query, where, limit)]


def held(store: PostgresVectors) -> HeldTables:
    """Return what a node holds, read to the end."""
    found = store._held.current()
    assert found is not None
    return found


def test_what_another_node_writes_changes_and_deletes_is_seen_at_the_next_search(nodes: Nodes) -> None:
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
    there.remove(entities=["e"])
    assert here.nearest_entities(axis(4), ("p",), 3) == ()
    there.put([item("a", 3, project="q")])
    assert nearest(here, 3, ChunkFilter(projects=("p",))) == []
    assert nearest(here, 3, ChunkFilter(projects=("q",))) == ["a"]
    assert held(here).chunks.loaded


def test_words_that_another_node_writes_changes_and_deletes_are_found_so(nodes: Nodes) -> None:
    here, there = nodes
    here.put([item("a", 0, "otters swim"), item("b", None, "otters sleep")])
    assert matching(here, "otters swim") == matching(there, "otters swim") == ["a", "b"]
    there.put([item("b", None, "herons sleep"), item("c", 2, "otters", project="q")])
    assert matching(here, "otters") == ["c", "a"]
    assert matching(here, "herons") == ["b"]
    assert matching(here, "otters", ChunkFilter(projects=("p",))) == ["a"]
    there.remove(chunks=["c"])
    assert matching(here, "otters") == ["a"]
    there.put([item("c", None, "otters")])  # deleted, and there again
    assert matching(here, "otters") == ["c", "a"]
    assert here.chunks_without_vector(["a", "b", "c", "none"]) == {"b", "c"}


def test_rows_in_memory_score_as_the_database_does(nodes: Nodes) -> None:
    here, there = nodes
    chance = random.Random(5)
    words = [f"word{number}" for number in range(40)]
    for step in range(30):
        ids = chance.sample(range(60), 5)
        text = " ".join(chance.choices(words, range(40, 0, -1), k=chance.randrange(12)))
        there.put([item(f"c{n}", n % 8, f"{text} {n % 7}", scope=f"/{n % 3}") for n in ids])
        there.remove(chunks=[f"c{chance.randrange(60)}"])
        query, where = " ".join(chance.choices(words, k=3)), ChunkFilter(scope=f"/{step % 3}")
        found = here.matching(query, where, 7)
        with there._database.transaction():  # is asked of the database
            asked = there.matching(query, where, 7)
            expected = there.nearest(axis(step % 8), where, 7)
            counted = there.text_scores(query, [text, "word1 word3"])
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in asked])
        assert here.text_scores(query, [text, "word1 word3"]) == pytest.approx(counted)
        near = here.nearest(axis(step % 8), where, 7)
        assert [hit.score for hit in near] == pytest.approx([hit.score for hit in expected])
    assert held(here).words.statistics(words).rows == here.stats().chunks


def test_a_search_reads_nothing_while_nothing_is_written_and_a_follower_listens(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    here.put([item("a", 0)])
    assert nearest(here, 0) == ["a"]
    monkeypatch.setattr(held_rows, "_LONGEST_BEHIND_S", 3600.0)
    here._database.writes.followed = True
    assert nearest(here, 0) == ["a"]  # what was written before it listened is read
    there.put([item("b", 1)])
    assert nearest(here, 1) == ["a"]
    here._database.writes.refresh()  # as the follower does when it hears of a write
    assert nearest(here, 1) == ["a"], "nothing was noted"
    here._database.writes.note()
    assert nearest(here, 1) == ["b"]
    here.put([item("c", 2)])
    assert nearest(here, 2) == ["c"]
    monkeypatch.setattr(held_rows, "_LONGEST_BEHIND_S", 0.0)
    there.remove(chunks=["c"])
    assert nearest(here, 2, limit=3) == ["a", "b"]


def test_what_a_thread_is_writing_is_seen_by_others_once_it_has_committed(nodes: Nodes) -> None:
    here, _ = nodes
    here.put([item("a", 0)])
    assert nearest(here, 0) == ["a"]
    here._database.writes.followed = True
    with ThreadPoolExecutor(1) as other, here._database.transaction():
        here.put([item("b", 1)])
        assert nearest(here, 1) == ["b"]
        assert other.submit(nearest, here, 1).result() == ["a"]
    assert nearest(here, 1) == ["b"]


def test_a_row_that_is_committed_after_a_later_one_was_seen_is_not_missed(nodes: Nodes) -> None:
    here, there = nodes
    with there._database.transaction():
        there.put([item("early", 0)])  # has the lower number, and the lower transaction
        here.put([item("late", 1)])
        assert nearest(here, 0, limit=5) == ["late"]
        assert nearest(there, 0, limit=5) == ["early", "late"]
    here.put([item("last", 2)])
    assert nearest(here, 0) == ["early"]


def test_a_table_that_outgrows_memory_is_searched_in_the_database(nodes: Nodes) -> None:
    here, _ = nodes
    small = open_vectors(here._database, "vectors", 8, StorageConfig(index_rows=3))
    here.put([item(f"c{number}", number) for number in range(3)])
    assert nearest(small, 1) == ["c1"]
    assert small._held.current() is not None
    here.put([item("c3", 3)])
    assert nearest(small, 3) == ["c3"]
    assert small._held.current() is None
    here.put([item("c4", 4)])
    assert nearest(small, 4) == ["c4"]


def test_rows_of_a_restored_dump_are_read_once(nodes: Nodes) -> None:
    here, there = nodes
    here.put([item("old", 0)])
    with here._database.transaction() as connection:  # as the server had counted that wrote the dump
        connection.execute(f"update vectors_chunks set written = '{2**62}'::xid8")
    assert nearest(there, 0) == ["old"]
    cache = held(there).chunks._rows
    assert cache is not None
    cache.blocks[0][0] = axis(5)  # what is read again would be as it is stored
    here.put([item("new", 1)])
    assert nearest(there, 1) == ["new"]
    assert nearest(there, 5) == ["old"]
    here.put([item("old", 2)])
    assert nearest(there, 2) == ["old"]


def test_a_database_that_counts_from_earlier_is_read_anew(nodes: Nodes) -> None:
    here, there = nodes
    here.put([item("a", 0)])
    assert nearest(there, 0) == ["a"]
    later = f"{2**62 + 7}:{2**62 + 7}:"  # as a server had counted whose standby took over
    held(there).state = SpaceState(seen=later, table=held(there).state.table)
    here.put([item("b", 1)])
    assert nearest(there, 1) == ["b"]


def test_tables_that_another_node_made_anew_are_read_anew(nodes: Nodes) -> None:
    here, there = nodes
    here.put([item("a", 0), item("b", 1)])
    assert nearest(there, 0) == ["a"]
    drop_vectors(here._database, "vectors")
    again = open_vectors(here._database, "vectors", 8, StorageConfig())
    again.put([item("b", 0)])
    assert nearest(there, 0, limit=5) == ["b"]
    assert matching(there, "words") == ["b"]


def test_a_space_of_an_earlier_version_gets_the_table_of_deleted_rows(nodes: Nodes) -> None:
    here, there = nodes
    here.put([item("a", 0), item("b", 1)])
    with here._database.transaction() as connection:
        connection.execute("drop table vectors_gone")
    opened = open_vectors(there._database, "vectors", 8, StorageConfig())
    assert nearest(opened, 0, limit=5) == ["a", "b"]
    here.remove(chunks=["a"])
    assert nearest(opened, 0, limit=5) == ["b"]


def test_so_many_changed_rows_that_all_are_read_are_all_found(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_reads, "_MOST_CHANGED", 3)
    here, there = nodes
    here.put([item("a", 0)])
    assert nearest(there, 0) == ["a"]
    here.put([item(f"c{number}", number % 8) for number in range(1, 7)])
    here.remove(chunks=["a"])
    assert nearest(there, 0, limit=10) == [f"c{number}" for number in range(1, 7)]
    assert matching(there, "words", limit=10) == [f"c{number}" for number in range(1, 7)]


def test_upkeep_forgets_deleted_rows_after_hours(nodes: Nodes) -> None:
    here, _ = nodes
    here.put([item("a", 0), item("b", 1)])
    here.remove(chunks=["a"])
    with here._database.transaction() as connection:
        connection.execute("update vectors_gone set at = at - interval '3 hours'")
    here.remove(chunks=["b"])
    here.maintain(force=True)
    assert [row[0] for row in here._rows("select id from {gone}")] == ["b"]
