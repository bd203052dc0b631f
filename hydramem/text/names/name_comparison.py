"""Names compared: how they are spelled, what they are made of, and which of their words agree. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from sys import intern

from hydramem.text.lexicon import word_set

_WORD = re.compile(r"[^\W_]+(?:\.\d+)?[+#]*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_INNER_MARK = re.compile(r"(?<=\w)['’](?=\w)")
_NOT_DIGITS = re.compile(r"[^\d]")
_CODE = re.compile(r"\d[\d/ .()-]{5,}\d")
_AMOUNT = re.compile(r"\s*+(?:[^\w\s]\s*+)?(\d+(?:\.\d+)?)\s*+(?:[^\w\s]\s*+)?")
_SPELLED_WORD = re.compile(r"[^\W_]+[+#]*")
# Between letters, and after an initial, these marks part no words: O'ahu, U.S., J.K.
_INNER_MARK_IN_SPELLING = re.compile(r"(?<=\w)['’.](?=\w|\s|$)")
_PLAIN = re.compile(r"[a-z0-9 ]+")
# Letters beyond Latin, Greek and Cyrillic: no part of a name there is known to be mere spelling.
_OTHER_SCRIPT = re.compile("[\u0530-\u1fff\u2c00-\uffff\U00010000-\U0010ffff]")
_SAME_WORDS = {"saint": "st", "and": "", "mount": "mt"}
_TITLES = word_set("compared_names", "titles") | {"the", "a", "an"}
_FORMS = word_set("compared_names", "legal_forms")
_SMALL = word_set("stop_words", "initials")
_LEAST_SPELLING = 3
_LEAST_TYPO = 5
_LEAST_CODE = 7
_MOST_CHARACTERS = 2000
NO_WORDS: frozenset[str] = frozenset()
"""An empty set that names share: each of its own takes 200 bytes, and a project has many names."""

_SIMILAR = 0.7
"""How sure it is that two words are one where one only may stand for the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameParts:
    """A text taken apart.

    Attributes:
        words: Folded words, each once, in order.
        repeats: Whether one of them is there more often.
        letters: Its words as one text, repeated ones too, with a blank between them and at both ends.
        numbers: Its numbers, without zeros that mean nothing.
        codes: Long numbers without their marks, as of telephones.
        amount: Its value, where it is nothing but a number.
        spelling: What `spelling` returns for it.
        initials: First letters of its words.
    """

    words: tuple[str, ...]
    repeats: bool
    letters: str
    numbers: frozenset[str]
    codes: frozenset[str]
    amount: float | None
    spelling: str | None
    initials: str

    def initials_of(self, other: "NameParts") -> bool:
        """Say whether this is what the other is short for."""
        whole = "".join(self.words)
        return len(self.words) == 1 and len(other.words) > 2 and whole in (other.initials, other.all_initials)

    @property
    def triples(self) -> frozenset[str]:
        """Its letters by threes; of many names that are held, few are compared by them."""
        return _triples(self.letters)

    @property
    def all_initials(self) -> str:
        """First letters of its words, small words too."""
        return "".join(word[0] for word in self.words)


def name_parts(text: str) -> NameParts:
    """Take a text apart; of a very long one the beginning counts."""
    folded = _folded_name(text[:_MOST_CHARACTERS])
    found = [_plain_number(word) for word in _WORD.findall(folded)]
    amount = _AMOUNT.fullmatch(folded)
    codes = (_NOT_DIGITS.sub("", code) for code in _CODE.findall(folded))
    return NameParts(
        words=tuple(dict.fromkeys(map(intern, found))),
        repeats=len(set(found)) < len(found),
        letters=f" {' '.join(found)} ",
        numbers=frozenset(map(_plain_number, _NUMBER.findall(folded))) or NO_WORDS,
        codes=frozenset(code for code in codes if len(code) >= _LEAST_CODE) or NO_WORDS,
        amount=float(amount[1]) if amount else None,
        spelling=spelling(text[:_MOST_CHARACTERS]),
        initials="".join(word[0] for word in found if word not in _SMALL),
    )


@lru_cache(maxsize=4096)
def _triples(letters: str) -> frozenset[str]:
    return frozenset(letters[place : place + 3] for place in range(len(letters) - 2))


def _folded_name(text: str) -> str:
    """Return a text without case, accents and marks within words."""
    split = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(mark for mark in split if not unicodedata.combining(mark))
    return _INNER_MARK.sub("", unicodedata.normalize("NFC", bare))


def _plain_number(word: str) -> str:
    if not word[0].isdecimal() or not word.isascii():
        return word
    whole, _, rest = word.partition(".")
    shorter = rest.rstrip("0")
    return f"{whole.lstrip('0') or '0'}.{shorter}" if shorter else whole.lstrip("0") or "0"


def spelling(name: str) -> str | None:
    """Return what names share that differ in spelling alone; None where too little is left to tell.

    `Dr. Ada Lovelace`, `Lovelace, Ada` and `ada_lovelace` are one; `C`, `C++` and `C#` have none.
    """
    folded = name.casefold()
    if _PLAIN.fullmatch(folded):
        words = folded.split()
    else:
        folded = _without_marks(folded)
        if _OTHER_SCRIPT.search(folded):
            return None
        words = _SPELLED_WORD.findall(folded)
    words = [_SAME_WORDS.get(word, word) for word in words]
    # What a title or legal form leaves must still be a name of its own: The Company is not Company.
    if len(words) > 2 and words[0] in _TITLES:
        words = words[1:]
    if len(words) > 1 and words[-1] in _FORMS:
        words = words[:-1]
    joined = "".join(words)
    return joined if len(joined) >= _LEAST_SPELLING else None


def _without_marks(folded: str) -> str:
    kept: list[str] = []
    letter = ""
    for mark in unicodedata.normalize("NFKD", folded):
        if not unicodedata.combining(mark):
            letter = mark
        # Marks on Latin letters are spelling; elsewhere they can be all that tells two words apart.
        elif letter < "\u0250":
            continue
        kept.append(mark)
    bare = unicodedata.normalize("NFC", "".join(kept))
    if bare.count(",") == 1:
        last, first = bare.split(",")
        bare = f"{first} {last}"
    return _INNER_MARK_IN_SPELLING.sub("", bare)


def match_words(
    mine: Iterable[str], yours: Iterable[str]
) -> tuple[list[tuple[str, float]], list[str], list[str]]:
    """Pair the words of two texts, equal ones first, then those of which one may be short for the other.

    Returns:
        Words in common, each with how sure that is; words of the first alone; of the second alone.
    """
    mine, yours = list(mine), list(dict.fromkeys(yours))
    common = [(word, 1.0) for word in mine if word in yours]
    left = [word for word in mine if word not in yours]
    right = [word for word in yours if word not in mine]
    for word in list(left):
        match = next((other for other in right if stands_for(word, other)), None)
        if match is not None:
            common.append((max(word, match, key=len), _SIMILAR))
            left.remove(word)
            right.remove(match)
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
