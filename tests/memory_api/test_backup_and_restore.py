"""A memory saved and brought back: while others write, by command, and where the store is damaged."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, MemoryConfig, StorageConfig
from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.core.inputs import CuratedChange
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.storage.schema import CHUNK

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
CONFIG = Config(
    storage=StorageConfig(graph=ENGINE, buffer_pool_mb=256, max_db_gb=8),  # type: ignore[arg-type]
    embedding=EmbeddingConfig(model="hash"),
    memory=MemoryConfig(cognitive=False),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        memory.remember("Ada moved billing to MySQL.")
        memory.curate("user", [CuratedChange(action="add", content="Prefers tea.")])
        memory.drain()
        yield memory


def texts(memory: hydramem.Memory) -> set[str]:
    return {row.text for rows in memory._use().graph.scan(CHUNK) for row in rows}


def test_the_memory_is_what_it_was(memory: hydramem.Memory) -> None:
    before, curated = texts(memory), memory.curated()
    made = memory.backup()
    memory.remember("Bob moved it back to PostgreSQL.")
    memory.curate("user", [CuratedChange(action="add", content="Prefers coffee.")])
    done = memory.restore(made.file)
    assert texts(memory) == before and memory.curated() == curated
    assert done.made_at == made.made_at and not done.notes and done.vectors > 0
    assert memory.recall("Who moved billing?").hits[0].text == "Ada moved billing to MySQL."
    assert memory.doctor().healthy
    memory.remember("Carl writes on.", wait=False)
    assert memory.drain().left == 0 and "Carl writes on." in texts(memory)


def test_a_folder_that_is_not_there_is_not_made(memory: hydramem.Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no folder"):
        memory.backup(to=str(tmp_path / "missing" / "backup.tar.gz"))
    assert not (tmp_path / "missing").exists()
    (tmp_path / "there").mkdir()
    assert Path(memory.backup(to=str(tmp_path / "there")).file).parent == (tmp_path / "there").resolve()


@pytest.mark.slow
def test_it_is_of_one_moment_while_others_write(memory: hydramem.Memory, tmp_path: Path) -> None:
    stop, failed = threading.Event(), list[BaseException]()

    def write() -> None:
        number = 0
        while not stop.is_set():
            try:
                sides = [MemoryInput(text=f"Pair {number} {side}.") for side in ("left", "right")]
                memory.remember_many(sides)
            except BaseException as error:  # noqa: BLE001  # the test says which
                failed.append(error)
                return
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        made = [memory.backup(to=str(tmp_path / f"{number}.tar.gz")).file for number in range(4)]
    finally:
        stop.set()
        thread.join()
    assert not failed
    sizes = []
    for number, file in enumerate(made):
        (tmp_path / f"copy{number}").mkdir()
        with hydramem.connect(tmp_path / f"copy{number}", config=CONFIG) as copy:
            copy.restore(file)
            found = {text for text in texts(copy) if text.startswith("Pair")}
            assert copy.doctor().healthy
        sizes.append(len(found))
        # No pair is torn, and none is left out of the middle.
        whole = {f"Pair {n} {side}." for n in range(len(found) // 2) for side in ("left", "right")}
        assert found == whole
    assert sizes == sorted(sizes)


def test_what_cannot_be_restored_leaves_the_memory_open(memory: hydramem.Memory, tmp_path: Path) -> None:
    before = texts(memory)
    (tmp_path / "odd").write_bytes(b"odd")
    with pytest.raises(InvalidInputError):
        memory.restore(str(tmp_path / "odd"))
    for odd in ("x" * 3000, "a\0b", "", str(tmp_path)):
        with pytest.raises((InvalidInputError, StorageError)):
            memory.restore(odd)
    with pytest.raises(StorageError, match="cannot be written"):
        memory.backup("x" * 3000)
    made = memory.backup().file
    with (
        hydramem.connect(memory.folder, config=CONFIG),
        pytest.raises(StoreBusyError, match="2 handles"),
    ):
        memory.restore(made)
    assert texts(memory) == before


def test_a_memory_without_files_says_so(tmp_path: Path) -> None:
    config = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path / "none", config=config) as memory:
        with pytest.raises(InvalidInputError, match="dump"):
            memory.backup(to=str(tmp_path / "x"))
        with pytest.raises(InvalidInputError):
            memory.restore(str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def shell(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    settings = {"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
    command = [sys.executable, "-m", "hydramem", "--store", str(store), *words, "--json"]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, timeout=60)


@pytest.mark.slow
def test_the_command_restores_a_damaged_store(memory: hydramem.Memory, tmp_path: Path) -> None:
    made, store = memory.backup(to=str(tmp_path)).file, memory.folder
    assert f"process {os.getpid()}" in shell(store, "restore", made).stderr
    memory.close()
    for file in (store / "graph").glob("*.db"):
        file.write_bytes(b"gone")
    with pytest.raises(StorageError):
        hydramem.connect(store, config=CONFIG)
    done = json.loads(shell(store, "restore", made).stdout)
    assert Path(done["aside"]).is_dir() and done["vectors"] > 0
    with hydramem.connect(store, config=CONFIG) as back:
        assert texts(back) == {"Ada moved billing to MySQL."}


def test_the_command_restores_into_an_empty_folder(memory: hydramem.Memory, tmp_path: Path) -> None:
    made = memory.backup().file
    ran = shell(tmp_path / "new", "restore", made)
    assert ran.stderr == ""  # no word of vectors that are gone: they are made anew
    done = json.loads(ran.stdout)
    assert done["aside"] is None and (tmp_path / "new" / "curated").is_dir()
