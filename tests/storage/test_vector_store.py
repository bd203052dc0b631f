"""The contract of VectorStore, on every store that ships."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.core.config import StorageConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Chunk, Entity, Times
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.lance.vectors import open_vectors
from hydramem.storage.vector_rows import (
    ChunkVector,
    EntityVector,
    Vector,
    VectorStore,
    chunk_mirror_hash,
    entity_mirror_hash,
)
from tests.storage.postgres_server import postgres_vectors
from tests.storage.test_graph_machine import conditions, filtered_chunks

DIMENSION = 8
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = ChunkFilter(states=())
SLOW_EXAMPLES = pytest.param(50, marks=pytest.mark.slow)


@pytest.fixture(params=["lance", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    with opened(request.param, tmp_path) as made:
        yield made


@contextmanager
def opened(kind: str, folder: Path, index_rows: int = 200_000) -> Iterator[VectorStore]:
    settings = StorageConfig(index_rows=index_rows)
    if kind == "postgres":
        with postgres_vectors(DIMENSION, settings) as store:
            yield store
        return
    made: VectorStore = (
        InMemoryVectors(DIMENSION)
        if kind == "memory"
        else open_vectors(folder / "vectors", DIMENSION, settings)
    )
    with closing(made):
        yield made


def chunk(id: str, text: str = "hello", **fields: Any) -> Chunk:
    made = Chunk(id=id, project="p", text=text, kind="note", times=Times(recorded_at=NOON))
    return replace(made, **fields)


def entity(id: str, project: str = "p") -> Entity:
    return Entity(id=id, project=project, key=id, name=id, first_seen=NOON, last_seen=NOON)


def direction(seed: int) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def put(store: VectorStore, *chunks: Chunk) -> None:
    store.put([ChunkVector(chunk=c, vector=direction(i)) for i, c in enumerate(chunks)])


def found(store: VectorStore, query: str, where: ChunkFilter = ALL, limit: int = 10) -> list[str]:
    return [scored.id for scored in store.matching(query, where, limit)]


def test_nearest_is_exact_cosine_best_first(store: VectorStore) -> None:
    vectors = {f"c{i}": direction(i) for i in range(50)}
    store.put([ChunkVector(chunk=chunk(id), vector=v) for id, v in vectors.items()])
    query = direction(99)
    expected = sorted(vectors, key=lambda id: -float(vectors[id] @ query))[:7]
    hits = store.nearest(query, ALL, 7)
    assert [hit.id for hit in hits] == expected
    assert [hit.score for hit in hits] == pytest.approx(
        [float(vectors[id] @ query) for id in expected], abs=1e-5
    )


def test_matching_prefers_the_rare_word_and_finds_any_of_the_words(store: VectorStore) -> None:
    put(store, chunk("a", "the cat sat"), chunk("b", "the cat and the axolotl"), chunk("c", "a dog"))
    assert found(store, "cat axolotl") == ["b", "a"]
    assert all(hit.score > 0 for hit in store.matching("cat", ALL, 5))


def test_words_are_found_in_any_script_form_and_case(store: VectorStore) -> None:
    for text, query in (
        ("東京は日本の首都です", "東京"),
        ("我们在北京大学学习人工智能", "北京"),
        ("Сервер работает в Москве", "сервер"),
        ("Le café de Zürich", "cafe zurich"),
        ("Le cafe de Zurich", "CAFÉ"),
        ("The billing services were running", "service runs"),
        ("see snake_case.config in hall 3", "config"),
        ("see snake_case.config in hall 3", "3"),
        ("written in C", "c"),
        ("서울에서 만나요", "서울에서"),
        ("digest " + "0f" * 32, "0f" * 32),
    ):
        put(store, chunk("x", text), chunk("other", "zzz"))
        assert found(store, query) == ["x"], query


def test_a_query_is_words_never_syntax(store: VectorStore) -> None:
    put(store, chunk("x", "hello there"))
    for query in ("", "   ", "the of and", "\0", "+-*/:^~?[]{}()", "\ud800", "qqqq"):
        assert found(store, query) == [], query
    for query in (
        *('"hello', "hello'", "hello) OR (", "+hello -world", "hello AND NOT hello", "text:hello^2~"),
        *("hello\0x", "hello \ud800", "'; DROP TABLE chunks; --hello"),
        *("hello " + "y" * 1_000_000, "hello " * 170_000),
    ):
        assert found(store, query) == ["x"], query[:40]


@pytest.mark.parametrize("indexed", [False, True])
def test_texts_score_as_rows_of_the_same_words_do(store: VectorStore, indexed: bool) -> None:
    rows = [chunk(f"c{i}", f"the cat sat on mat {i % 5} with {'a dog ' * (i % 3)}") for i in range(40)]
    texts = ["the cat and the axolotl", "a dog, a dog", "nothing of it", "cat dog mat " * 9]
    put(store, *rows)
    if indexed:
        store.maintain(force=True)
    scores = store.text_scores("dog axolotl cat cat", texts)
    put(store, *(chunk(f"t{i}", text) for i, text in enumerate(texts)))
    as_rows = {hit.id: hit.score for hit in store.matching("dog axolotl cat cat", ALL, 100)}
    assert scores == pytest.approx([as_rows.get(f"t{i}", 0.0) for i in range(4)], rel=1e-3)
    assert scores[2] == 0.0


def test_texts_score_in_a_store_without_rows_and_with_no_word_of_a_query(store: VectorStore) -> None:
    assert store.text_scores("hello", []) == ()
    low, high, none = store.text_scores("hello otter", ["hello", "hello otter", "else"])
    assert high > low > none == 0.0
    for query in ("", "  ", "the of", "\ud800", "qqqq" * 1000):
        assert store.text_scores(query, ["hello world", ""]) == (0.0, 0.0)


def test_limits_may_be_huge_and_below_one(store: VectorStore) -> None:
    put(store, *(chunk(f"c{i}") for i in range(30)))
    assert len(store.matching("hello", ALL, 10**9)) == len(store.nearest(direction(0), ALL, 10**18)) == 30
    for limit in (0, -1):
        assert store.matching("hello", ALL, limit) == store.nearest(direction(0), ALL, limit) == ()


def test_a_store_without_rows_finds_nothing(store: VectorStore) -> None:
    assert store.matching("hello", ALL, 5) == store.nearest(direction(0), ALL, 5) == ()
    assert store.nearest_entities(direction(0), (), 5) == ()
    assert store.chunk_hashes() == store.entity_hashes() == store.vectors(["x"]) == {}
    store.put()
    store.remove()
    store.maintain(force=True)


def test_a_limit_counts_admitted_rows_only(store: VectorStore) -> None:
    put(store, *(chunk(f"c{i:03}", project="q" if i % 50 == 0 else "p") for i in range(200)))
    where = ChunkFilter(projects=("q",))
    assert sorted(found(store, "hello", where, 4)) == ["c000", "c050", "c100", "c150"]
    assert len(store.nearest(direction(1), where, 4)) == 4


def test_rows_without_a_vector_are_found_by_text_only(store: VectorStore) -> None:
    bare = ChunkVector(chunk=chunk("bare", "hello"), vector=None)
    store.put([bare, ChunkVector(chunk=chunk("full", "hello"), vector=direction(1))])
    assert sorted(found(store, "hello")) == ["bare", "full"]
    assert [hit.id for hit in store.nearest(direction(1), ALL, 5)] == ["full"]
    assert store.vectors(["bare", "full", "none"]).keys() == {"full"}
    store.put([ChunkVector(chunk=bare.chunk, vector=direction(1))])
    assert len(store.nearest(direction(1), ALL, 5)) == 2


def test_rows_without_a_vector_are_told(store: VectorStore) -> None:
    whole, bare = (
        ChunkVector(chunk=chunk(id), vector=vector) for id, vector in (("c1", direction(1)), ("c2", None))
    )
    store.put([whole, bare])
    for _ in range(2):  # before the first search and after it
        assert store.chunks_without_vector() == {"c2"}
        assert store.chunks_without_vector(["c1", "c2", "gone"]) == {"c2"}
        assert store.chunks_without_vector(["c1"]) == store.chunks_without_vector([]) == frozenset()
        store.nearest(direction(1), ALL, 1)
    store.put([ChunkVector(chunk=chunk("c2"), vector=direction(2))])
    assert store.chunks_without_vector(["c1", "c2"]) == frozenset()


def test_put_replaces_rows_and_the_last_of_one_id_wins(store: VectorStore) -> None:
    put(store, chunk("x", "alpha"), chunk("y", "beta"))
    put(store, chunk("x", "gamma"), chunk("x", "delta", project="q"))
    assert found(store, "alpha") == found(store, "gamma") == []
    assert found(store, "delta", ChunkFilter(projects=("q",))) == ["x"]
    assert found(store, "beta") == ["y"]
    assert store.stats().chunks == 2
    assert store.vectors(["x"])["x"] == pytest.approx(direction(1))


def test_removed_rows_are_gone_and_unknown_ids_are_no_error(store: VectorStore) -> None:
    put(store, *(chunk(f"it's {i}") for i in range(5)))
    store.put(entities=[EntityVector(entity=entity("e"), vector=direction(0))])
    store.remove(chunks=["it's 0", "it's 3", "none", "' OR true --", "\ud800"], entities=["e", "none"])
    assert sorted(found(store, "hello")) == ["it's 1", "it's 2", "it's 4"]
    assert store.nearest_entities(direction(0), (), 5) == ()


def test_hashes_are_those_of_the_mirrored_columns(store: VectorStore) -> None:
    chunks = [chunk(f"c{i}", f"text {i}") for i in range(30)]
    put(store, *chunks)
    store.put(entities=[EntityVector(entity=entity("e"), vector=direction(0))])
    assert store.chunk_hashes() == {c.id: chunk_mirror_hash(c) for c in chunks}
    assert store.chunk_hashes([chunks[0].id, "gone"]) == {chunks[0].id: chunk_mirror_hash(chunks[0])}
    assert store.chunk_hashes([]) == {}
    assert store.entity_hashes() == {"e": entity_mirror_hash(entity("e"))}


def test_entities_are_found_by_cosine_within_projects(store: VectorStore) -> None:
    store.put(
        entities=[
            EntityVector(entity=entity("a"), vector=direction(1)),
            EntityVector(entity=entity("b", "it's"), vector=direction(2)),
        ]
    )
    assert store.nearest_entities(direction(1), (), 5)[0].id == "a"
    assert [hit.id for hit in store.nearest_entities(direction(1), ("it's", "p"), 5)] == ["a", "b"]
    assert [hit.id for hit in store.nearest_entities(direction(1), ("it's",), 5)] == ["b"]
    assert store.nearest_entities(direction(1), ("none", "\ud800"), 5) == ()


def test_vectors_come_back_as_they_were_put(store: VectorStore) -> None:
    ids = [f"c{i}" for i in range(2500)]
    store.put([ChunkVector(chunk=chunk(id), vector=direction(i)) for i, id in enumerate(ids)])
    back = store.vectors(ids)
    assert back.keys() == set(ids)
    assert all(np.array_equal(back[id], direction(i)) for i, id in enumerate(ids))


def test_a_vector_that_does_not_fit_is_refused_before_anything_is_written(store: VectorStore) -> None:
    good = ChunkVector(chunk=chunk("good"), vector=direction(0))
    wrong = (np.nan, np.inf, 1e300, 0.0)
    for vector in (
        *(np.ones(shape) for shape in (DIMENSION + 1, DIMENSION - 1, (1, DIMENSION))),
        *(np.full(DIMENSION, value) for value in wrong),
    ):
        with pytest.raises(InvalidInputError, match="bad"):
            store.put([good, ChunkVector(chunk=chunk("bad"), vector=vector)])
        with pytest.raises(InvalidInputError, match="bad"):
            store.put([good], [EntityVector(entity=entity("bad"), vector=vector)])
        with pytest.raises(InvalidInputError):
            store.nearest(vector, ALL, 1)
    assert store.stats().chunks == store.stats().entities == 0


def test_text_with_nul_and_lone_surrogates_is_kept_and_found(store: VectorStore) -> None:
    put(store, chunk("x", "hello\0 wor\ud800ld \udfff peace"))
    assert found(store, "hello") == found(store, "peace") == ["x"]


@pytest.mark.parametrize("examples", [pytest.param(4, marks=pytest.mark.costly), SLOW_EXAMPLES])
def test_filters_admit_what_chunk_filter_admits(store_for_filters: VectorStore, examples: int) -> None:
    @settings(max_examples=examples)
    @given(chunks=filtered_chunks, conditions=st.fixed_dictionaries(conditions))
    def check(chunks: tuple[Chunk, ...], conditions: dict[str, Any]) -> None:
        rows = [replace(row, text="hello", confidence=abs(row.confidence)) for row in chunks]
        put(store_for_filters, *rows)
        for held in (conditions, *({name: value} for name, value in conditions.items())):
            where = replace(ALL, **held)
            expected = {row.id for row in rows if where.admits(row)}
            assert set(found(store_for_filters, "hello", where, 100)) == expected
            assert {hit.id for hit in store_for_filters.nearest(direction(0), where, 100)} == expected

    check()


@pytest.fixture(
    scope="module",
    params=[("lance", 0), ("lance", 200_000), ("postgres", 200_000)],
    ids=["by the table", "in memory", "postgres"],
)
def store_for_filters(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VectorStore]:
    kind, index_rows = request.param
    with opened(kind, tmp_path_factory.mktemp("filters"), index_rows) as made:
        yield made


def test_a_scope_matches_whole_segments_only(store: VectorStore) -> None:
    scopes = ("/a", "/a/b", "/ab", "/A", "/x/y", "/_/x", "/abc/d", "/it's/x")
    put(store, *(chunk(scope, scope=scope) for scope in scopes))
    for prefix, admitted in {
        "/": scopes,
        "/a": ("/a", "/a/b"),
        "/a/": ("/a", "/a/b"),
        "/a/b": ("/a/b",),
        "/a%": (),
        "/_": ("/_/x",),
        "/it's": ("/it's/x",),
    }.items():
        assert sorted(found(store, "hello", ChunkFilter(scope=prefix))) == sorted(admitted), prefix


def test_threads_write_and_read_and_lose_nothing(store: VectorStore) -> None:
    def work(thread: int) -> None:
        for i in range(3):
            id = f"t{thread}-{i}"
            store.put([ChunkVector(chunk=chunk(id, f"word{thread}x{i} hello"), vector=direction(i))])
            assert found(store, f"word{thread}x{i}") == [id]
            assert id in store.vectors([id])
            if i == 2:
                store.remove(chunks=[id])
                store.maintain(force=thread == 0)
            store.nearest(direction(i), ALL, 5)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert store.chunk_hashes().keys() == {f"t{t}-{i}" for t in range(4) for i in range(2)}


def test_a_row_just_written_is_found_by_its_words_and_a_deleted_one_is_not(store: VectorStore) -> None:
    texts: dict[str, str] = {}
    gone: set[str] = set()
    for step, (what, id) in enumerate(
        ("+a", "+b", "! ", "+c", "+a", "-b", "+b", "! ", "-a", "+d", "+d", "+a")
    ):
        word = f"word{step}x"
        match what:
            case "+":
                gone |= {texts[id]} if id in texts else set()
                texts[id] = word
                store.put([ChunkVector(chunk=chunk(id, f"Shared {word}."), vector=direction(step))])
                assert found(store, word) == [id]
            case "-":
                gone |= {texts.pop(id)}
                store.remove(chunks=[id])
            case "!":
                store.maintain(force=True)
        assert sorted(found(store, "shared")) == sorted(texts)
    assert {word: found(store, word) for word in texts.values()} == {texts[id]: [id] for id in texts}
    assert not any(found(store, word) for word in gone)


def test_rows_just_written_pass_the_filter_of_a_search(store: VectorStore) -> None:
    put(store, *(chunk(f"o{number}", "shared", project="other") for number in range(5)))
    store.maintain(force=True)
    put(store, chunk("mine", "shared"), chunk("theirs", "shared", project="other"))
    assert found(store, "shared", ChunkFilter(projects=("p",))) == ["mine"]
    assert found(store, "shared", ChunkFilter(projects=("other",)))[-1:] != ["mine"]
    assert len(found(store, "shared", ChunkFilter(projects=("other",)))) == 6
