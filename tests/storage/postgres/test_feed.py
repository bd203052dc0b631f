"""The change feed: nothing that commits is missed, whoever commits first."""

import random
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.feed import FeedReader
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.write import Removal, Write
from tests.storage.postgres_server import new_schema, server_address
from tests.storage.rows import chunk, entity, job, mention, relation, write

WRITERS, EACH = 4, 300


@pytest.fixture
def schema() -> Iterator[str]:
    name = new_schema()
    yield name
    with Database(server_address(), schema=name).transaction() as connection:
        connection.execute(f'DROP SCHEMA "{name}" CASCADE'.encode())


def opened(schema: str) -> PostgresGraph:
    return open_postgres_graph(Database(server_address(), schema=schema, most_connections=6))


def insert(database: Database, writer: int, end: threading.Event) -> None:
    """Write rows of the feed, each in a transaction that commits sooner or later after its row is made."""
    chance = random.Random(writer)
    for number in range(EACH):
        with database.transaction() as connection:
            connection.execute(
                "INSERT INTO feed (node, projects, content) VALUES (%s, '{p}', %s)",
                [
                    f"w{writer}",
                    f'{{"keys": {{"chunks": [["{writer}-{number}"]]}}, "removed": {{}}, "jobs": 0}}',
                ],
            )
            if chance.random() < 0.2:
                time.sleep(chance.random() * 0.01)
    end.set()


def test_no_row_is_missed_that_a_cursor_over_numbers_misses(schema: str) -> None:
    graph = opened(schema)
    reader = FeedReader(graph.database, "reader")
    ends = [threading.Event() for _ in range(WRITERS)]
    writers = [
        threading.Thread(target=insert, args=(graph.database, number, end)) for number, end in enumerate(ends)
    ]
    for thread in writers:
        thread.start()
    found: list[str] = []
    by_number, last = 0, 0
    done = False
    while not done:
        done = all(end.is_set() for end in ends)
        rows = reader.read()
        assert rows is not None
        found += [key[0] for row in rows for key in (row.keys or {})["chunks"]]
        with graph.database.reading() as connection:
            later = connection.execute(
                "SELECT number FROM feed WHERE number > %s ORDER BY number", [last]
            ).fetchall()
        by_number += len(later)
        last = later[-1][0] if later else last
    for thread in writers:
        thread.join()
    graph.close()
    assert len(found) == len(set(found)) == WRITERS * EACH
    assert by_number < WRITERS * EACH, "the writers did not overlap: the test shows nothing"


def test_a_write_says_what_it_changed_to_others_alone(schema: str) -> None:
    graph, other = opened(schema), opened(schema)
    own, others = FeedReader(graph.database, graph.node), FeedReader(other.database, other.node)
    graph.write(
        write(
            chunks=(chunk("c1"), chunk("c2")),
            entities=(entity("e1"), entity("e2")),
            mentions=(mention(),),
            relations=(relation(),),
            jobs=(job(),),
        )
    )
    graph.write(write(removed=Removal(chunks=("c2",), mentions=(("c1", "e1"),))))
    graph.write(Write(changes=(), replicated=("o_1",)))
    assert own.read() == []
    first, second = others.read() or ()
    assert first.keys == {
        "chunks": [["c1"], ["c2"]],
        "entities": [["e1"], ["e2"]],
        "mentions": [["c1", "e1"]],
        "relations": [["e1", "e2", relation().id]],
    }
    assert (first.projects, first.jobs) == (("p",), 1)
    assert second.removed == {"chunks": ["c2"], "mentions": [["c1", "e1"]]}
    assert others.read() == []
    graph.close()
    other.close()


def test_a_write_that_is_rolled_back_is_not_in_the_feed(schema: str) -> None:
    graph, other = opened(schema), opened(schema)
    reader = FeedReader(other.database, other.node)
    with pytest.raises(RuntimeError), graph.database.transaction():
        graph.write(write(chunks=(chunk(),)))
        raise RuntimeError
    assert reader.read() == [] and other.count_chunks() == 0
    graph.close()
    other.close()


def test_a_large_write_names_its_projects_alone(schema: str) -> None:
    graph, other = opened(schema), opened(schema)
    reader = FeedReader(other.database, other.node)
    graph.write(write(chunks=tuple(chunk(f"c{number}") for number in range(2001))))
    (row,) = reader.read() or ()
    assert (row.keys, row.projects) == (None, ("p",))
    graph.close()
    other.close()
