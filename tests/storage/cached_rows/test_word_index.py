"""The words of rows in memory score every row as a plain reading of all texts does."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.storage import bm25
from hydramem.storage.cached_rows import row_arrays, word_index
from hydramem.storage.cached_rows.word_index import WordIndex

WORDS = ("amber", "birch", "cedar", "delta", "ember")

texts = st.lists(st.sampled_from(WORDS), max_size=8)
steps = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.none() | texts), max_size=30)


def put(index: WordIndex, id: str, text: list[str]) -> None:
    index.put(id, hash(tuple(text)), lambda: Counter(text))


def plain_scores(asked: Counter[str], rows: dict[str, list[str]]) -> dict[str, float]:
    """Return the scores of rows that have a word, computed row by row."""
    holding = {word: sum(word in text for text in rows.values()) for word in asked}
    mean = sum(map(len, rows.values())) / max(1, len(rows))
    scores = {
        id: sum(
            times * bm25.rarity(holding[word], len(rows)) * bm25.word_score(text.count(word), len(text), mean)
            for word, times in asked.items()
            if word in text
        )
        for id, text in rows.items()
    }
    return {id: score for id, score in scores.items() if score > 0}


@given(steps=steps, asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), limit=st.integers(1, 9))
def test_the_best_of_admitted_rows_are_found_whatever_was_written_before(
    steps: list[tuple[str, list[str] | None]], asked: list[str], limit: int
) -> None:
    index, rows = WordIndex(), dict[str, list[str]]()
    for id, text in steps:
        if text is None:
            index.remove([id])
            rows.pop(id, None)
        else:
            put(index, id, text)
            rows[id] = text
    expected = {id: score for id, score in plain_scores(Counter(asked), rows).items() if id in "abcd"}
    best = sorted(expected.items(), key=lambda one: (-round(one[1], 9), one[0]))[:limit]
    found = index.matching(Counter(asked), lambda ids: [id in "abcd" for id in ids], limit)
    assert [round(hit.score, 9) for hit in found] == [round(score, 9) for _, score in best]
    assert {hit.id for hit in found} <= expected.keys()
    known = index.statistics(WORDS)
    assert (known.rows, known.length) == (len(rows), sum(map(len, rows.values())))
    assert known.holding == {word: sum(word in text for text in rows.values()) for word in WORDS}


def test_rows_that_are_loaded_are_found_and_replaced_like_others() -> None:
    index = WordIndex()
    pairs = {"amber": np.array([[0, 2], [1, 1]], dtype=np.int32).tobytes()}
    index.load(["a", "b"], [2, 3], [7, 8], pairs)
    asked = Counter(["amber"])
    assert [hit.id for hit in index.matching(asked, lambda ids: [True] * len(ids), 5)] == ["a", "b"]
    index.put("a", 7, lambda: pytest.fail("the text of this version is known"))
    put(index, "a", ["birch"])
    assert [hit.id for hit in index.matching(asked, lambda ids: [True] * len(ids), 5)] == ["b"]


def test_a_narrow_filter_is_asked_about_more_and_more_rows() -> None:
    index, asked = WordIndex(), list[int]()
    for number in range(200):
        put(index, f"r{number:03}", ["amber"] * (200 - number))

    def admitted(ids: object) -> list[bool]:
        asked.append(len(list(ids)))  # type: ignore[call-overload]
        return [id == "r199" for id in ids]  # type: ignore[attr-defined]

    assert [hit.id for hit in index.matching(Counter(["amber"]), admitted, 2)] == ["r199"]
    assert asked == [4, 4 * word_index._MORE, 200]


def test_an_index_says_when_most_of_it_is_gone() -> None:
    index = WordIndex()
    for number in range(2 * row_arrays.GONE_ROWS):
        put(index, "a", ["amber"] * (number + 1))
    assert index.wasteful
    assert index.statistics(["amber"]).rows == 1
