"""Names in lower case are what English lacks, where nouns without an article stand."""

import pytest

from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.unknown_words import is_known, unknown_words


def found(text: str) -> list[str]:
    return [match.group() for match in unknown_words(text)]


@pytest.mark.parametrize("word", ["house", "thumbnails", "unmapped", "backend"])
def test_words_formed_as_english_words_are_known(word: str) -> None:
    assert is_known(word)


@pytest.mark.parametrize("word", ["etcd", "psycopg", "zarquix"])
def test_other_words_are_not(word: str) -> None:
    assert not is_known(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The scheduler keeps its state in etcd and talks to psycopg.", ["etcd", "psycopg"]),
        ("Traffic goes through auth-service before it reaches the page.", ["auth-service"]),
        ("We read the well-known paper with a user-friendly tool.", []),
        ("Wir haben gestern mit unseren Freunden gegessen und gelacht.", []),
        ("A long zarquix of words.", []),
        ("See /usr/lib/etcd or mail etcd@example.org about `x.psycopg`.", []),
    ],
)
def test_where_they_stand_decides(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Priya's dentist is in Bramford.", {"Priya", "Bramford"}),
        ("Open Telemetry is used by Falcon.", {"Open Telemetry", "Falcon"}),
        ("Skip to content\n\nPrivacy Policy\n\nAda met Bo Berg.", {"Ada", "Bo Berg"}),
        ("Stefan reviews all schema changes in Q3.", set()),
    ],
)
def test_names_and_no_orders_or_furniture(text: str, expected: set[str]) -> None:
    (only,) = extract([Passage(text=text)])
    assert {name.name for name in only.names} == expected


def test_headings_that_are_no_names_are_left_out() -> None:
    headings = ("Guide", "Getting Started", "How it works", "Ledger API")
    (only,) = extract([Passage(text="It is simple.", headings=headings)], title="Guide")
    assert {name.name for name in only.names} == {"Guide", "Ledger API"}
