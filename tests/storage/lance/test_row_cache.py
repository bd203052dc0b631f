"""The rows of a LanceDB table in memory say what the table says, whatever is done to it."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.row_types import Chunk, Times
from hydramem.storage.cached_rows import row_arrays
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.lance.vectors import LanceVectors, open_vectors
from hydramem.storage.vector_rows import ChunkVector, Vector, VectorStore

DIMENSION = 8
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = ChunkFilter(states=())
WORDS = ("amber", "birch", "cedar", "delta", "ember")


def opened(folder: Path, index_rows: int = 200_000) -> LanceVectors:
    return open_vectors(folder, DIMENSION, StorageConfig(index_rows=index_rows))


def chunk(id: str, chance: random.Random) -> Chunk:
    return Chunk(
        id=id,
        project=chance.choice(["p", "q"]),
        text=" ".join(chance.choices(WORDS, k=4)),
        kind="note",
        times=Times(recorded_at=NOON),
    )


def direction(chance: random.Random) -> Vector:
    return np.array([chance.gauss(0, 1) for _ in range(DIMENSION)], dtype=np.float32)


def maybe(chance: random.Random) -> Vector | None:
    return None if chance.random() < 0.2 else direction(chance)


def agree(store: VectorStore, plain: VectorStore, query: Vector, where: ChunkFilter) -> None:
    one, other = store.nearest(query, where, 10), plain.nearest(query, where, 10)
    assert [hit.id for hit in one] == [hit.id for hit in other]
    assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-6)


def test_it_follows_writes_removals_and_upkeep(tmp_path: Path) -> None:
    chance = random.Random(3)
    store, plain = opened(tmp_path / "vectors"), InMemoryVectors(DIMENSION)
    for step in range(18):
        ids = [f"c{chance.randrange(80)}" for _ in range(chance.randrange(1, 6))]
        if step % 3 == 2:
            store.remove(chunks=ids)
            plain.remove(chunks=ids)
        else:
            rows = [ChunkVector(chunk=chunk(id, chance), vector=maybe(chance)) for id in ids]
            store.put(rows)
            plain.put(rows)
        if step % 9 == 5:
            store.maintain(force=True)
        query, where = direction(chance), chance.choice([ALL, replace(ALL, projects=("q",))])
        agree(store, plain, query, where)
        found = store.matching("amber", where, 100)
        assert {hit.id for hit in found} == {hit.id for hit in plain.matching("amber", where, 100)}


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_vectors_come_back_as_they_were_written(tmp_path: Path, length: float) -> None:
    chance = random.Random(8)
    store = opened(tmp_path / "vectors")
    written = {f"c{i}": np.float32(length) * unit(chance) for i in range(50)}
    store.put([ChunkVector(chunk=chunk(id, chance), vector=vector) for id, vector in written.items()])
    store.put([ChunkVector(chunk=chunk("bare", chance), vector=None)])
    store.nearest(direction(chance), ALL, 1)  # they are in memory from here on
    written["c1"] = np.float32(length) * unit(chance)
    store.put([ChunkVector(chunk=chunk("c1", chance), vector=written["c1"])])
    store.remove(chunks=["c2"])
    found = store.vectors([*written, "bare", "unknown"])
    assert found.keys() == written.keys() - {"c2"}
    for id, vector in found.items():
        np.testing.assert_array_equal(vector, written[id])


def unit(chance: random.Random) -> Vector:
    vector = direction(chance)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def test_it_is_read_again_when_many_rows_are_gone(tmp_path: Path) -> None:
    chance = random.Random(4)
    store, plain = opened(tmp_path / "vectors"), InMemoryVectors(DIMENSION)
    for _ in range(row_arrays.GONE_ROWS // 300 + 2):
        rows = [ChunkVector(chunk=chunk(f"c{i}", chance), vector=direction(chance)) for i in range(300)]
        store.put(rows)
        plain.put(rows)
        agree(store, plain, direction(chance), ALL)


def test_words_and_filters_find_the_same_with_and_without_it(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows = [
        ChunkVector(chunk=replace(chunk(f"c{i}", chance), scope=f"/{i % 40}"), vector=direction(chance))
        for i in range(400)
    ]
    near, far = opened(tmp_path / "near"), opened(tmp_path / "far", index_rows=0)
    for store in (near, far):
        store.put(rows)
        store.maintain(force=True)  # rows that the index does not hold yet are scored by other counts
    # Of every share: most rows, half of them, one in forty, none.
    for where in (ALL, replace(ALL, projects=("p",)), replace(ALL, scope="/7"), replace(ALL, scope="/none")):
        for limit in (1, 20, 1000):
            one, other = (store.matching("amber cedar", where, limit) for store in (near, far))
            assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other])
            if limit == 1000:
                assert [hit.id for hit in one] == [hit.id for hit in other]


def test_beyond_its_bound_the_index_on_disk_serves(tmp_path: Path) -> None:
    chance = random.Random(6)
    last = direction(chance)
    rows = [ChunkVector(chunk=chunk(f"c{i}", chance), vector=direction(chance)) for i in range(399)]
    rows.append(ChunkVector(chunk=chunk("c399", chance), vector=last))
    store = opened(tmp_path / "vectors", index_rows=300)
    store.put(rows[:200])
    assert store.nearest(direction(chance), ALL, 5)
    store.put(rows[200:])
    assert store.nearest(last, ALL, 1)[0].id == "c399"  # still from memory
    store.maintain(force=True)
    assert store.stats().indexed
    assert store.nearest(last, ALL, 1)[0].id == "c399"
    assert {hit.id for hit in store.matching("amber", ALL, 400)}
