"""Processes without a shared folder that write to one memory on PostgreSQL."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from psycopg.conninfo import make_conninfo

from hydramem import Memory
from hydramem.core.errors import StoreBusyError
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.memory_api.memory import connect
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.schema import CHUNK
from hydramem.storage.writer_lock import WriterLock
from tests.memory_api.postgres_child import memory_text, settings
from tests.storage.postgres_server import own_schema, server_address
from tests.storage.rows import chunk, entity, write
from tests.waiting import wait_for

NAMES = ("ann", "bob", "cleo", "dan")


@pytest.fixture
def schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server_address())
    with own_schema() as name:
        yield name


def remembering(folder: Path, schema: str, name: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.memory_api.postgres_child", str(folder / name), schema, name]
    return subprocess.Popen([*command, str(count)], stdout=subprocess.PIPE, text=True)


def shape(snapshot: Snapshot) -> object:
    """Return what a snapshot holds, whatever the order in which it came."""
    ids = snapshot.nodes.ids[: snapshot.size]
    edges = snapshot.edges
    return sorted(ids), sorted(
        (ids[source], ids[target], int(kind))
        for source, target, kind in zip(edges.source, edges.target, edges.kind, strict=True)
    )


def check_all_found(memory: Memory, count: int) -> None:
    """Check that what four processes acknowledged is found by a fifth, which was open meanwhile."""
    graph = memory._opened.graph
    chunks = [row for rows in graph.scan(CHUNK) for row in rows]
    assert sorted(row.text for row in chunks) == sorted(
        memory_text(name, number) for name in NAMES for number in range(count)
    )
    # Read anew each time: jobs of linking go on, and change the rows.
    wait_for(lambda: shape(memory._opened.snapshots.of("p")) == shape(load("p", *graph.graph_tables("p"))))
    for name in NAMES:
        text = memory_text(name, count - 1)
        assert memory.recall(text).hits[0].text == text
    (ada,) = graph.entities_called("p", ["ada lovelace"]).values()
    assert graph.entities([ada])[0].mention_count == len(NAMES) * count


@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_what_four_processes_remember_a_fifth_finds(tmp_path: Path, schema: str, count: int) -> None:
    with connect(tmp_path / "fifth", project="p", config=settings(schema)) as memory:
        memory._opened.snapshots.of("p")
        writers = [remembering(tmp_path, schema, name, count) for name in NAMES]
        outputs = [writer.communicate()[0] for writer in writers]
        assert [writer.returncode for writer in writers] == [0] * 4
        ids = [line.split()[1] for output in outputs for line in output.splitlines()]
        assert len(set(ids)) == len(ids) == len(NAMES) * count
        check_all_found(memory, count)


def test_what_a_node_commits_another_that_holds_rows_in_memory_finds(tmp_path: Path, schema: str) -> None:
    with (
        connect(tmp_path / "here", project="p", config=settings(schema)) as here,
        connect(tmp_path / "there", project="p", config=settings(schema)) as there,
    ):
        for number in range(2):
            text = memory_text("ann", number)
            here.recall("what is held is read at the first search")
            kept = there.remember(text)
            wait_for(lambda text=text, id=kept.id: id in [hit.id for hit in here.recall(text).hits])
            there.forget([kept.id])
            wait_for(lambda text=text: not here.recall(text).hits)


@pytest.mark.timeout(120)
def test_a_killed_process_holds_nobody_up_and_loses_nothing_acknowledged(tmp_path: Path, schema: str) -> None:
    with connect(tmp_path / "other", project="p", config=settings(schema)) as memory:
        for number in range(3):
            child = remembering(tmp_path, schema, NAMES[number], 1000)
            assert child.stdout is not None
            told = [child.stdout.readline().split()[1] for _ in range(2 + number)]
            child.kill()
            kept = memory.remember(memory_text("other", number))
            told += [line.split()[1] for line in child.stdout.read().splitlines() if len(line.split()) == 2]
            child.wait()
            child.stdout.close()
            held = memory._opened.graph.chunks([*told, kept.id])
            assert [row.id for row in held] == [*told, kept.id]
        memory.drain()
        assert memory.doctor().healthy


def opened(schema: str) -> PostgresGraph:
    return open_postgres_graph(Database(server_address(), schema=schema, most_connections=4))


def test_of_two_that_write_where_they_see_nothing_one_writes(schema: str) -> None:
    graphs, start, rounds = (opened(schema), opened(schema)), threading.Barrier(2), 60

    def decide(name: int) -> None:
        graph = graphs[name]
        lock = WriterLock(lambda: None, graph.writing_alone)
        for number in range(rounds):
            start.wait(60)
            with lock.of(["p"]):
                if not graph.chunks([f"c{number}_0", f"c{number}_1"]):
                    graph.write(write(chunks=(chunk(f"c{number}_{name}"),)))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(decide, range(2)))
    assert graphs[0].count_chunks() == rounds
    for graph in graphs:
        graph.close()


def test_a_killed_holder_keeps_nobody_out(schema: str) -> None:
    one, other = opened(schema), opened(schema)
    holding, free = threading.Event(), threading.Event()

    def hold() -> None:
        with one.writing_alone(None):
            holding.set()
            free.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holding.wait(60)
    with Database(server_address(), schema=schema).apart() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted "
            "AND pid <> pg_backend_pid()"
        )
    with other.writing_alone(["p"]):
        other.write(write(entities=(entity(),)))
    free.set()
    thread.join()
    one.close()
    other.close()


def impatient(schema: str) -> PostgresGraph:
    """Return a node whose address says that it waits .3 s for a lock."""
    address = make_conninfo(server_address(), options="-c lock_timeout=300")
    return open_postgres_graph(Database(address, schema=schema, most_connections=4))


def test_a_holder_that_hangs_does_not_hang_the_others(schema: str) -> None:
    one, other, third = opened(schema), impatient(schema), impatient(schema)
    with one.writing_alone(["p"]):
        with pytest.raises(StoreBusyError, match=r"project p, q.* try again.*pg_terminate_backend\(\d+\)"):
            other.writing_alone(["p", "q"]).__enter__()
        with pytest.raises(StoreBusyError, match="the whole memory"):
            other.writing_alone(None).__enter__()
        with pytest.raises(StoreBusyError, match="try again"):
            other.write(write(chunks=(chunk("c1", project="p"),)))
        with third.writing_alone(["q"]):  # who waited in vain holds nothing
            pass
    with other.writing_alone(["p"]):
        pass
    with other.writing_alone(None):
        pass
    for graph in (one, other, third):
        graph.close()


def test_the_address_may_say_how_long_locks_are_waited_for(schema: str) -> None:
    waits = []
    for graph in (opened(schema), impatient(schema)):
        with graph.database.reading() as connection:
            waits.append(connection.execute("show lock_timeout").fetchone())
        graph.close()
    assert waits == [("1min",), ("300ms",)]
