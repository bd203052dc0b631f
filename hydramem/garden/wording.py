"""Wording: a name or a short text taken apart into what comparing needs: words, letters, numbers. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from hydramem.graph.spelling import spelling

_WORD = re.compile(r"[^\W_]+(?:\.\d+)?[+#]*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_INNER_MARK = re.compile(r"(?<=\w)['’](?=\w)")
_NOT_DIGITS = re.compile(r"[^\d]")
_CODE = re.compile(r"\d[\d/ .()-]{5,}\d")
_AMOUNT = re.compile(r"\s*[^\w\s]?\s*(\d+(?:\.\d+)?)\s*[^\w\s]?\s*")
_MOST_CHARACTERS = 2000
_SOFT = 0.7
_LEAST_TYPO = 5
_SMALL = frozenset(
    ["a", "an", "and", "at", "by", "de", "der", "die", "for", "in", "la", "of", "on", "the", "to"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A text taken apart.

    Attributes:
        words: Folded words, each once, in order.
        repeats: Whether one of them is there more often.
        triples: Its letters by threes, with the blanks between words.
        numbers: Its numbers, without zeros that mean nothing.
        codes: Long numbers without their marks, as of telephones.
        amount: Its value, where it is nothing but a number.
        spelling: As in `graph.spelling`.
        initials: First letters of its words.
    """

    words: tuple[str, ...]
    repeats: bool
    triples: frozenset[str]
    numbers: frozenset[str]
    codes: frozenset[str]
    amount: float | None
    spelling: str | None
    initials: str

    def initials_of(self, other: "Wording") -> bool:
        """Say whether this is what the other is short for."""
        whole = "".join(self.words)
        return len(self.words) == 1 and len(other.words) > 2 and whole in (other.initials, other.all_initials)

    @property
    def all_initials(self) -> str:
        """First letters of its words, small words too."""
        return "".join(word[0] for word in self.words)


def worded(text: str) -> Wording:
    """Take a text apart; of a very long one the beginning counts."""
    folded = folded_name(text[:_MOST_CHARACTERS])
    found = [_plain(word) for word in _WORD.findall(folded)]
    padded = f" {' '.join(found)} "
    amount = _AMOUNT.fullmatch(folded)
    codes = (_NOT_DIGITS.sub("", code) for code in _CODE.findall(folded))
    return Wording(
        words=tuple(dict.fromkeys(found)),
        repeats=len(set(found)) < len(found),
        triples=frozenset(padded[place : place + 3] for place in range(len(padded) - 2)),
        numbers=frozenset(_plain(number) for number in _NUMBER.findall(folded)),
        codes=frozenset(code for code in codes if len(code) >= 7),
        amount=float(amount[1]) if amount else None,
        spelling=spelling(text[:_MOST_CHARACTERS]),
        initials="".join(word[0] for word in found if word not in _SMALL),
    )


def folded_name(text: str) -> str:
    """Return a text without case, accents and marks within words."""
    split = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(mark for mark in split if not unicodedata.combining(mark))
    return _INNER_MARK.sub("", unicodedata.normalize("NFC", bare))


def _plain(word: str) -> str:
    if not word[0].isdecimal() or not word.isascii():
        return word
    whole, _, rest = word.partition(".")
    shorter = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}.{shorter}" if shorter else whole.lstrip("0") or "0"


Matched = tuple[list[tuple[str, float]], list[str], list[str]]


def matched(mine: Iterable[str], yours: Iterable[str]) -> Matched:
    """Pair the words of two texts, equal ones first, then what one may stand for the other.

    Returns:
        Words in common, each with how surely they are; words of the first alone; of the second alone.
    """
    mine, rest = list(mine), list(dict.fromkeys(yours))
    common = [(word, 1.0) for word in mine if word in rest]
    left = [word for word in mine if word not in rest]
    right = [word for word in rest if word not in mine]
    for word in list(left):
        meant = next((other for other in right if stands_for(word, other)), None)
        if meant is not None:
            common.append((max(word, meant, key=len), _SOFT))
            left.remove(word)
            right.remove(meant)
    return common, left, right


def stands_for(one: str, other: str) -> bool:
    """Say whether one word may be the other: as its initial, its beginning, or with a letter wrong."""
    short, long = sorted((one, other), key=len)
    if not (one.isalpha() and other.isalpha()) or short[0] != long[0]:
        return False
    if len(short) == 1 or (len(short) >= 3 and long.startswith(short)):
        return True
    return len(short) >= _LEAST_TYPO and one_letter_off(short, long)


def one_letter_off(short: str, long: str) -> bool:
    """Say whether two words differ in one letter: another, one more, or two that changed places."""
    if len(long) - len(short) > 1:
        return False
    place = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    if len(long) > len(short):
        return short[place:] == long[place + 1 :]
    turned = short[place : place + 2] == long[place : place + 2][::-1]
    return short[place + 1 :] == long[place + 1 :] or (turned and short[place + 2 :] == long[place + 2 :])
