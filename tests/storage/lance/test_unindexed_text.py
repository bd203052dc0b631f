"""Rows that the full-text index lacks are found from memory, scored as the index would."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.core.config import StorageConfig
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.lance.text_index import any_word, index_tokens
from hydramem.storage.lance.unindexed_text import IndexReads, UnindexedText
from hydramem.storage.lance.vectors import LanceVectors, open_vectors
from hydramem.storage.vector_rows import ChunkVector
from tests.examples import FEW
from tests.storage.test_vector_store import DIMENSION, chunk, direction

ALL = ChunkFilter(states=())
WORDS = [f"word{number}" for number in range(30)]
TEXTS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6).map(" ".join)


def opened(folder: Path) -> LanceVectors:
    return open_vectors(folder, DIMENSION, StorageConfig())


def put(store: LanceVectors, texts: Mapping[str, str]) -> None:
    store.put([ChunkVector(chunk=chunk(id, text), vector=direction(1)) for id, text in texts.items()])


def found(store: LanceVectors, query: str, limit: int = 500) -> dict[str, float]:
    return {hit.id: hit.score for hit in store.matching(query, ALL, limit)}


def scanned(store: LanceVectors, query: str) -> dict[str, float]:
    """Return what LanceDB finds by itself."""
    rows = store._chunks.search(any_word(query), None, 500, "_score")
    return dict(zip(rows["id"].to_pylist(), rows["_score"].to_pylist(), strict=True))


def texts(count: int, prefix: str, random: Random) -> dict[str, str]:
    return {
        f"{prefix}{number}": " ".join(random.choices(WORDS, k=random.randint(3, 25)))
        for number in range(count)
    }


def arrow(rows: Mapping[str, str]) -> pa.Table:
    return pa.table({"id": list(rows), "text": list(rows.values())})


def reads(rows: Mapping[str, str]) -> IndexReads:
    def count(word: str, limit: int) -> int:
        return min(limit, sum(word in text.split() for text in rows.values()))

    return IndexReads(
        tokens=lambda texts: [text.split() for text in texts],
        sample=lambda: (len(rows), rows),
        rows_with=count,
    )


def bm25(rows: Mapping[str, str], id: str, query: str) -> float:
    """Score one row plainly, as the paper has it."""
    lengths = [len(text.split()) for text in rows.values()]
    words, score = rows[id].split(), 0.0
    for word in query.split():
        holding, count = sum(word in text.split() for text in rows.values()), words.count(word)
        rarity = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
        longer = 1.2 * (0.25 + 0.75 * len(words) * len(rows) / sum(lengths))
        score += rarity * count * 2.2 / (count + longer)
    return score


@settings(FEW)
@given(indexed=st.lists(TEXTS, max_size=6), written=st.lists(TEXTS, min_size=1, max_size=6), query=TEXTS)
def test_scores_are_bm25_over_the_rows_of_index_and_memory(
    indexed: Sequence[str], written: Sequence[str], query: str
) -> None:
    old = {f"c{number}": text for number, text in enumerate(indexed)}
    new = {f"n{number}": text for number, text in enumerate(written)}
    memory = UnindexedText(reads(old | new), complete=True)
    memory.put(arrow(new))
    expected = {id: bm25(old | new, id, query) for id in new if set(new[id].split()) & set(query.split())}
    assert dict(memory.matching(query) or ()) == pytest.approx(expected)


@settings(FEW)
@given(indexed=st.lists(TEXTS, max_size=6), added=st.lists(TEXTS, min_size=1, max_size=4), query=TEXTS)
@pytest.mark.parametrize("complete", [True, False])
def test_texts_that_are_no_rows_score_as_if_they_were(
    complete: bool, indexed: Sequence[str], added: Sequence[str], query: str
) -> None:
    rows = {f"c{number}": text for number, text in enumerate(indexed)}
    more = {f"n{number}": text for number, text in enumerate(added)}
    scores = UnindexedText(reads(rows), complete=complete).scores(query, added)
    assert scores == pytest.approx([bm25(rows | more, id, query) for id in more])


def test_rows_written_while_the_index_is_brought_up_to_date_stay() -> None:
    memory = UnindexedText(reads({}), complete=True)
    memory.put(arrow({"a": "x", "b": "x"}))
    begun = memory.moment()
    memory.put(arrow({"b": "x y", "c": "x"}))
    memory.indexed(begun)
    assert {id for id, _ in memory.matching("x") or ()} == {"b", "c"}
    memory.remove(["c", "absent"])
    assert [id for id, _ in memory.matching("x y") or ()] == ["b"]


def test_where_it_is_unknown_what_the_index_lacks_nothing_is_answered() -> None:
    memory = UnindexedText(reads({}), complete=False)
    memory.put(arrow({"a": "x"}))
    assert memory.matching("x") is None
    memory.restart(unindexed=0)
    assert memory.matching("x") == ()
    memory.put(arrow({"a": "x"}))
    memory.restart(unindexed=1)
    assert [id for id, _ in memory.matching("x") or ()] == ["a"]
    memory.restart(unindexed=3)
    assert memory.matching("x") is None


def test_memory_is_bounded() -> None:
    for rows in ({f"n{n}": "x" for n in range(5000)}, {"long": "x" * (9 << 20)}):
        memory = UnindexedText(reads({}), complete=True)
        memory.put(arrow(rows))
        assert (len(memory), memory.matching("x")) == (0, None)


def test_a_store_finds_and_scores_as_lancedb_does_by_scanning(tmp_path: Path) -> None:
    random = Random(3)
    store = opened(tmp_path)
    put(store, texts(200, "c", random))
    store.maintain(force=True)
    for id, text in texts(12, "n", random).items():
        put(store, {id: text})
    put(store, {"c1": "word3 replaced", "c2": "running services"})
    store.remove(chunks=["c3", "n4"])
    assert store._chunks.unindexed_matches("word3")
    for query in ("word1", "word3 word3 word7", "replaced", "service runs", "absent"):
        own, lance = found(store, query), scanned(store, query)
        assert own.keys() == lance.keys()
        assert own == pytest.approx(lance, rel=0.08)
    store.maintain(force=True)
    assert store._chunks.unindexed_matches("word3") == ()
    assert "c2" in found(store, "service") and "n4" not in found(store, " ".join(WORDS))
    store.close()


def test_a_row_is_found_at_every_moment_while_it_is_replaced_and_indexed(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, {f"c{number}": f"steady word{number}" for number in range(30)})
    store.maintain(force=True)

    def write() -> None:
        for number in range(8):
            put(store, {f"c{number % 3}": f"steady again{number}"})
            if number == 4:
                store.maintain(force=True)

    seen = []
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            seen.append(len(found(store, "steady")))
    writing.result()
    assert set(seen) == {30}
    store.close()


@settings(max_examples=5)
@given(rows=st.lists(st.text(min_size=0, max_size=60), min_size=1, max_size=8))
def test_texts_cut_together_are_cut_as_each_alone(rows: list[str], any_store: LanceVectors) -> None:
    table = any_store._chunks._table
    storable = [text.encode("utf-8", "replace").decode() for text in rows]
    assert index_tokens(table, storable) == [index_tokens(table, [text])[0] for text in storable]


@pytest.fixture(scope="module")
def any_store(tmp_path_factory: pytest.TempPathFactory) -> LanceVectors:
    return opened(tmp_path_factory.mktemp("vectors"))
