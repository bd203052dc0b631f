"""Quotes are found as a text has them, and parts of words are none."""

import pytest

from hydramem.text.quotes import find_quote


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("agrees with Bob", "Ada disagrees with Bob", None),
        ("東京は日本の首都", "昔から東京は日本の首都です。", "東京は日本の首都"),
        ("Москва — столица", "москва  — столица", "москва  — столица"),
        ('"AT&amp;T bought it"', "AT&T bought it.", "AT&T bought it"),
        ("C++ is older", "C++ is older than C#", "C++ is older"),
        ("a" * 5000, "a" * 5000, None),
        ("(.*)", "anything", None),
    ],
)
def test_quotes_are_found_whole_and_as_the_text_spells_them(quote: str, text: str, found: str | None):
    assert find_quote(quote, (text,)) == found
