"""Texts that say by their words that something else ended, and texts that do not."""

import pytest

from hydramem.ingest.memories.consolidate.explicit_words import explicit_end

ENDS = [
    (
        "The billing service moved from PostgreSQL to MySQL.",
        "The billing service stores its data in PostgreSQL.",
    ),
    ("Ada stopped eating meat.", "Ada eats meat."),
    ("The office is now in Room 9.", "The office is in Room 4."),
]


@pytest.mark.parametrize(("new", "old"), ENDS)
def test_words_that_end_something(new: str, old: str) -> None:
    assert explicit_end(new, old)


@pytest.mark.parametrize("wrapper", ["The user said that {}", "2026-03-01: {}", "{} because it was cheaper."])
def test_what_surrounds_a_statement_changes_nothing(wrapper: str) -> None:
    new, old = ENDS[0]
    assert explicit_end(wrapper.format(new.rstrip(".")), old)
    assert explicit_end(new, wrapper.format(old.rstrip(".")))


@pytest.mark.parametrize("text", ["", ".", "from to", "x" * 5000, "\0", "от Москвы до 東京"])
def test_odd_texts_end_nothing(text: str) -> None:
    assert explicit_end(text, "Ada lives in Berlin.") is None
    assert explicit_end("Ada no longer lives in Berlin.", text) is None
    assert explicit_end("I moved from Berlin to Munich.", "My brother lives in Berlin.") is None
