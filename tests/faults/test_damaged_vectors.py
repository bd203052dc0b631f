"""A LanceDB file that is damaged while a store is open, or before: an error that names it, and a repair."""

import shutil
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import StorageError
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.lance.vectors import lance_errors
from tests.engines import DISK_ENGINE  # noqa: F401 -- these tests run on both engines
from tests.faults.damage import flip
from tests.faults.stores import CONFIG, remember, sentence

ROWS = 3


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "store"
    with hydramem.connect(folder, config=CONFIG) as memory:
        for number in range(ROWS):
            remember(memory, number)
        memory._opened.vectors.maintain(force=True)
    return folder


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "store"))


def cut(store: Path, pattern: str) -> None:
    """Cut files of the vectors to half their size, which makes LanceDB panic."""
    for file in (store / "vectors" / "chunks.lance").glob(pattern):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.costly
@pytest.mark.parametrize(
    ("pattern", "rebuilt"), [("data/*", True), ("_indices/*/part_*_invert.lance", False)]
)
def test_a_damaged_file_is_an_error_that_names_the_table_and_is_repaired(
    store: Path, pattern: str, rebuilt: bool
) -> None:
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
    assert bool(list(store.glob("vectors.damaged-*"))) is rebuilt
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


def test_an_index_of_words_that_reads_as_if_it_had_none_is_found_and_made_anew(store: Path) -> None:
    """LanceDB reads zeros in the list of words without an error: a search by words then finds nothing."""
    (words,) = (store / "vectors" / "chunks.lance").glob("_indices/*/part_*_tokens.lance")
    data = words.read_bytes()
    words.write_bytes(bytes(64) + data[64:])
    with hydramem.connect(store, config=CONFIG) as memory:
        (problem,) = memory.doctor().problems
        assert words.name in problem and "is damaged" in problem
        found = memory.doctor(fix=True)
        assert found.healthy and any("made anew" in warning for warning in found.warnings)
        assert memory._opened.vectors.matching("crate", ChunkFilter(), limit=ROWS)
    with hydramem.connect(store, config=CONFIG) as memory:
        assert memory.doctor().healthy and not memory.doctor().warnings


def test_a_changed_letter_of_a_vector_is_found(store: Path) -> None:
    for file in (store / "vectors" / "chunks.lance").glob("data/*"):
        flip(file, byte=200)
    with hydramem.connect(store, config=CONFIG) as memory:
        assert "is damaged" in memory.doctor().problems[0]
        assert memory.doctor(fix=True).healthy and memory.doctor().healthy


@pytest.mark.costly  # it kills a process
@pytest.mark.parametrize("name", ["chunks", "entities"])
def test_a_kill_while_a_table_is_made_leaves_a_store_that_opens(tmp_path: Path, name: str) -> None:
    with hydramem.connect(tmp_path / "store", config=CONFIG):
        pass
    table = tmp_path / "store" / "vectors" / f"{name}.lance"
    shutil.rmtree(table / "_versions")
    shutil.rmtree(table / "data", ignore_errors=True)
    shutil.rmtree(table / "_indices", ignore_errors=True)
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        assert memory.doctor().healthy
        remember(memory, 1)
        assert memory.recall(sentence(1), limit=1).hits and memory.doctor().healthy


def test_a_table_with_rows_whose_versions_are_gone_stays_and_is_named(store: Path) -> None:
    table = store / "vectors" / "chunks.lance"
    rows = sorted((table / "data").iterdir())
    shutil.rmtree(table / "_versions")
    with hydramem.connect(store, config=CONFIG) as memory:
        assert "chunks" in memory.doctor().problems[0]
        assert sorted((table / "data").iterdir()) == rows
        assert memory.doctor(fix=True).healthy
        assert memory.recall(sentence(1), limit=1).hits[0].text == sentence(1)


@pytest.mark.costly
def test_files_that_are_rewritten_or_gone_are_no_damage(store: Path) -> None:
    with hydramem.connect(store, config=CONFIG) as memory:
        for number in range(ROWS, 2 * ROWS):
            remember(memory, number)
        memory.forget([remember(memory, 2 * ROWS)])
        assert memory.doctor().healthy
        memory._opened.vectors.maintain(force=True)
        assert memory.doctor().healthy
    (store / "vectors" / "chunks.checksums.json").write_bytes(b"\x00")
    with hydramem.connect(store, config=CONFIG) as memory:
        assert memory.doctor().healthy


def test_what_ends_the_program_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), lance_errors(Path("vectors")):
        raise KeyboardInterrupt
