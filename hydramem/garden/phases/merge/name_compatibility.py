"""Whether two names can be of the same thing at all, whatever else suggests it.

`Python 2` and `Python 3`, `Henry VII` and `Henry VIII`, `John Smith` and `Jane Smith` are as similar as
misspellings, but never the same.
"""

from collections.abc import Sequence
from itertools import dropwhile, product
from typing import Literal

from hydramem.text.lexicon import word_set
from hydramem.text.names.name_comparison import NameParts, one_letter_off

NameMatch = Literal["equal", "turned", "misspelled", "initials", "shorter", "alias"]
"""How two names match: by the same words; by the same in another order; but for a wrong letter or a cut word;
as a name and its initials; as a name and one with more words; or by an alias that is equal."""

_LEAST_TYPO = 5
_LEAST_CUT = 4
"""Letters of a word in which a typo, or a cut, is tolerated."""

_TITLES = word_set("compared_names", "titles")
_FORMS = word_set("compared_names", "legal_forms") | word_set("compared_names", "legal_forms_in_full")
_UNTELLING = word_set("stop_words", "compared_names") | _FORMS
_DISTINGUISHING = word_set("compared_names", "parting")


def name_match(one: Sequence[NameParts], other: Sequence[NameParts]) -> NameMatch | None:
    """Say how the names of two things match; None where the things cannot be the same.

    Args:
        one: The name of the first, then its aliases.
        other: The same of the second.
    """
    direct = _match(one[0], other[0])
    if direct is not None:
        return direct
    if _are_distinguished(one[0], other[0]):
        return None
    aliases = product(one, other)
    return "alias" if any(_match(mine, yours) == "equal" for mine, yours in aliases) else None


def _are_distinguished(one: NameParts, other: NameParts) -> bool:
    return one.numbers != other.numbers or bool(
        set(one.words).symmetric_difference(other.words) & _DISTINGUISHING
    )


def _match(one: NameParts, other: NameParts) -> NameMatch | None:
    if one.spelling is not None and one.spelling == other.spelling:
        return _same_spelling(one, other)
    if not one.words or not other.words:
        return None
    if one.initials_of(other) or other.initials_of(one):
        return "initials"
    if _are_distinguished(one, other):
        return None
    mine, yours = _own_words(one, other), _own_words(other, one)
    if not mine and not yours:
        return _same_words(one, other)
    if not mine or not yours:
        common = set(_telling_words(one)) & set(_telling_words(other))
        return "shorter" if any(len(word) > 2 for word in common) else None
    return _paired_words(mine, yours)


def _same_spelling(one: NameParts, other: NameParts) -> NameMatch:
    """Say how names of equal letters match: U.S.A. is USA; Robert A. is not Roberta, nor Disney Disney Co."""
    differing = set(one.words).symmetric_difference(other.words)
    if differing & _FORMS and not (set(one.words) & _FORMS and set(other.words) & _FORMS):
        return "shorter"
    fewer, more = sorted((_telling_words(one), _telling_words(other)), key=len)
    is_split = len(fewer) < len(more) and any(len(word) > 1 for word in more if word not in fewer)
    return "turned" if is_split else "equal"


def _telling_words(name: NameParts) -> list[str]:
    """Return the words that distinguish. Titles are left out in front only: `rerank_ms` ends in no title."""
    rest = dropwhile(_TITLES.__contains__, name.words)
    return [word for word in rest if word not in _UNTELLING]


def _same_words(one: NameParts, other: NameParts) -> NameMatch | None:
    """Say how names match whose words are the same, small words and titles aside."""
    left, right = set(one.words).difference(other.words), set(other.words).difference(one.words)
    mine, yours = _telling_words(one), _telling_words(other)
    if not mine or one.repeats != other.repeats or (left & _TITLES and right & _TITLES):
        return None
    if (len(mine) == 1 and left | right) or bool(left & _FORMS) != bool(right & _FORMS):
        return "shorter"
    # University of Oxford is Oxford University; Thomas James is not James Thomas.
    return "equal" if mine == yours or {"of", "de", "der", "des"} & (left | right) else "turned"


def _own_words(one: NameParts, other: NameParts) -> list[str]:
    return [word for word in _telling_words(one) if word not in other.words]


def _paired_words(mine: list[str], yours: list[str]) -> NameMatch | None:
    """Say how differing words match pairwise, in their order; None where a pair does not."""
    if len(mine) != len(yours):
        return None
    matches = [_word_match(*sorted(pair, key=len)) for pair in zip(mine, yours, strict=True)]
    if None in matches:
        return None
    return "initials" if "initials" in matches else "misspelled"


def _word_match(short: str, long: str) -> NameMatch | None:
    if not (short.isalpha() and long.isalpha()):
        return None
    if len(short) == 1:
        return "initials" if long[0] == short and len(long) > 1 else None
    cut = len(short) >= _LEAST_CUT and long.startswith(short)
    typo = len(short) >= _LEAST_TYPO and one_letter_off(short, long)
    return "misspelled" if cut or typo else None
