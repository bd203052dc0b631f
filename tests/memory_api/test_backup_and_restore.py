"""A memory saved and brought back: by a call, by a command, and where the store is damaged."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.core.inputs import CuratedChange
from hydramem.storage.schema import CHUNK
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings

CONFIG = settings(DISK_ENGINE, memory=MemoryConfig(cognitive=False))
SETTINGS = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


def fill(memory: hydramem.Memory) -> None:
    memory.remember("Ada moved billing to MySQL.")
    memory.curate("user", [CuratedChange(action="add", content="Prefers tea.")])
    memory.drain()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        fill(memory)
        yield memory


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    """A memory that tests leave as they found it."""
    with hydramem.connect(tmp_path_factory.mktemp("shared") / "store", config=CONFIG) as memory:
        fill(memory)
        yield memory


def texts(memory: hydramem.Memory) -> set[str]:
    return {row.text for rows in memory._use().graph.scan(CHUNK) for row in rows}


@pytest.mark.engine
@pytest.mark.costly  # a backup is of files, so that these tests have a real store
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


def test_a_folder_that_is_not_there_is_not_made(shared: hydramem.Memory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no folder"):
        shared.backup(to=str(tmp_path / "missing" / "backup.tar.gz"))
    assert not (tmp_path / "missing").exists()
    (tmp_path / "there").mkdir()
    assert Path(shared.backup(to=str(tmp_path / "there")).file).parent == (tmp_path / "there").resolve()


@pytest.mark.costly
def test_what_cannot_be_restored_leaves_the_memory_open(shared: hydramem.Memory, tmp_path: Path) -> None:
    before = texts(shared)
    (tmp_path / "odd").write_bytes(b"odd")
    for odd in (str(tmp_path / "odd"), "x" * 3000, "a\0b", "", str(tmp_path)):
        with pytest.raises((InvalidInputError, StorageError)):
            shared.restore(odd)
    with pytest.raises(StorageError, match="cannot be written"):
        shared.backup("x" * 3000)
    made = shared.backup().file
    with (
        hydramem.connect(shared.folder, config=CONFIG),
        pytest.raises(StoreBusyError, match="2 handles"),
    ):
        shared.restore(made)
    assert texts(shared) == before


def test_a_memory_without_files_says_so(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path / "none", config=settings("memory")) as memory:
        with pytest.raises(InvalidInputError, match="dump"):
            memory.backup(to=str(tmp_path / "x"))
        with pytest.raises(InvalidInputError):
            memory.restore(str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


@pytest.mark.costly
def test_the_command_restores_a_damaged_store_or_into_an_empty_folder(
    memory: hydramem.Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made, store = memory.backup(to=str(tmp_path)).file, memory.folder
    memory.close()
    for file in (store / "graph").glob("*.db"):
        file.write_bytes(b"gone")
    with pytest.raises(StorageError):
        hydramem.connect(store, config=CONFIG)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    asides = []
    for folder in (store, tmp_path / "new"):
        assert run(("--store", str(folder), "restore", made, "--json")) == 0
        out, err = capsys.readouterr()
        done = json.loads(out)
        asides.append(done["aside"])
        assert done["vectors"] > 0 and (folder / "curated").is_dir()
        with hydramem.connect(folder, config=CONFIG) as back:
            assert texts(back) == {"Ada moved billing to MySQL."}
    assert err == ""  # no word of vectors that are gone: they are made anew
    assert Path(asides[0]).is_dir() and asides[1] is None
