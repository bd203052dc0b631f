"""The numbers that English texts state, in digits or in words, and where two texts differ in them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hydramem.text.lexicon import MONTHS, word_rows
from hydramem.text.normalize import folded
from hydramem.text.search_terms import search_stem

_UNITS = {row[0]: value for value, row in enumerate(word_rows("number_words", "units"))}
_TENS = {row[0]: 10 * value for value, row in enumerate(word_rows("number_words", "tens"), 2)}
_ORDINALS = {row[0]: value for value, row in enumerate(word_rows("number_words", "ordinals"), 1)}
_PARTS_OF_AN_HOUR = {"half": 0.5, "quarter": 0.25}

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_HALF_DAY = 12

_SAYS_LITTLE = 1
"""The number that is also a pronoun: "the one in the folder"."""


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number of a text.

    Attributes:
        value: As a number; text where it is none, such as a version.
        is_clock: Whether it surely is a time of day, in hours.
        beside: Stem of the word that it counts, or the name of the month beside it; may be empty.
    """

    value: float | str
    is_clock: bool
    beside: str

    def equals(self, other: "StatedNumber") -> bool:
        """Say whether two numbers are one; 18:00 is six where neither says of which half of a day."""
        if self.value == other.value:
            return True
        if isinstance(self.value, str) or isinstance(other.value, str):
            return False
        return (self.is_clock or other.is_clock) and abs(self.value - other.value) == _HALF_DAY


@dataclass(frozen=True, slots=True)
class NumberDifference:
    """How the numbers of two texts differ.

    Attributes:
        first, second: Numbers of the one that the other lacks.
        disagree: Whether both count one thing, and differently: eleven hours, three hours.
        shared: How many different numbers both state.
    """

    first: int
    second: int
    disagree: bool
    shared: int


def stated_numbers(text: str) -> tuple[StatedNumber, ...]:
    """Read the numbers of an English text, in order."""
    tokens = [_plain(match.group()) for match in _TOKEN.finditer(text)]
    found: list[StatedNumber] = []
    place = 0
    while place < len(tokens):
        value, is_clock, after = _number_at(tokens, place)
        if value is None:
            place += 1
            continue
        value, is_clock = _at_time_of_day(value, is_clock, tokens[after : after + 2])
        found.append(StatedNumber(value, is_clock, _beside(tokens, place, after)))
        place = after
    return tuple(found)


def number_difference(one: Sequence[StatedNumber], other: Sequence[StatedNumber]) -> NumberDifference:
    """Compare the numbers of two texts, whatever their order."""
    beside = {number.beside for number in one} & {number.beside for number in other}
    return NumberDifference(
        first=_lacking(one, other),
        second=_lacking(other, one),
        disagree=any(not _meet(_counting(one, word), _counting(other, word)) for word in beside if word),
        shared=len({number.value for number in one if _tells(number) and _meet([number], other)}),
    )


def _lacking(mine: Sequence[StatedNumber], yours: Sequence[StatedNumber]) -> int:
    return sum(_tells(number) and not _meet([number], yours) for number in mine)


def _tells(number: StatedNumber) -> bool:
    return number.value != _SAYS_LITTLE


def _counting(numbers: Sequence[StatedNumber], word: str) -> list[StatedNumber]:
    return [number for number in numbers if number.beside == word]


def _meet(mine: Sequence[StatedNumber], yours: Sequence[StatedNumber]) -> bool:
    return any(one.equals(other) for one in mine for other in yours)


def _plain(token: str) -> str:
    return folded(token.replace("’", "'")).removesuffix("'s")


def _number_at(tokens: Sequence[str], place: int) -> tuple[float | str | None, bool, int]:
    """Return the number that begins at a token, whether it is a time of day, and the place after it."""
    word = tokens[place]
    if word[0].isdigit():
        return _of_digits(word), bool(_CLOCK.fullmatch(word)), place + 1
    if word in _PARTS_OF_AN_HOUR and tokens[place + 1 : place + 2] in (["past"], ["to"]):
        hour = _hour(tokens[place + 2] if place + 2 < len(tokens) else "")
        part = _PARTS_OF_AN_HOUR[word]
        if hour is not None:
            return hour + part if tokens[place + 1] == "past" else hour - part, True, place + 3
    if word == "twice":
        return 2.0, False, place + 1
    value, after = _of_words(tokens, place)
    return value, False, after


def _of_digits(token: str) -> float | str:
    if _CLOCK.fullmatch(token):
        hours, minutes = token.split(":")
        return int(hours) + int(minutes) / 60
    try:
        return float(_THOUSANDS.sub("", token).replace(",", "."))
    except ValueError:
        return token


def _hour(token: str) -> int | None:
    return int(token) if token.isascii() and token.isdigit() else _UNITS.get(token)


def _of_words(tokens: Sequence[str], place: int) -> tuple[float | None, int]:
    """Return the number in words that begins at a token, and the place after it."""
    token = tokens[place]
    if token in _ORDINALS:
        return float(_ORDINALS[token]), place + 1
    if token not in _UNITS and token not in _TENS:
        return None, place + 1
    thousands = rest = 0
    after = place
    for word in tokens[place:]:
        if word in _TENS and rest % 100 == 0:
            rest += _TENS[word]
        elif word in _UNITS and (rest % 100 == 0 or (rest % 10 == 0 and _UNITS[word] < 10)):
            rest += _UNITS[word]
        elif word == "hundred" and after > place:
            rest *= 100
        elif word == "thousand" and after > place:
            thousands, rest = 1000 * rest, 0
        elif word in _ORDINALS and rest % 100 >= 20 and rest % 10 == 0 and _ORDINALS[word] < 10:
            return float(thousands + rest + _ORDINALS[word]), after + 1
        else:
            break
        after += 1
        if word in _UNITS and tokens[after : after + 1] not in (["hundred"], ["thousand"]):
            break
    return float(thousands + rest), after


def _at_time_of_day(value: float | str, is_clock: bool, following: Sequence[str]) -> tuple[float | str, bool]:
    """Return a number as the words after it place it in a day."""
    first, second = (*following, "", "")[:2]
    if isinstance(value, str):
        return value, is_clock
    if first == "pm" or (first, second) == ("p", "m"):
        return (value + _HALF_DAY if value < _HALF_DAY else value), True
    return value, is_clock or first in ("am", "o'clock") or (first, second) == ("a", "m")


def _beside(tokens: Sequence[str], place: int, after: int) -> str:
    following = tokens[after] if after < len(tokens) else ""
    before = tokens[place - 1] if place else ""
    month = next((word for word in (following, before) if word in MONTHS), None)
    return month or search_stem(following)
