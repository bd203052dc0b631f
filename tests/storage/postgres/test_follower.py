"""Following the feed: what could not be followed is known to be missing, and the thread goes on."""

import os
import resource
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.errors import StorageError
from hydramem.storage.jobs import job
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.feed import FeedReader
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.write import Removal, Write
from tests.storage.postgres_server import own_schema, server_address
from tests.storage.rows import chunk, write
from tests.waiting import wait_for

Followed = list[Write | None]
Nodes = tuple[PostgresGraph, PostgresGraph]
_MANY_FILES = 1100


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with own_schema() as schema:
        here, there = (
            open_postgres_graph(Database(server_address(), schema=schema, most_connections=4))
            for _ in range(2)
        )
        with closing(here), closing(there):
            yield here, there


def test_what_could_not_be_followed_is_not_forgotten(nodes: Nodes) -> None:
    here, there = nodes
    followed: Followed = []
    broken = [True]

    def follow(rows: Write | None, projects: tuple[str, ...], jobs: bool) -> None:
        if broken[0]:
            raise StorageError("the database went away")
        followed.append(rows)

    follower = here.follow(follow)
    there.write(write(chunks=(chunk("c1"), chunk("c2"))))
    with pytest.raises(StorageError):
        follower.catch_up()
    broken[0] = False
    follower.catch_up()
    assert followed == [None], "what was read and not followed is not known any more"
    there.write(write(chunks=(chunk("c3"),)))
    follower.catch_up()
    assert [row.id for row in (followed[1] or Write(changes=())).chunks] == ["c3"]
    follower.close()


def test_writes_of_a_moment_are_read_at_once_and_removals_for_themselves(nodes: Nodes) -> None:
    here, there = nodes
    followed: Followed = []
    follower = here.follow(lambda rows, projects, jobs: followed.append(rows))
    for id in ("c1", "c2", "c2"):
        there.write(write(chunks=(chunk(id),)))
    there.write(write(removed=Removal(chunks=("c1",))))
    there.write(write(chunks=(chunk("c3"),)))
    follower.catch_up()
    rows = [each for each in followed if each is not None]
    assert [sorted(row.id for row in each.chunks) for each in rows] == [["c2"], [], ["c3"]]
    assert [each.removed.chunks for each in rows] == [(), ("c1",), ()]
    follower.close()


def test_rows_of_which_nothing_is_held_are_not_read(nodes: Nodes) -> None:
    here, there = nodes
    followed: list[tuple[Write | None, tuple[str, ...], bool]] = []
    follower = here.follow(lambda *told: followed.append(told), lambda row: "q" in row.projects)
    there.write(write(chunks=(chunk("c1"),), jobs=(job("say", project="p", name="a"),)))
    follower.catch_up()
    assert followed == [(Write(changes=()), ("p",), True)], "that something was written is noted all the same"
    follower.close()


def test_a_reader_of_another_history_says_that_it_does_not_know(nodes: Nodes) -> None:
    here, there = nodes
    reader = FeedReader(here.database, here.node)
    reader._cursor = str(2**62)  # as one of the server from which this one was restored
    there.write(write(chunks=(chunk(),)))
    assert reader.read() is None
    there.write(write(chunks=(chunk("c2"),)))
    assert [row.keys for row in reader.read() or ()] == [{"chunks": [["c2"]]}]


@pytest.fixture
def many_files() -> Iterator[None]:
    """Open so many files that the next has a number that `select` does not take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * _MANY_FILES:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * _MANY_FILES, hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(_MANY_FILES)]
    yield
    for each in held:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_process_with_many_open_files_follows(many_files: None, nodes: Nodes) -> None:
    here, there = nodes
    followed: Followed = []
    follower = here.follow(lambda rows, projects, jobs: followed.append(rows))
    follower.start(threading.RLock())
    for number in range(3):  # the first are read at the start
        there.write(write(chunks=(chunk(f"c{number}"),)))
        wait_for(lambda number=number: len(followed) > number)
    follower.close()
    assert None not in followed


def test_after_a_lost_connection_nothing_that_is_held_is_trusted(nodes: Nodes) -> None:
    here, there = nodes
    followed: Followed = []
    follower = here.follow(lambda rows, projects, jobs: followed.append(rows))
    follower.start(threading.RLock())
    there.write(write(chunks=(chunk(),)))
    wait_for(lambda: bool(followed))
    with there.database.reading() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = %s",
            [f'LISTEN "{here.channel}"'],
        )
    wait_for(lambda: followed[-1] is None)
    follower.close()
