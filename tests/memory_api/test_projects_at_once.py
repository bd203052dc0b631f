"""Programs that write to one memory on PostgreSQL: those of different projects do not wait for each other."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from psycopg.conninfo import make_conninfo

from hydramem import ItemInput, Memory, MemoryInput, SaidTurn
from hydramem.core.errors import StoreBusyError
from hydramem.memory_api.memory import connect
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.writer_lock import WriterLock
from tests.memory_api.postgres_child import settings
from tests.storage.postgres_server import own_schema, server_address

IMPATIENT = "-c lock_timeout=400"
Operation = Callable[[Memory, str], object]


@pytest.fixture
def schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", make_conninfo(server_address(), options=IMPATIENT))
    with own_schema() as name:
        yield name


@pytest.fixture
def two(tmp_path: Path, schema: str) -> Iterator[tuple[Memory, Memory]]:
    """Return two programs that have one memory open, each in a folder of its own."""
    with (
        connect(tmp_path / "one", project="p", config=settings(schema)) as one,
        connect(tmp_path / "other", project="p", config=settings(schema)) as other,
    ):
        yield one, other


def undone_note(memory: Memory, project: str) -> object:
    kept = memory.remember("Cleo planted a pear tree in the yard.", project=project)
    return memory.undo(str(kept.run))


def forgotten_note(memory: Memory, project: str) -> object:
    kept = memory.remember("Dan sold the old boat in May.", project=project)
    memory.forget([kept.id])
    return memory.revive([kept.id])


def revised_note(memory: Memory, project: str) -> object:
    kept = memory.remember("The depot opens at seven.", project=project)
    memory.promote([kept.id], layer="shared", reason="two say so", project=project)
    memory.relabel([kept.id], importance=0.9, project=project)
    return memory.revise(kept.id, text="The depot opens at eight.")


def related(memory: Memory, project: str) -> object:
    memory.relate("Ada", "owns", "Boat", project=project)
    memory.entity("Ada", type="person", project=project)
    return memory.unrelate("Ada", "owns", "Boat", project=project)


OPERATIONS: dict[str, Operation] = {
    "remember many": lambda memory, project: memory.remember_many(
        [MemoryInput(text="Bob paints gates.")], project=project
    ),
    "revise": revised_note,
    "relate": related,
    "put items": lambda memory, project: memory.put_items(
        [ItemInput(namespace=("a",), key="k", value={"x": 1})], project=project
    ),
    "session items": lambda memory, project: memory.append_session_items("s", ["{}"], project=project),
    "capture": lambda memory, project: memory.capture(
        "s", [SaidTurn(text="I moved to Rome.", author="user")], project=project
    ),
    "forget": forgotten_note,
    "undo": undone_note,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_waits_for_writers_of_its_project_alone(two: tuple[Memory, Memory], name: str) -> None:
    one, other = two
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with one._opened.mirror.one_writer.of(["p"]):
            held.set()
            free.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    try:
        OPERATIONS[name](other, "q")
        with pytest.raises(StoreBusyError, match=r"project p.* try again"):
            OPERATIONS[name](other, "p")
    finally:
        free.set()
        thread.join()
    OPERATIONS[name](other, "p")


def opened(schema: str, options: str) -> PostgresGraph:
    address = make_conninfo(server_address(), options=options)
    return open_postgres_graph(Database(address, schema=schema, most_connections=4))


def lock_of(graph: PostgresGraph) -> WriterLock:
    return WriterLock(lambda: None, graph.writing_alone)


def test_a_writer_that_comes_to_another_project_late_never_waits_for_it(schema: str) -> None:
    graphs = [opened(schema, "-c lock_timeout=30000") for _ in range(2)]
    began, refused = threading.Barrier(2), list[str]()

    def cross(lock: WriterLock, first: str, second: str) -> None:
        with lock.of([first]):
            began.wait(60)
            try:
                with lock.of([second]):
                    pass
            except StoreBusyError as error:
                refused.append(str(error))
            began.wait(60)

    pairs = [("p", "q"), ("q", "p")]
    threads = [
        threading.Thread(target=cross, args=(lock_of(graph), *pair))
        for graph, pair in zip(graphs, pairs, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 2 and all("another program writes there; try again" in each for each in refused)
    for graph in graphs:
        with graph.writing_alone(["p", "q"]):  # who was refused holds nothing any more
            pass
        graph.close()


def test_a_further_project_that_is_free_is_kept_to_the_end(schema: str) -> None:
    graph, other = opened(schema, IMPATIENT), opened(schema, IMPATIENT)
    lock = lock_of(graph)
    with lock.of(["p"]):
        with lock.of(["q"]):
            pass
        with pytest.raises(StoreBusyError):
            other.writing_alone(["q"]).__enter__()
        with other.writing_alone(["r"]), pytest.raises(StoreBusyError, match="the whole memory"), lock:
            pass
    with other.writing_alone(["q"]):
        pass
    graph.close()
    other.close()


def test_writers_of_several_projects_take_turns_in_whatever_order_they_name_them(schema: str) -> None:
    graphs = [opened(schema, "-c lock_timeout=30000 -c deadlock_timeout=100") for _ in range(2)]
    inside, most = [0], list[int]()

    def work(lock: WriterLock, projects: list[str]) -> None:
        for _ in range(30):
            with lock.of(projects):
                inside[0] += 1
                most.append(inside[0])
                time.sleep(0)
                inside[0] -= 1

    orders = [["p", "q", "r"], ["r", "q", "p"]]
    with ExitStack() as closing:
        threads = []
        for graph, order in zip(graphs, orders, strict=True):
            closing.callback(graph.close)
            threads.append(threading.Thread(target=work, args=(lock_of(graph), order)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(most) == 60 and max(most) == 1
