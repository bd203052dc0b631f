"""What is LanceDB's own: the folder, its damage, the index and the upkeep."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import EmbeddingMismatchError, InvalidInputError, StorageError
from hydramem.core.row_types import Chunk, Entity, Times
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.lance.arrow_rows import entity_schema
from hydramem.storage.lance.filters import literal
from hydramem.storage.lance.read_write_lock import ReadWriteLock
from hydramem.storage.lance.vectors import LanceVectors, open_vectors
from hydramem.storage.vector_rows import ChunkVector, EntityVector, Vector

DIMENSION = 16
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = ChunkFilter(states=())
_MOST_WASTE = 1.3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


def opened(folder: Path, dimension: int = DIMENSION, **settings: int) -> LanceVectors:
    return open_vectors(folder, dimension, replace(StorageConfig(), **settings))


def chunk(id: str, text: str = "hello") -> Chunk:
    return Chunk(id=id, project="p", text=text, kind="note", times=Times(recorded_at=NOON))


def fill(store: LanceVectors, vectors: Vector, *, first: int = 0) -> None:
    store.put(
        [
            ChunkVector(chunk=chunk(f"c{i}", f"hello number{i}"), vector=vector)
            for i, vector in enumerate(vectors, first)
        ]
    )


def clustered(rows: int, seed: int = 0) -> Vector:
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((20, DIMENSION))
    points = centres[random.integers(0, 20, rows)] + 0.3 * random.standard_normal((rows, DIMENSION))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def entity_vector(id: str, vector: Vector) -> EntityVector:
    entity = Entity(id=id, project="p", key="ada", name="Ada", first_seen=NOON, last_seen=NOON)
    return EntityVector(entity=entity, vector=vector)


def rewritten(folder: Path, vectors: Vector) -> int:
    """Return the bytes of a folder that holds such rows and was written at once."""
    with closing(opened(folder)) as store:
        fill(store, vectors)
        store.maintain(force=True)
    return disk_bytes(folder)


def disk_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_values_are_quoted_by_type() -> None:
    for value, written in (
        ("it's", "'it''s'"),
        ("\\'", "'\\'''"),
        (True, "true"),
        (3, "3"),
        (0.25, "0.25"),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "-1"),
        (datetime.min.replace(tzinfo=UTC), "-62135596800000000"),
    ):
        assert literal(value) == written


PROCESS = """
import os, pathlib, sys, warnings, hydramem.storage.lance, hydramem.storage.cypher
assert not {"lancedb", "ladybug", "kuzu", "pyarrow"} & set(sys.modules)
from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.lance.vectors import open_vectors
store = open_vectors(pathlib.Path(sys.argv[1]), 4, StorageConfig())
store.maintain(force=True)
warnings.simplefilter("ignore")  # LanceDB warns of forks
child = os.fork()
if child == 0:
    try:
        store.stats()
    except StorageError as error:
        os._exit(0 if "connect again" in str(error) else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.costly  # a process
def test_a_process_loads_an_engine_when_used_prints_nothing_and_its_fork_has_to_connect_again(
    folder: Path,
) -> None:
    command = [sys.executable, "-W", "error", "-c", PROCESS, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert done.stdout == done.stderr == b""


def test_opening_with_another_dimension_is_a_mismatch(folder: Path) -> None:
    opened(folder).close()
    with pytest.raises(EmbeddingMismatchError, match="have length 16, the embedder makes 8"):
        opened(folder, dimension=8)


def test_a_closed_store_says_so(folder: Path) -> None:
    store = opened(folder)
    store.close()
    store.close()
    for use in (store.put, store.stats, store.maintain, store.chunk_hashes):
        with pytest.raises(StorageError, match="closed"):
            use()


def every_file(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def use_everything(folder: Path) -> None:
    store = opened(folder)
    store.chunk_hashes()
    store.vectors(["c1"])
    store.nearest(clustered(1)[0], ALL, 5)
    store.matching("hello", ALL, 5)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of some rows, with an index of their words."""
    folder = tmp_path_factory.mktemp("closed") / "vectors"
    with closing(opened(folder)) as store:
        fill(store, clustered(50))
        store.maintain(force=True)
    return folder


@pytest.mark.parametrize(
    ("what", "how"), [("data", "cut"), ("data", "gone"), ("_versions", "noise"), ("_indices", "noise")]
)
def test_damaged_files_are_an_error_that_names_the_folder_and_stay(
    folder: Path, closed: Path, what: str, how: str
) -> None:
    shutil.copytree(closed, folder)
    damaged = [file for file in (folder / "chunks.lance" / what).rglob("*") if file.is_file()]
    assert damaged
    for file in damaged:
        if how == "gone":
            file.unlink()
        else:
            file.write_bytes(b"" if how == "cut" else os.urandom(file.stat().st_size))
    before = every_file(folder)
    with pytest.raises(StorageError, match="doctor --fix") as caught:
        use_everything(folder)
    assert str(folder) in str(caught.value)
    assert every_file(folder) == before


def test_a_folder_of_other_files_and_a_file_in_its_place_are_an_error(folder: Path) -> None:
    folder.write_text("mine")
    with pytest.raises(StorageError, match="vectors"):
        opened(folder)
    assert folder.read_text() == "mine"
    folder.unlink()
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="no table"):
        opened(folder)
    assert list(folder.iterdir()) == [folder / "notes.txt"]


def test_a_name_that_is_not_unicode_is_refused_whole(folder: Path) -> None:
    store = opened(folder)
    bad = replace(chunk("bad"), project="\ud800")
    with pytest.raises(InvalidInputError, match="bad"):
        store.put([ChunkVector(chunk=chunk("good"), vector=None), ChunkVector(chunk=bad, vector=None)])
    assert store.stats().chunks == 0


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanceVectors]:
    with closing(opened(tmp_path_factory.mktemp("indexed") / "vectors", index_rows=1000)) as store:
        for first in range(0, 2000, 500):
            fill(store, clustered(2000)[first : first + 500], first=first)
        store.maintain(force=True)
        yield store


def test_above_the_threshold_an_index_gives_the_exact_answers(indexed: LanceVectors, tmp_path: Path) -> None:
    exact = opened(tmp_path / "exact")
    fill(exact, clustered(2000))
    exact.maintain(force=True)
    assert indexed.stats().indexed
    assert not exact.stats().indexed
    shared = 0
    for query in clustered(30, seed=1):
        by_index, by_scan = indexed.nearest(query, ALL, 10), exact.nearest(query, ALL, 10)
        shared += len({hit.id for hit in by_index} & {hit.id for hit in by_scan})
        assert by_index[0].score == pytest.approx(by_scan[0].score, abs=1e-4)
    assert shared >= 0.98 * 300


def test_rows_written_after_the_index_was_built_are_found(indexed: LanceVectors) -> None:
    new = clustered(1, seed=5)[0]
    indexed.put([ChunkVector(chunk=chunk("new"), vector=new), ChunkVector(chunk=chunk("bare"), vector=None)])
    assert indexed.nearest(new, ALL, 1)[0].id == "new"
    indexed.maintain(force=True)
    assert indexed.nearest(new, ALL, 1)[0].id == "new"
    indexed.remove(chunks=["new"])
    assert indexed.nearest(new, ALL, 1)[0].id != "new"


@pytest.mark.costly  # enough rows for an index
def test_the_index_is_built_beside_reads_and_writes(folder: Path) -> None:
    store = opened(folder, index_rows=1000, compact_unindexed=1000)
    fill(store, clustered(1500))
    store.maintain()
    deadline = time.monotonic() + 60
    written = 0
    while not store.stats().indexed and time.monotonic() < deadline:
        fill(store, clustered(1, seed=written), first=1500 + written)
        written += 1
        assert store.nearest(clustered(1)[0], ALL, 1)
    assert store.stats().indexed
    assert store.stats().chunks == len(store.chunk_hashes()) == 1500 + written


def test_rows_without_vectors_do_not_call_for_an_index(folder: Path) -> None:
    store = opened(folder, index_rows=100)
    store.put([ChunkVector(chunk=chunk(f"c{i}"), vector=None) for i in range(300)])
    store.maintain(force=True)
    assert not store.stats().indexed


@pytest.mark.slow
def test_upkeep_bounds_fragments_versions_and_disk(folder: Path, tmp_path: Path) -> None:
    store = opened(folder, compact_fragments=16, compact_unindexed=64)
    vectors = clustered(300)
    for i, vector in enumerate(vectors):
        fill(store, vector[None], first=i)
        store.maintain()
    stats = store.stats()
    assert stats.fragments <= 20
    assert stats.unindexed < 64
    assert stats.versions <= 40
    assert len(store.chunk_hashes()) == 300
    store.maintain(force=True)
    assert disk_bytes(folder) < _MOST_WASTE * rewritten(tmp_path / "bulk", vectors)


def test_upkeep_goes_on_where_it_stood_when_opened_again(folder: Path) -> None:
    for i, vector in enumerate(clustered(10)):
        with closing(opened(folder, compact_fragments=4)) as store:
            fill(store, vector[None], first=i)
            store.maintain()
    assert opened(folder).stats().fragments <= 6


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.slow
def test_files_of_old_indices_are_not_kept_open(folder: Path) -> None:
    def open_files() -> list[str]:
        links = []
        for link in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):
                links.append(str(link.readlink()))
        return [link for link in links if link.startswith(str(folder))]

    with closing(opened(folder, compact_fragments=8)) as store:
        seen = []
        for i in range(160):
            fill(store, clustered(1, seed=i), first=i)
            store.maintain()
            assert store.matching(f"number{i}", ALL, 1)
            seen.append(len(open_files()))
        # Each of its twenty indices was read, and is of two or three files.
        assert max(seen) <= 12


@pytest.mark.costly  # enough rows that what is wasted shows
def test_what_is_written_anew_is_not_kept_twice(folder: Path, tmp_path: Path) -> None:
    vectors = clustered(1500)
    with closing(opened(folder)) as store:
        for turn in range(4):
            for first in range(0, 1500, 250):
                rows = range(first, first + 250)
                store.put(entities=[entity_vector(f"e{i}", vectors[i - turn]) for i in rows])
                store.put([ChunkVector(chunk=chunk(f"c{i}", f"{turn}"), vector=vectors[i]) for i in rows])
                store.maintain()
        store.maintain(after_bulk=True)
        kept = disk_bytes(folder)
    with closing(opened(tmp_path / "bulk")) as bulk:
        bulk.put(entities=[entity_vector(f"e{i}", vectors[i - 3]) for i in range(1500)])
        bulk.put([ChunkVector(chunk=chunk(f"c{i}", "3"), vector=vectors[i]) for i in range(1500)])
        bulk.maintain(force=True)
    assert kept < _MOST_WASTE * disk_bytes(tmp_path / "bulk")


@pytest.mark.costly  # many versions
def test_closing_drops_old_versions_where_they_are_many(folder: Path) -> None:
    vectors = clustered(60)
    with closing(opened(folder, compact_fragments=1000)) as store:
        for i, vector in enumerate(vectors):
            fill(store, vector[None], first=i)
        before = disk_bytes(folder)
    assert disk_bytes(folder) < before / 5
    with closing(opened(folder, compact_fragments=1000)) as store:
        assert store.stats().versions < 8
        assert len(store.chunk_hashes()) == len(vectors)


@pytest.mark.slow
def test_reads_go_on_while_old_versions_are_dropped(folder: Path) -> None:
    store, stop = opened(folder, compact_fragments=2), threading.Event()
    fill(store, clustered(500))

    def read() -> None:
        query = clustered(1)[0]
        while not stop.is_set():
            assert store.nearest(query, ALL, 5)
            assert store.matching("number7", ALL, 5)[0].id == "c7"
            assert store.vectors(["c7"])

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for i in range(30):
            fill(store, clustered(1, seed=i), first=1000 + i)
            store.maintain()
        stop.set()
    for reader in readers:
        reader.result()


@pytest.mark.slow
def test_writes_go_on_while_fragments_are_merged(folder: Path, tmp_path: Path) -> None:
    store = opened(folder, compact_fragments=2)
    fill(store, clustered(300))
    stop, wrote = threading.Event(), list[int]()

    def write() -> None:
        while not stop.is_set():
            # New rows, and rows that are being moved.
            fill(store, clustered(1, seed=len(wrote)), first=1000 + len(wrote))
            fill(store, clustered(1, seed=len(wrote)), first=len(wrote) % 300)
            wrote.append(1)

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        for _ in range(20):
            store.maintain(after_bulk=True)
            store.maintain(force=True)
        stop.set()
    writer.result()
    assert wrote
    assert len(store.chunk_hashes()) == 300 + len(wrote) == store.stats().chunks
    newest = clustered(1, seed=len(wrote) - 1)[0]
    best = {each.id for each in store.nearest(newest, ALL, 2)}
    assert best == {f"c{999 + len(wrote)}", f"c{(len(wrote) - 1) % 300}"}
    store.maintain(force=True)
    store.close()
    # Nothing is left of the merges that a writer preempted.
    assert disk_bytes(folder) < _MOST_WASTE * rewritten(tmp_path / "bulk", clustered(300 + len(wrote)))


def test_the_gate_lets_one_in_alone_only_when_the_last_reader_has_left() -> None:
    lock, steps = ReadWriteLock(), list[str]()

    def alone() -> None:
        with lock.exclusive():
            steps.append("alone")

    with lock.reading(), lock.reading():
        thread = threading.Thread(target=alone)
        thread.start()
        thread.join(0.05)
        steps.append("read")
    thread.join()
    with lock.reading():
        steps.append("read again")
    assert steps == ["read", "alone", "read again"]


def test_upkeep_comes_sooner_after_a_bulk_of_writes(folder: Path) -> None:
    store = opened(folder)
    for first in range(0, 300, 60):
        fill(store, clustered(60), first=first)
        store.maintain()
    assert store.stats().unindexed == 300
    store.maintain(after_bulk=True)
    assert store.stats().unindexed == 0
    fill(store, clustered(1), first=300)
    store.maintain(after_bulk=True)
    assert store.stats().unindexed == 1
    store.close()


def test_upkeep_with_nothing_due_changes_nothing(folder: Path) -> None:
    with closing(opened(folder)) as store:
        fill(store, clustered(500))
        before = store.stats()
        for _ in range(3):
            store.maintain()
        assert store.stats() == before


def test_rows_that_are_new_are_appended_and_rows_that_are_there_are_replaced(folder: Path) -> None:
    with closing(opened(folder)) as store:
        fill(store, clustered(3))
        store.put([ChunkVector(chunk=chunk("c1", "other words"), vector=clustered(1)[0])])
        fill(store, clustered(1), first=3)
    with closing(opened(folder)) as store:  # what it holds is read from the folder
        store.put([ChunkVector(chunk=chunk("c3", "more words"), vector=clustered(1)[0])])
        assert store.stats().chunks == 4
        assert [hit.id for hit in store.matching("other", ALL, 9)] == ["c1"]
        assert [hit.id for hit in store.matching("more", ALL, 9)] == ["c3"]


def test_an_entity_that_is_not_there_costs_no_version_when_it_is_removed(folder: Path) -> None:
    with closing(opened(folder)) as store:
        store.put(entities=[entity_vector("e1", clustered(1)[0])])
        before = store.stats().versions
        store.remove(entities=["e2", "e3"])
        assert store.stats().versions == before
        store.remove(entities=["e1", "e2"])
        assert (store.stats().entities, store.stats().versions) == (0, before + 1)


def test_entities_without_a_vector_leave_a_store_of_an_earlier_version(folder: Path) -> None:
    opened(folder).close()
    database = lancedb.connect(folder)
    kept = entity_schema(DIMENSION)
    bare = kept.set(kept.get_field_index("vector"), kept.field("vector").with_nullable(True))
    rows = [
        {"id": f"e{i}", "project": "p", "name": "Ada", "vector": None if i % 2 else vector, "mirror": "m"}
        for i, vector in enumerate(clustered(10).tolist())
    ]
    database.create_table(
        "entities", pa.Table.from_pylist(rows, schema=bare), mode="overwrite", on_bad_vectors="null"
    )
    for _ in range(2):  # the second time there is nothing to do
        with closing(opened(folder)) as store:
            assert store.entity_hashes().keys() == {"e0", "e2", "e4", "e6", "e8"}
            assert store.nearest_entities(clustered(10)[4], (), 1)[0].id == "e4"
            store.put(entities=[entity_vector("e0", clustered(1)[0])])
            versions = store.stats().versions
    with closing(opened(folder)) as store:
        assert store.stats().versions <= versions
