"""A graph copied while it is in use: of one moment, also where checkpoints come meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.store import Listing
from tests.storage.rows import chunk, write


@pytest.mark.costly  # a process for each checkpoint
def test_a_copy_is_of_one_moment_while_others_write_and_checkpoint(
    tmp_path: Path, settings: StorageConfig
) -> None:
    graph = open_graph(tmp_path / "graph", settings)
    graph.write(write(chunks=(chunk("c0"), chunk("also0"))))
    done = threading.Event()
    written = [0]

    def work() -> None:
        while not done.is_set():
            number = written[0] + 1
            graph.write(write(chunks=(chunk(f"c{number}"), chunk(f"also{number}"))))
            written[0] = number

    def checkpoint() -> None:
        while not done.is_set():
            graph.checkpoint()

    (tmp_path / "copy").mkdir()
    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(each) for each in (work, checkpoint)]
        before = written[0]
        graph.save(tmp_path / "copy")
        after = written[0]
        done.set()
    for each in working:
        each.result()
    graph.close()
    names = [each.name for each in (tmp_path / "copy").iterdir()]
    assert sorted(names) == sorted((f"{settings.graph}.db", "engine"))
    copied = open_graph(tmp_path / "copy", settings)
    rows = {row.id for row in copied.list_chunks(ChunkFilter(), Listing(limit=100_000))}
    copied.close()
    last = len(rows) // 2 - 1
    assert before <= last <= after
    assert rows == {f"{name}{number}" for name in ("c", "also") for number in range(last + 1)}
