"""What the vector store on PostgreSQL does beyond the contract: its index, transactions and bounded text."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import StorageConfig
from hydramem.core.errors import EmbeddingMismatchError
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.vector_rows import ChunkVector, VectorStore
from tests.storage.postgres_server import postgres_vectors
from tests.storage.rows import chunk

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.storage.postgres.vectors import text_search
from hydramem.storage.postgres.vectors.stored_text import escaped, plain
from hydramem.storage.postgres.vectors.vectors import drop_vectors, open_vectors

ALL = ChunkFilter(states=())
WORDS = [f"word{number}x" for number in range(300)]


@pytest.fixture
def store() -> Iterator[VectorStore]:
    with postgres_vectors(8, StorageConfig()) as made:
        yield made


def texts(count: int, seed: int = 7) -> list[str]:
    """Return texts whose words are as uneven as language's: the first stands in most, the last in few."""
    random = Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return [" ".join(random.choices(WORDS, weights, k=random.randrange(3, 30))) for _ in range(count)]


def clustered(count: int, dimension: int) -> np.ndarray:
    """Return unit vectors in clusters, as those of sentences are."""
    random = np.random.default_rng(3)
    centres = random.standard_normal((40, dimension))
    vectors = centres[random.integers(0, 40, count)] + 0.7 * random.standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_an_index_finds_nearly_all_of_the_nearest_rows_behind_a_filter() -> None:
    vectors = clustered(2000, 32)
    rows = [chunk(f"c{number:04}", project=f"p{number % 2}") for number in range(len(vectors))]
    # Of so few rows the planner would rather sort all: it is to take the index, as it does of many.
    with postgres_vectors(32, StorageConfig(index_rows=1000), options="-c enable_sort=off") as store:
        store.put([ChunkVector(chunk=row, vector=v) for row, v in zip(rows, vectors, strict=True)])
        assert not store.stats().indexed
        store.maintain(force=True)
        assert store.stats().indexed
        found = wanted = 0
        for number in range(0, 2000, 70):
            query, project = vectors[number], f"p{number % 3 % 2}"
            inside = np.array([row.project == project for row in rows])
            best = np.argsort(np.where(inside, -(vectors @ query), np.inf))[:20]
            hits = store.nearest(query, ChunkFilter(projects=(project,)), 20)
            assert len(hits) == 20
            found += len({rows[place].id for place in best} & {hit.id for hit in hits})
            wanted += 20
    assert found / wanted >= 0.95


def test_an_index_does_not_hide_rows_that_a_narrow_filter_admits() -> None:
    vectors = clustered(1500, 16)
    rows = [chunk(f"c{number}", scope="/rare" if number % 500 == 0 else "/") for number in range(1500)]
    with postgres_vectors(16, StorageConfig(index_rows=1000)) as store:
        store.put([ChunkVector(chunk=row, vector=v) for row, v in zip(rows, vectors, strict=True)])
        store.maintain(force=True)
        hits = store.nearest(vectors[7], ChunkFilter(scope="/rare"), 20)
    assert {hit.id for hit in hits} == {"c0", "c500", "c1000"}


@pytest.mark.parametrize("few", [(1,), (60, 400), (100_000,)])
def test_text_is_found_in_the_order_of_plain_bm25_however_much_of_it_common_words_find(
    store: VectorStore, few: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "_FEW_ROWS", few)
    monkeypatch.setattr(text_search, "_FEW_TAKEN", 10)
    monkeypatch.setattr(text_search, "_TAKEN_OF_LIMIT", 2)
    memory = InMemoryVectors(8)
    rows = [chunk(f"c{n:03}", text, project=f"p{n % 3}") for n, text in enumerate(texts(400))]
    for target in (store, memory):
        target.put([ChunkVector(chunk=row, vector=None) for row in rows])
        target.remove(chunks=[row.id for row in rows[::7]])
        target.put(
            [ChunkVector(chunk=replace(row, text=row.text + " otter"), vector=None) for row in rows[1:9]]
        )
    random = Random(1)
    for _ in range(25):
        query = " ".join([WORDS[0], WORDS[1], *random.choices(WORDS, k=random.randrange(4)), "otter"])
        where, limit = ChunkFilter(projects=("p1",)), random.choice([1, 5, 20, 200])
        expected, got = (target.matching(query, where, limit) for target in (memory, store))
        assert [hit.score for hit in got] == pytest.approx([hit.score for hit in expected])
        assert Counter(round(hit.score, 9) for hit in got) == Counter(round(hit.score, 9) for hit in expected)


def test_words_that_upkeep_has_counted_weigh_as_those_that_a_search_counts(store: VectorStore) -> None:
    rows = [chunk(f"c{n:04}", text) for n, text in enumerate(texts(1300))]
    store.put([ChunkVector(chunk=row, vector=None) for row in rows])
    query = f"{WORDS[0]} {WORDS[1]} {WORDS[40]}"
    before = store.matching(query, ALL, 10)
    store.maintain(force=True)
    assert store.matching(query, ALL, 10) == before
    store.put([ChunkVector(chunk=row, vector=None) for row in rows[:600]])  # written again, counted once
    assert store.matching(query, ALL, 10) == before


def test_words_made_anew_score_as_before(store: VectorStore) -> None:
    rows = [chunk(f"c{n}", text + " nul\0end") for n, text in enumerate(texts(60))]
    store.put([ChunkVector(chunk=row, vector=None) for row in rows])
    before = store.matching(f"{WORDS[0]} {WORDS[3]} nul", ALL, 60)
    assert len(before) == 60
    assert store.remake_indices()
    assert store.matching(f"{WORDS[0]} {WORDS[3]} nul", ALL, 60) == before
    store.check()


def test_a_write_is_undone_with_the_transaction_that_it_joins(store: VectorStore) -> None:
    store.put([ChunkVector(chunk=chunk("kept", "hello"), vector=None)])
    with pytest.raises(RuntimeError, match="stop"), store._database.transaction():  # type: ignore[attr-defined]
        store.put([ChunkVector(chunk=chunk("gone", "hello"), vector=np.ones(8, np.float32))])
        store.remove(chunks=["kept"])
        assert [hit.id for hit in store.matching("hello", ALL, 5)] == ["gone"]
        raise RuntimeError("stop")
    assert [hit.id for hit in store.matching("hello", ALL, 5)] == ["kept"]
    assert store.chunk_hashes().keys() == {"kept"}


def test_a_space_keeps_to_its_dimension_and_another_stands_beside_it(store: VectorStore) -> None:
    database = store._database  # type: ignore[attr-defined]
    store.put([ChunkVector(chunk=chunk("c"), vector=np.ones(8, np.float32))])
    with pytest.raises(EmbeddingMismatchError, match="length 8"):
        open_vectors(database, "vectors", 16, StorageConfig())
    other = open_vectors(database, "vectors-0a1b2c3d4e5f", 16, StorageConfig())
    other.put([ChunkVector(chunk=chunk("d"), vector=np.ones(16, np.float32))])
    assert store.chunk_hashes().keys() == {"c"}
    assert other.chunk_hashes().keys() == {"d"}
    drop_vectors(database, "vectors-0a1b2c3d4e5f")
    assert store.chunk_hashes().keys() == {"c"}
    assert open_vectors(database, "vectors-0a1b2c3d4e5f", 32, StorageConfig()).stats().chunks == 0


@given(
    text=st.text(st.sampled_from("\x00\x01\x0201ab/")), begin=st.text(st.sampled_from("\x00\x01\x0201ab/"))
)
def test_escaped_text_comes_back_and_keeps_what_begins_it(text: str, begin: str) -> None:
    assert plain(escaped(text)) == text
    assert "\0" not in escaped(text)
    assert escaped(text).startswith(escaped(begin)) == text.startswith(begin)
