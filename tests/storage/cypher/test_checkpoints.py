"""Checkpoints beside readers and writers: nobody misses a write, and a failure changes nothing."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import DiskFullError, StorageError
from hydramem.storage.cypher.checkpoints import checkpoint as module
from hydramem.storage.cypher.checkpoints.generations import SCRATCH, generations, serving_file
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.graph import CypherGraph, open_graph
from hydramem.storage.cypher.schema_statements import graph_file
from hydramem.storage.schema import CHUNK, ENTITY, LINKS, MENTIONS, RELATES
from hydramem.storage.store import Listing
from tests import ROOT
from tests.faults.results import rounds
from tests.storage.rows import chunk, entity, link, mention, relation, write
from tests.waiting import wait_for

TEXTS = ("", "'quoted' \"twice\" \\ back", "line\nline\ttab\r", "Zoë 日本 🦉", "a,b;c|d", "null", "[]", "{}")


pytestmark = pytest.mark.costly  # a process for each checkpoint


@pytest.fixture
def graph(tmp_path: Path, settings: StorageConfig) -> Iterator[CypherGraph]:
    opened = open_graph(tmp_path / "graph", settings)
    yield opened
    opened.close()


def content(graph: CypherGraph) -> list[object]:
    tables = (CHUNK, ENTITY, MENTIONS, RELATES, LINKS)
    return [
        [row for table in tables for batch in graph.scan(table) for row in batch],
        sorted(graph.meta().items()),
        graph.changes(),
        graph.outbox(),
        [row.id for row in graph.list_entities("p", Listing(limit=100))],
    ]


def test_the_content_is_the_same_before_and_after(graph: CypherGraph) -> None:
    chunks = tuple(chunk(f"c{n}", text or "empty", keywords=(text,)) for n, text in enumerate(TEXTS))
    entities = tuple(entity(f"e{n}", f"name {n}", aliases=TEXTS[:n]) for n in range(len(TEXTS)))
    relations = tuple(
        relation(f"e{n}", "knows", "e0", quote=text, evidence=("c0",) * (n % 2), probability=0.1 * n)
        for n, text in enumerate(TEXTS)
        if n
    )
    graph.write(write(chunks=chunks, entities=entities, relations=relations))
    graph.write(write(links=(link("c1", "c2"),), mentions=(mention("c1", "e1"),)))
    former, held, before = graph._engine.file, graph._engine.database.log_size(), content(graph)
    assert not graph.checkpoint(least=held + 1)
    assert graph._engine.file == former, "a shorter log than was asked for is left"
    for number in range(2):
        assert graph.checkpoint(least=held if number == 0 else 0)
        assert graph._engine.file != former
        assert content(graph) == before
        (row,) = graph.relations(["e1"])[:1]
        graph.write(write(relations=(replace(row, quote=f"changed {number}"),), chunks=(chunk("later"),)))
        before = content(graph)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_readers_and_writers_see_every_write_during_checkpoints(
    graph: CypherGraph, settings: StorageConfig
) -> None:
    rounds = 1 if settings.graph == "kuzu" else 3  # it runs again each write, which takes it longest
    acknowledged: list[str] = []
    missing: list[str] = []
    done = threading.Event()

    def write_on(name: str) -> None:
        number = 0
        while not done.is_set():
            number += 1
            graph.write(write(chunks=(chunk(f"{name}{number}"),)))
            acknowledged.append(f"{name}{number}")

    def read_on() -> None:
        draw = random.Random(3)
        while not done.is_set():
            if acknowledged:
                id = draw.choice([acknowledged[-1], draw.choice(acknowledged)])
                if not graph.chunks([id]):
                    missing.append(id)

    files = {graph._engine.file}
    with ThreadPoolExecutor(4) as pool:
        working = [pool.submit(write_on, name) for name in ("a", "b")]
        working += [pool.submit(read_on) for _ in range(2)]
        for _ in range(rounds):
            graph.checkpoint()
            files.add(graph._engine.file)
        done.set()
    for each in working:
        each.result()
    assert len(files) == rounds + 1 and missing == []
    assert {row.id for row in graph.chunks(acknowledged)} == set(acknowledged)
    folder = graph._engine.file.parent
    wait_for(lambda: not list(folder.glob(f"{SCRATCH}*")))  # the writers may have begun a further one
    (left,) = generations(graph._engine.file)
    assert left == graph._engine.file


def test_a_checkpoint_waits_for_no_reader_and_no_reader_for_it(graph: CypherGraph) -> None:
    graph.write(write(chunks=(chunk("c1"),)))
    former = graph._engine.file
    with graph._engine.reading() as query:
        running = threading.Thread(target=graph.checkpoint)
        running.start()
        wait_for(lambda: graph._engine.file != former)
        graph.write(write(chunks=(chunk("c2"),)))
        assert len(graph.chunks(["c1", "c2"])) == 2
        assert query("MATCH (c:Chunk) RETURN count(*)", {}) == [[1]], "a read goes on where it began"
        assert former.exists()
    running.join()
    assert not former.exists()


def child_of(process: int) -> int | None:
    found = Path(f"/proc/{process}/task/{process}/children").parent.parent
    for task in found.iterdir():
        if children := (task / "children").read_text().split():
            return int(children[0])
    return None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for the child in /proc")
def test_a_child_that_is_killed_changes_nothing(graph: CypherGraph) -> None:
    graph.write(write(chunks=(chunk("c1"),)))
    former = graph._engine.file
    refused: list[StorageError] = []

    def run() -> None:
        try:
            graph.checkpoint()
        except StorageError as error:
            refused.append(error)

    running = threading.Thread(target=run)
    running.start()
    wait_for(lambda: child_of(os.getpid()) is not None)
    os.kill(child_of(os.getpid()) or 0, signal.SIGKILL)
    running.join()
    assert "SIGKILL" in str(refused[0])
    assert graph._engine.file == former
    assert [path.name for path in former.parent.iterdir() if "2" in path.name or path.is_dir()] == []
    graph.write(write(chunks=(chunk("c2"),)))
    graph.checkpoint()
    assert len(graph.chunks(["c1", "c2"])) == 2 and graph._engine.file != former


def test_a_new_generation_that_does_not_catch_up_is_dropped(
    graph: CypherGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph.write(write(chunks=(chunk("c1"),)))
    former = graph._engine.file
    with monkeypatch.context() as patched:
        patched.setattr(module, "serve", refuse)
        with pytest.raises(StorageError, match="no pointer today"):
            graph.checkpoint()
    assert graph._engine.file == former and generations(former) == (former,)
    graph.write(write(chunks=(chunk("c2"),)))
    graph.checkpoint()
    assert len(graph.chunks(["c1", "c2"])) == 2


def refuse(file: Path) -> None:
    raise StorageError(f"{file}: no pointer today")


def test_without_room_a_checkpoint_waits_and_reads_and_writes_go_on(
    graph: CypherGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph.write(write(chunks=(chunk("c1"),)))
    usage = shutil.disk_usage("/")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage._replace(free=20 << 20))
        graph.write(write(chunks=(chunk("c2", "Long. " * 1_000_000),)))
        with pytest.raises(DiskFullError, match="a checkpoint needs"):
            graph.checkpoint()
        graph.write(write(chunks=(chunk("c3"),)))
    graph.checkpoint()
    assert len(graph.chunks(["c1", "c2", "c3"])) == 3


def test_closing_ends_a_checkpoint_of_a_small_log(tmp_path: Path, settings: StorageConfig) -> None:
    graph = open_graph(tmp_path / "graph", settings)
    graph.write(write(chunks=(chunk("c1"),)))
    former = graph._engine.file
    with graph._engine._writer:
        graph._engine._checkpoints.start()
    graph.close()
    assert serving_file(former) == former and not list(former.parent.glob(f"{SCRATCH}*"))
    again = open_graph(tmp_path / "graph", settings)
    assert again.chunks(["c1"])
    again.close()


_WRITER = """
import sys, threading
from pathlib import Path
from hydramem.core.config import StorageConfig
from hydramem.storage.cypher.graph import open_graph
from tests.storage.rows import chunk, write
graph = open_graph(Path(sys.argv[2]), StorageConfig(graph=sys.argv[1], buffer_pool_mb=128, max_db_gb=8))
def checkpoint():
    while True:
        graph.checkpoint()
        print("checkpoint", flush=True)
threading.Thread(target=checkpoint, daemon=True).start()
first = int(sys.argv[3])
for number in range(first, first + 100_000):
    graph.write(write(chunks=(chunk(f"c{number}"),)))
    print(number, flush=True)
"""


def killed(folder: Path, engine: str, first: int, seconds: float | None) -> tuple[int, float]:
    """Write and checkpoint until a SIGKILL, after some seconds or right after the first checkpoint.

    Return the last acknowledged number, and for how long it ran.
    """
    command = [sys.executable, "-c", _WRITER, engine, str(folder), str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        started = time.monotonic()
        if seconds is None:
            while said[-1] != "checkpoint\n":
                said.append(process.stdout.readline())
                assert said[-1], "it ended by itself"
            process.kill()
        else:
            threading.Timer(seconds, process.kill).start()
        said += process.stdout.readlines()
    numbers = [int(line) for line in said if line.strip().isdigit() and line.endswith("\n")]
    return numbers[-1], time.monotonic() - started


def check_kills(folder: Path, settings: StorageConfig, kills: int, seed: int) -> None:
    """Kill a writer once after a checkpoint, then at moments within the time that checkpoints take here."""
    draw = random.Random(seed)
    last, one_checkpoint = killed(folder, settings.graph, 0, None)
    for kill in range(kills):
        if kill:
            last, _ = killed(folder, settings.graph, last + 1, draw.uniform(0.05, 1.5 * one_checkpoint))
        graph = open_graph(folder, settings)
        ids = [f"c{number}" for number in range(last + 1)]
        assert [row.id for row in graph.chunks(ids)] == ids
        file = graph_file(folder, settings.graph)
        assert generations(file) == (file,) and not list(folder.glob(f"{SCRATCH}*"))
        last += len(graph.chunks([f"c{last + 1}"]))  # one may be stored that was not acknowledged
        graph.close()


def test_a_kill_during_checkpoints_loses_nothing(tmp_path: Path, settings: StorageConfig) -> None:
    check_kills(tmp_path / "graph", settings, kills=1, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_at_random_moments_lose_nothing(tmp_path: Path, settings: StorageConfig) -> None:
    check_kills(tmp_path / "graph", settings, kills=rounds(4, full=20), seed=7)


def test_an_engine_that_breaks_while_a_checkpoint_runs_loses_nothing(
    graph: CypherGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph.write(write(chunks=(chunk("c1"),)))
    engine: Engine = graph._engine
    former = engine.file
    made = module.Checkpoints._make_next

    def break_meanwhile(self: module.Checkpoints, *given: object) -> None:
        made(self, *given)  # type: ignore[arg-type]
        graph.write(write(chunks=(chunk("c2"),)))
        with engine._writer:
            engine.database.discard_failed_commit(engine.database.log_size())
        graph.write(write(chunks=(chunk("c3"),)))

    monkeypatch.setattr(module.Checkpoints, "_make_next", break_meanwhile)
    graph.checkpoint()
    assert engine.file != former
    assert len(graph.chunks(["c1", "c2", "c3"])) == 3
