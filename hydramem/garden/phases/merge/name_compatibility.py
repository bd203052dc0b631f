"""Bearable: whether one thing can bear two names at all, whatever else speaks for it. Pure.

`Python 2` and `Python 3`, `Henry VII` and `Henry VIII`, `John Smith` and `Jane Smith` are as alike as
misspellings are, and never one.
"""

from collections.abc import Sequence
from itertools import dropwhile, product
from typing import Literal

from hydramem.text.lexicon import word_set
from hydramem.text.names import NameParts, one_letter_off

Bearing = Literal["equal", "turned", "misspelled", "initials", "shorter", "alias"]
"""How two names may be of one thing: with the same words; with them in another order; with a letter wrong or
a word cut short; one the initials of the other; one with words more; or by an alias alone that is equal."""

_LEAST_TYPO = 5

_LEAST_CUT = 4

_TITLES = word_set("compared_names", "titles")
_FORMS = word_set("compared_names", "legal_forms") | word_set("compared_names", "legal_forms_in_full")
_EMPTY = word_set("stop_words", "compared_names") | _FORMS
_PARTING = word_set("compared_names", "parting")


def bearing(one: Sequence[NameParts], other: Sequence[NameParts]) -> Bearing | None:
    """Say how one thing may bear these names; None where it cannot.

    Args:
        one: The name of the first, then its aliases.
        other: The same of the second.
    """
    direct = _between(one[0], other[0])
    if direct is not None:
        return direct
    if _numbered_apart(one[0], other[0]):
        return None
    aliases = product(one, other)
    return "alias" if any(_between(mine, yours) == "equal" for mine, yours in aliases) else None


def _numbered_apart(one: NameParts, other: NameParts) -> bool:
    return one.numbers != other.numbers or bool(set(one.words).symmetric_difference(other.words) & _PARTING)


def _between(one: NameParts, other: NameParts) -> Bearing | None:
    if one.spelling is not None and one.spelling == other.spelling:
        return _spelled(one, other)
    if not one.words or not other.words:
        return None
    if one.initials_of(other) or other.initials_of(one):
        return "initials"
    if _numbered_apart(one, other):
        return None
    mine, yours = _telling(one, other), _telling(other, one)
    if not mine and not yours:
        return _same_words(one, other)
    if not mine or not yours:
        common = set(_full(one)) & set(_full(other))
        return "shorter" if any(len(word) > 2 for word in common) else None
    return _paired(mine, yours)


def _spelled(one: NameParts, other: NameParts) -> Bearing:
    """Say how sure equal letters are: U.S.A. is USA, but Robert A. is not Roberta, nor Disney Disney Co."""
    differing = set(one.words).symmetric_difference(other.words)
    if differing & _FORMS and not (set(one.words) & _FORMS and set(other.words) & _FORMS):
        return "shorter"
    fewer, more = sorted((_full(one), _full(other)), key=len)
    parted = len(fewer) < len(more) and any(len(word) > 1 for word in more if word not in fewer)
    return "turned" if parted else "equal"


def _full(name: NameParts) -> list[str]:
    """Return the words that tell. Titles stand in front: the last word of `rerank_ms` is no Ms."""
    rest = dropwhile(_TITLES.__contains__, name.words)
    return [word for word in rest if word not in _EMPTY]


def _same_words(one: NameParts, other: NameParts) -> Bearing | None:
    """Say how names with the same words may be of one thing, small words and titles aside."""
    left, right = set(one.words).difference(other.words), set(other.words).difference(one.words)
    mine, yours = _full(one), _full(other)
    if not mine or one.repeats != other.repeats or (left & _TITLES and right & _TITLES):
        return None
    if (len(mine) == 1 and left | right) or bool(left & _FORMS) != bool(right & _FORMS):
        return "shorter"
    # University of Oxford is Oxford University; Thomas James is not James Thomas.
    return "equal" if mine == yours or {"of", "de", "der", "des"} & (left | right) else "turned"


def _telling(one: NameParts, other: NameParts) -> list[str]:
    return [word for word in _full(one) if word not in other.words]


def _paired(mine: list[str], yours: list[str]) -> Bearing | None:
    """Say how words that differ may stand for each other, in their order; None where one does not."""
    if len(mine) != len(yours):
        return None
    ways = [_way(*sorted(pair, key=len)) for pair in zip(mine, yours, strict=True)]
    if None in ways:
        return None
    return "initials" if "initials" in ways else "misspelled"


def _way(short: str, long: str) -> Bearing | None:
    if not (short.isalpha() and long.isalpha()):
        return None
    if len(short) == 1:
        return "initials" if long[0] == short and len(long) > 1 else None
    cut = len(short) >= _LEAST_CUT and long.startswith(short)
    typo = len(short) >= _LEAST_TYPO and one_letter_off(short, long)
    return "misspelled" if cut or typo else None
