"""Which names one thing may bear, and which it never does."""

import pytest

from hydramem.garden.phases.merge.name_compatibility import name_match
from hydramem.text.names.name_comparison import name_parts


@pytest.mark.parametrize(
    ("one", "other", "how"),
    [
        ("Dr. Ada Lovelace", "ada_lovelace", "equal"),
        ("University of Oxford", "Oxford University", "equal"),
        ("Postgres", "PostgreSQL", "misspelled"),
        ("J. Smith", "John Smith", "initials"),
        ("IBM", "International Business Machines", "initials"),
        ("Ada", "Ada Lovelace", "shorter"),
        ("John Smith", "Jane Smith", None),
        ("Python 2", "Python 3", None),
        ("John Smith Jr.", "John Smith", None),
        ("Mercury (planet)", "Mercury (element)", None),
        ("2010-06", "2010-06-06", None),
        ("The Town", "On the Town", "shorter"),
        ("SEARCH_RERANK_MS", "SEARCH_RERANK_S", None),
        ("Robert A.", "Roberta", "turned"),
        ("Saint Ives", "St. Ives", "equal"),
        ("Kestrel Works", "Kestrel Works, Inc.", "shorter"),
        ("C", "C++", None),
        ("\x00", "\ud800", None),
        ("東京", "京都", None),
    ],
)
def test_names_that_one_thing_may_bear(one: str, other: str, how: str | None) -> None:
    assert name_match([name_parts(one)], [name_parts(other)]) == how
    assert name_match([name_parts(other)], [name_parts(one)]) == how


def test_an_alias_bears_but_not_against_a_number() -> None:
    big, short, python = name_parts("Big Blue"), name_parts("IBM"), name_parts("Python")
    assert name_match([big], [short, big]) == "alias"
    assert name_match([name_parts("Python 2"), python], [name_parts("Python 3"), python]) is None
