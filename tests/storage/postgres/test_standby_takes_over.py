"""A standby that takes over from a killed server, under four writing processes and a reader that lives on."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.errors import StorageError
from hydramem.memory_api.memory import Memory, connect
from hydramem.storage.postgres.vectors.vectors import PostgresVectors
from hydramem.storage.schema import CHUNK
from hydramem.storage.vector_rows import VectorStore
from tests.memory_api.postgres_child import memory_text, settings
from tests.memory_api.test_many_nodes import NAMES, shape
from tests.storage.postgres.retrying_child import SCHEMA
from tests.storage.postgres.server_pair import ServerPair, server_pair

RESUMED_WITHIN_S = 5.0
BEFORE_S, AFTER_S = 4.0, 8.0


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A memory that a writer was told is stored."""

    text: str
    id: str
    at: float


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerPair]:
    with server_pair() as servers:
        monkeypatch.setenv("HYDRAMEM_STORAGE_URL", servers.address)
        yield servers


def writing(folder: Path, name: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.storage.postgres.retrying_child", str(folder / name), name]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(writer: "subprocess.Popen[str]", name: str) -> list[Acknowledged]:
    """Let a writer end, after what it has begun; return what it was told."""
    output, _ = writer.communicate(timeout=60)
    assert writer.returncode == 0
    rows = (line.split() for line in output.splitlines())
    return [Acknowledged(memory_text(name, int(number)), id, float(at)) for number, id, at in rows]


def search(memory: Memory) -> None:
    """Search everything that a node holds in memory: the snapshot, and the vectors of chunks and entities."""
    memory.recall("whom did Ada Lovelace tell?")
    (vector,) = memory._opened.embedder.embed_documents(["Ada Lovelace"])
    memory._opened.vectors.nearest_entities(vector, ("p",), 3)


def search_on(memory: Memory, stopped: threading.Event) -> None:
    """Search again and again, so that what is held is used before, during and after."""
    while not stopped.wait(0.2):
        try:
            search(memory)
        except StorageError:
            continue


def take_over(pair: ServerPair, folder: Path, memory: Memory) -> tuple[list[list[Acknowledged]], float]:
    """Kill the primary while four processes write, and promote; return what they were told, and when."""
    writers = [writing(folder, name) for name in NAMES]
    stopped = threading.Event()
    reader = threading.Thread(target=search_on, args=(memory, stopped))
    reader.start()
    while memory._opened.graph.count_chunks() < 4 * len(NAMES):
        time.sleep(0.1)
    time.sleep(BEFORE_S)
    pair.primary.signal(signal.SIGKILL)
    pair.promote()
    promoted = time.monotonic()
    time.sleep(AFTER_S)
    told = [ended(writer, name) for writer, name in zip(writers, NAMES, strict=True)]
    stopped.set()
    reader.join()
    return told, promoted


def held(vectors: VectorStore, table: str) -> dict[str, bytes]:
    """Return the vectors that a node holds of a table, by id."""
    assert isinstance(vectors, PostgresVectors)
    deadline = time.monotonic() + 20
    while (tables := vectors._held.current()) is None:
        assert time.monotonic() < deadline, "no rows are held"
    cache = getattr(tables, table)
    assert cache._rows is not None
    return {id: vector.tobytes() for id, vector in cache._rows.vectors_of(list(cache._rows.place)).items()}


def check_current(memory: Memory, folder: Path) -> None:
    """Check that a reader that lived through it holds what one holds that opens now."""
    with connect(folder / "cold", project="p", config=settings(SCHEMA)) as cold:
        for each in (memory, cold):
            search(each)
        one, other = memory._opened, cold._opened
        assert shape(one.snapshots.of("p")) == shape(other.snapshots.of("p"))
        for table in ("chunks", "entities"):
            assert held(one.vectors, table) == held(other.vectors, table) != {}
    assert memory.doctor().healthy


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_standby_that_takes_over_has_what_was_acknowledged_once(pair: ServerPair, tmp_path: Path) -> None:
    with connect(tmp_path / "reader", project="p", config=settings(SCHEMA)) as memory:
        search(memory)
        told, promoted = take_over(pair, tmp_path, memory)
        memory.drain()
        stored = [row.text for rows in memory._opened.graph.scan(CHUNK) for row in rows]
        assert sorted(stored) == sorted(each.text for part in told for each in part)
        assert len(stored) > 8 * len(NAMES)
        (ada,) = memory._opened.graph.entities_called("p", ["ada lovelace"]).values()
        assert memory._opened.graph.entities([ada])[0].mention_count == len(stored)
        check_current(memory, tmp_path)
    after = [min(each.at for each in part if each.at > promoted) - promoted for part in told]
    assert max(after) < RESUMED_WITHIN_S, f"{len(stored)} acknowledged; writers went on after {after} s"


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_reader_drops_what_a_standby_never_had(pair: ServerPair, tmp_path: Path) -> None:
    with connect(tmp_path / "reader", project="p", config=settings(SCHEMA)) as memory:
        kept = [memory.remember(memory_text("kept", number)).id for number in range(5)]
        pair.part()
        lost = [memory.remember(memory_text("lost", number)).id for number in range(5)]
        search(memory)
        assert set(held(memory._opened.vectors, "chunks")) == {*kept, *lost}
        pair.primary.signal(signal.SIGKILL)
        pair.promote()
        # The numbers of the lost transactions are given again before the reader searches.
        with connect(tmp_path / "writer", project="p", config=settings(SCHEMA)) as other:
            new = [other.remember(memory_text("new", number)).id for number in range(10)]
        check_current(memory, tmp_path)
        assert set(held(memory._opened.vectors, "chunks")) == {*kept, *new}
