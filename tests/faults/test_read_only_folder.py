"""A store on a medium that cannot be written: everything is read, writes are refused, and no file changes."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import SharingConfig
from hydramem.core.errors import ReadOnlyError, StorageError, StoreBusyError
from tests.engines import DISK_ENGINE
from tests.faults.damage import hashes, log_of
from tests.faults.stores import CONFIG, EARLIER, LATER, killed_store, remember, sentence


@contextlib.contextmanager
def unwritable(folder: Path) -> Iterator[Path]:
    """Make a folder read-only: by its permissions, or for root, who needs none, by a mount."""
    if os.geteuid():
        subprocess.run(["chmod", "-R", "a-w", str(folder)], check=True)
        yield folder
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
        return
    place = folder.with_name("mounted")
    place.mkdir()
    if (
        not sys.platform.startswith("linux")
        or subprocess.run(
            ["mount", "--bind", str(folder), str(place)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a read-only medium cannot be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose process died, so that it has a log."""
    return killed_store(tmp_path_factory.mktemp("original"))


@pytest.fixture
def killed(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "store"))


@pytest.fixture(scope="module")
def closed_original(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was closed."""
    folder = Path(shutil.copytree(original, tmp_path_factory.mktemp("closed") / "store"))
    with hydramem.connect(folder, config=CONFIG) as memory:
        memory.relate("Ada", "works for", "Acme")
        memory.curate("memory", [hydramem.CuratedChange(action="add", content="Ada prefers tea.")])
        memory.recall(sentence(1))
    return folder


@pytest.fixture
def closed(closed_original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(closed_original, tmp_path / "store"))


def read_all(memory: hydramem.Memory) -> None:
    """Assert that reads of each kind answer."""
    rows = memory.memories(limit=100)
    assert {row.text for row in rows} >= {sentence(number) for number in range(EARLIER + LATER)}
    assert memory.get(rows[0].id).text == rows[0].text
    assert memory.recall(sentence(2), limit=1).hits[0].text == sentence(2)
    assert sentence(2) in memory.prime(sentence(2)).text
    assert memory.stats().counts.chunks == len(rows)
    assert memory.doctor().problems == ()


WRITES: dict[str, Callable[[hydramem.Memory], object]] = {
    "remember": lambda memory: remember(memory, 100),
    "forget": lambda memory: memory.forget([memory.memories()[0].id]),
    "relate": lambda memory: memory.relate("Bob", "works for", "Acme"),
    "curate": lambda memory: memory.curate("user", [hydramem.CuratedChange(action="add", content="Ada.")]),
    "capture": lambda memory: memory.capture([hydramem.SaidTurn(author="user", text="Hello.")], session="s"),
    "drain": lambda memory: memory.drain(),
    "doctor": lambda memory: memory.doctor(fix=True),
    "reindex": lambda memory: memory.reindex(),
    "garden": lambda memory: memory.garden(),
    "erase": lambda memory: memory.erase([memory.memories()[0].id]),
    "backup": lambda memory: memory.backup(),
    "restore": lambda memory: memory.restore("backup.tar.gz"),
}


@pytest.mark.costly
def test_a_store_is_read_and_writes_are_refused(closed: Path, tmp_path: Path) -> None:
    before = hashes(closed)
    with unwritable(closed) as folder, hydramem.connect(folder, config=CONFIG) as memory:
        read_all(memory)
        assert [one.object for one in memory.relations()] == ["Acme"]
        assert memory.neighbors("Ada") and memory.graph().nodes
        assert memory.curated("memory")[0].entries == ("Ada prefers tea.",)
        for name, write in WRITES.items():
            with pytest.raises(ReadOnlyError) as caught:
                write(memory)
            assert str(caught.value).startswith(f"{folder}: the folder is read-only"), name
        read_all(memory)
        assert Path(memory.backup(str(tmp_path / "copy.tar.gz")).file).exists()
        memory.dump(str(tmp_path / "dump"))
    assert hashes(closed) == before


def test_a_store_whose_process_died_is_read_with_its_log(killed: Path) -> None:
    before = hashes(killed)
    assert log_of(killed / "graph").stat().st_size
    with unwritable(killed) as folder, hydramem.connect(folder, config=CONFIG) as memory:
        read_all(memory)
        with pytest.raises(ReadOnlyError):
            remember(memory, 100)
    assert hashes(killed) == before


def test_a_log_that_must_be_mended_is_refused(killed: Path) -> None:
    log = log_of(killed / "graph")
    log.write_bytes(log.read_bytes()[:-7] if DISK_ENGINE == "ladybug" else b"\xff" * 999)
    with (
        unwritable(killed) as folder,
        pytest.raises(
            StorageError, match=r"cannot be mended here; make the folder|the graph has lost writes"
        ),
    ):
        hydramem.connect(folder, config=CONFIG)


def test_a_store_that_a_process_writes_is_not_read_beside_it(closed: Path) -> None:
    alone = replace(CONFIG, sharing=SharingConfig(enabled=False))
    with hydramem.connect(closed, config=alone), unwritable(closed) as folder, pytest.raises(StoreBusyError):
        hydramem.connect(folder, config=alone)


def test_a_store_that_a_process_writes_is_read_through_that_process(closed: Path) -> None:
    with (
        hydramem.connect(closed, config=CONFIG) as memory,
        unwritable(closed) as folder,
        hydramem.connect(folder, config=CONFIG) as client,
    ):
        assert client.projects() == memory.projects()


def test_a_folder_without_a_store_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with unwritable(tmp_path / "empty") as folder, pytest.raises(StorageError, match="cannot be written"):
        hydramem.connect(folder, config=CONFIG)
