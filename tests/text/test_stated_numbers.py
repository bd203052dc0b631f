"""Numbers of a text, in digits and words, and where two texts differ in them."""

import pytest

from hydramem.text.stated_numbers import number_difference, stated_numbers


def values(text: str) -> list[float | str]:
    return [number.value for number in stated_numbers(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Berth 7 takes 9.2 metres.", [7, 9.2]),
        ("It costs 3,100 a year, or 41,300 in all.", [3100, 41300]),
        ("twenty-first of May", [21]),
        ("It is due on the 15th of the third month.", [15, 3]),
        ("The van leaves at quarter to 10.", [9.75]),
        ("Gates open at 18:00 and close at 6 p.m.", [18, 18]),
        ("Version 1.2.3 is out.", ["1.2.3"]),
        ("Nothing is counted here.", []),
    ],
)
def test_what_is_read(text: str, found: list[float | str]) -> None:
    assert values(text) == found


@pytest.mark.parametrize(
    ("one", "other", "left_out", "disagree", "shared"),
    [
        ("The shop opens at 18:00.", "The shop opens at six.", 0, False, 1),
        ("Crane 4 has 2 hooks.", "The crane has 2 hooks.", 1, False, 1),
        ("Crane 4 stood for eleven hours on 3 May.", "Crane 4 stood for three hours on 11 May.", 0, True, 3),
    ],
)
def test_where_two_texts_differ(one: str, other: str, left_out: int, disagree: bool, shared: int) -> None:
    found = number_difference(stated_numbers(one), stated_numbers(other))
    assert (found.first, found.second, found.disagree, found.shared) == (left_out, 0, disagree, shared)
