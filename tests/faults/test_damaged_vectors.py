"""A LanceDB file that is damaged while a store is open, or before: an error that names it, and a repair."""

from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import StorageError
from hydramem.storage.lance.vectors import lance_errors
from tests.faults.damage import ENGINE  # noqa: F401 -- these tests run on both engines
from tests.faults.stores import CONFIG, remember, sentence

ROWS = 3


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        for number in range(ROWS):
            remember(memory, number)
        memory._opened.vectors.maintain(force=True)
    return tmp_path / "store"


def cut(store: Path, pattern: str) -> None:
    """Cut files of the vectors to half their size, which makes LanceDB panic."""
    for file in (store / "vectors" / "chunks.lance").glob(pattern):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("pattern", ["data/*", "_indices/*/part_*_invert.lance"])
def test_a_damaged_file_is_an_error_that_names_the_table_and_is_repaired(store: Path, pattern: str) -> None:
    cut(store, pattern)
    with hydramem.connect(store, config=CONFIG) as memory:
        found = memory.doctor()
        assert not found.healthy
        (problem,) = found.problems
        assert str(store / "vectors" / "chunks.lance") in problem and "hydramem doctor --fix" in problem
        assert memory.doctor(fix=True).healthy
        assert memory.recall(sentence(1), limit=1).hits[0].text == sentence(1)
        assert remember(memory, ROWS)
        assert memory.doctor().healthy
    assert list(store.glob("vectors.damaged-*"))
    with hydramem.connect(store, config=CONFIG) as memory:
        assert len(memory.memories()) == ROWS + 1 and memory.doctor().healthy


def test_a_recall_of_damaged_vectors_is_a_storage_error(store: Path) -> None:
    cut(store, "data/*")
    with (
        hydramem.connect(store, config=CONFIG) as memory,
        pytest.raises(StorageError, match="nothing was deleted, `hydramem doctor --fix` rebuilds"),
    ):
        memory.recall(sentence(1))


def test_zeros_at_the_end_of_a_file_are_a_storage_error(store: Path) -> None:
    """LanceDB panics in one of its threads, which is another class of error."""
    for file in (store / "vectors" / "chunks.lance").glob("data/*"):
        data = file.read_bytes()
        file.write_bytes(data[:-81] + bytes(64) + data[-17:])
    with hydramem.connect(store, config=CONFIG) as memory:
        for read in (memory.recall, memory.prime):
            with pytest.raises(StorageError, match="hydramem doctor --fix"):
                read(sentence(1))
        assert memory.doctor(fix=True).healthy


def test_what_ends_the_program_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), lance_errors(Path("vectors")):
        raise KeyboardInterrupt
