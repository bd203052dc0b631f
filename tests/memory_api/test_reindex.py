"""Reindex on real stores: another model in place, readers and writers meanwhile, kills and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.core.config import Config
from hydramem.core.errors import ConfigError, EmbeddingMismatchError, ModelError, StorageError
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.vector_rows import Vector
from tests import ROOT
from tests.engines import DISK_ENGINE, ENGINE
from tests.memory_api.crates import fill, finds
from tests.memory_api.reindex_child import LATE
from tests.waiting import wait_for

ROWS = 80
"""More than are embedded at once."""


def settings(model: str = "auto", engine: str = DISK_ENGINE) -> Config:
    return load_config(environment={"HYDRAMEM_STORAGE_GRAPH": engine, "HYDRAMEM_EMBEDDING_MODEL": model})


def folders(store: Path) -> list[str]:
    return sorted(part.name for part in store.iterdir() if part.name.startswith("vectors"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path, config=settings("hash")) as opened:
        fill(opened, ROWS)
        yield opened


@pytest.mark.costly
@pytest.mark.engine
def test_from_the_carried_model_to_another_and_the_old_vectors_are_freed(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings("minilm")) as memory:
        fill(memory, 20)
        done = memory.reindex("hash/64")
        assert (done.before, done.after, done.changed) == ("all-MiniLM-L6-v2-int8/384", "hash/64", True)
        assert (done.chunks, done.made, done.resumed) == (20, 20 + done.entities, 0)
        assert "auto" not in done.notes[0]
        assert finds(memory, 13)
        assert memory.doctor().healthy
        assert len(folders(tmp_path)) == 1
        assert memory.stats().embedder == "hash/64"
    with pytest.raises(EmbeddingMismatchError, match="hydramem reindex --model NAME"):
        hydramem.connect(tmp_path, config=settings("minilm"))
    with hydramem.connect(tmp_path, config=settings()) as again:
        assert again.stats().embedder == "hash/64"
        assert finds(again, 13)
        assert again.doctor().healthy
    with hydramem.connect(tmp_path, config=settings("minilm"), reindexing=True) as again:
        done = again.reindex()  # without a name it goes where the configuration says
        assert (done.after, done.notes) == ("all-MiniLM-L6-v2-int8/384", ())
        assert finds(again, 13)
    hydramem.connect(tmp_path, config=settings("minilm")).close()


def test_the_stores_own_model_is_left_as_it_is(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings("hash", ENGINE)) as memory:
        fill(memory, 10)
        done = memory.reindex("hash")
        assert (done.changed, done.made, done.chunks, done.notes) == (False, 0, 10, ())
        assert memory.reindex().changed is False
        assert memory.reindex("hash/64").changed
        assert finds(memory, 3)


@pytest.mark.costly
def test_a_store_whose_embedder_cannot_be_had_here_can_leave_it(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings(), embedder=Other()) as memory:
        fill(memory, 5)
    with pytest.raises(ConfigError, match="other"):
        hydramem.connect(tmp_path, config=settings())
    with hydramem.connect(tmp_path, config=settings(), reindexing=True) as memory:
        with pytest.raises(ModelError, match="other"):
            memory.recall("where does crate zeta3 rest?")
        assert memory.reindex("hash/64").changed
        assert finds(memory, 3)


@pytest.mark.costly
def test_damaged_vectors_are_the_doctors_unless_another_model_replaces_them(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings("hash")) as memory:
        fill(memory, 10)
    for file in (tmp_path / "vectors").rglob("*.manifest"):
        file.write_bytes(b"not a manifest")
    with hydramem.connect(tmp_path, config=settings("hash")) as memory:
        with pytest.raises(StorageError, match="doctor --fix"):
            memory.reindex("hash")
        assert memory.reindex("hash/64").made > 0
        assert finds(memory, 4)
        assert memory.doctor().healthy


@pytest.mark.slow
def test_readers_and_writers_go_on_and_nothing_is_lost(memory: hydramem.Memory) -> None:
    stop, written = threading.Event(), dict[str, str]()

    def read() -> int:
        answered = 0
        while not stop.is_set():
            assert finds(memory, answered * 7 % ROWS)
            answered += 1
        return answered

    def write() -> None:
        step = 0
        while not stop.is_set():
            step += 1
            text = f"Meanwhile note{step} was written about Gadget{step % 5}."
            written[memory.remember(text).id] = text

    with ThreadPoolExecutor(3) as pool:
        reads, writes = [pool.submit(read) for _ in range(2)], pool.submit(write)
        for model in ("hash/64", "hash/96", "hash/48"):
            memory.reindex(model)
        stop.set()
        assert all(one.result() > 0 for one in reads)
        writes.result()
    assert memory.doctor().problems == ()
    assert {id: memory.get(id).text for id in written} == written
    last = list(written.values())[-1]
    assert memory.recall(last).hits[0].text == last


class Other(HashEmbedder):
    """Another space of the same length, in which it waits where it is told to."""

    def __init__(self) -> None:
        super().__init__(384)
        self.fingerprint = "other/384"
        self.asked, self.go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if any("slow" in text for text in texts):
            self.asked.set()
            assert self.go_on.wait(60)
        return -super().embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        if "slow" in text:
            self.asked.set()
            assert self.go_on.wait(60)
        return -super().embed_query(text)


def test_a_vector_made_before_the_switch_is_made_anew_after_it(tmp_path: Path) -> None:
    text, embedder = "A slow note about Ada.", Other()
    config = settings(engine=ENGINE)
    with (
        hydramem.connect(tmp_path, config=config, embedder=embedder) as memory,
        ThreadPoolExecutor(1) as pool,
    ):
        fill(memory, 10)
        slow = pool.submit(memory.remember, text)
        assert embedder.asked.wait(60)
        memory.reindex("hash")
        embedder.go_on.set()
        id = slow.result(60).id
        with memory._opened.reading() as space:
            np.testing.assert_allclose(
                space.vectors.vectors([id])[id], HashEmbedder().embed_query(text), atol=1e-6
            )


@pytest.mark.costly
def test_a_recall_ends_in_the_space_in_which_it_began(tmp_path: Path) -> None:
    embedder = Other()
    with (
        hydramem.connect(tmp_path, config=settings(), embedder=embedder) as memory,
        ThreadPoolExecutor(2) as pool,
    ):
        fill(memory, 10)
        slow = pool.submit(memory.recall, "slow: where does crate zeta3 rest?")
        assert embedder.asked.wait(60)
        moving = pool.submit(memory.reindex, "hash")
        wait_for(lambda: memory.stats().embedder == "hash/384")
        assert len(folders(tmp_path)) == 2
        assert finds(memory, 5)
        embedder.go_on.set()
        (hit,) = [hit for hit in slow.result(60).hits if "zeta3 " in hit.text]
        assert hit.scores["vector"] > 0
        assert moving.result(60).changed
    assert len(folders(tmp_path)) == 1


class StoppedError(Exception):
    """Stands for whatever ends a reindex from outside."""


@pytest.mark.costly
def test_an_interrupted_reindex_leaves_the_old_serving_and_goes_on_later(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done >= total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.reindex("hash/64", progress=interrupt)
    assert memory.stats().embedder == "hash/384"
    assert finds(memory, 77)
    found = memory.doctor()
    assert (found.problems, found.unfinished_reindex) == ((), "hash/64")
    memory.remember("Written between the two runs.")
    done = memory.reindex("hash/64")
    assert done.resumed >= ROWS / 2
    assert finds(memory, 77)
    assert memory.recall("written between the two runs").hits[0].text == "Written between the two runs."
    assert memory.doctor().unfinished_reindex is None
    assert len(folders(tmp_path)) == 1


def stop(done: int, total: int) -> None:
    raise StoppedError


@pytest.mark.costly
def test_an_unfinished_reindex_can_be_given_up_or_made_anew_where_it_is_damaged(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    for model in ("hash/64", "hash/32"):
        with pytest.raises(StoppedError):
            memory.reindex(model, progress=stop)
        assert len(folders(tmp_path)) == 2
    memory.reindex("hash")
    assert memory.doctor().unfinished_reindex is None
    assert folders(tmp_path) == ["vectors"]
    with pytest.raises(StoppedError):
        memory.reindex("hash/64", progress=stop)
    (half,) = set(folders(tmp_path)) - {"vectors"}
    for file in (tmp_path / half).rglob("*.manifest"):
        file.write_bytes(b"")
    assert memory.reindex("hash/64").made == ROWS + memory.stats().counts.entities
    assert memory.doctor().healthy


def test_a_model_that_does_not_work_changes_nothing(memory: hydramem.Memory, tmp_path: Path) -> None:
    class Broken(HashEmbedder):
        def embed_query(self, text: str) -> Vector:
            raise ModelError("no such file")

    with pytest.raises(ModelError):
        memory._opened.reindex(Broken(64), progress=None)
    assert folders(tmp_path) == ["vectors"]
    assert memory.doctor().unfinished_reindex is None


def killed(store: Path, point: str) -> None:
    """Run a reindex that is killed at a point."""
    command = [sys.executable, "-m", "tests.memory_api.reindex_child", str(store), point]
    environment = os.environ | {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "auto"}
    child = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert child.returncode == -signal.SIGKILL, child.stderr


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_a_store_that_serves_and_goes_on(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=settings("hash")) as memory:
        fill(memory, ROWS)
    for point in ("begun", "half", "half", "caught-up"):
        killed(tmp_path, point)
        with hydramem.connect(tmp_path, config=settings()) as memory:
            assert memory.stats().embedder == "hash/384"
            found = memory.doctor()
            assert (found.problems, found.unfinished_reindex) == ((), "hash/64"), point
            assert finds(memory, 70)
    killed(tmp_path, "switched")
    assert len(folders(tmp_path)) == 2
    with hydramem.connect(tmp_path, config=settings()) as memory:
        assert memory.stats().embedder == "hash/64"
        found = memory.doctor()
        assert (found.problems, found.unfinished_reindex) == ((), None)
        assert finds(memory, 70)
        assert memory.recall(LATE).hits[0].text == LATE
    assert len(folders(tmp_path)) == 1


@pytest.mark.costly
def test_the_command_moves_a_store_to_what_the_configuration_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with hydramem.connect(tmp_path, config=settings("hash")) as memory:
        fill(memory, 10)
    (tmp_path / "config.yml").write_text(
        f"storage:\n  graph: {DISK_ENGINE}\nembedding:\n  model: hash\n  dimension: 64\n"
    )
    assert run(["--store", str(tmp_path), "stats"]) == 1
    assert "hydramem reindex --model NAME" in capsys.readouterr().err
    assert run(["--store", str(tmp_path), "reindex"]) == 0
    assert "hash/64" in capsys.readouterr().out
    assert run(["--store", str(tmp_path), "recall", "where does crate zeta3 rest?"]) == 0
    assert "zeta3" in capsys.readouterr().out
