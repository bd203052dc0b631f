"""Names of one thing that differ in more than spelling: short forms, and other spellings of a word. Pure.

What is compared are words. A word stands for another as it is, with a letter wrong, as it sounds, or as its
beginning or end; a whole name stands for another as its initials.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from sys import intern
from typing import Literal

from hydramem.text.lexicon import word_rows, word_set
from hydramem.text.names.name_comparison import NO_WORDS, one_letter_off

Variant = Literal["initials", "part", "misspelled", "described"]
"""How one name stands for another: as its initials; as some of its words; as the same words of which one is
spelled otherwise; as ordinary words (`the valley project`) of which one before the last is a word of it."""

_RUN = re.compile(r"\d+(?=(?:st|nd|rd|th)\b)|(?<=\d)(?:st|nd|rd|th)\b|[^\W\d_]+|\d+")
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_WORD = re.compile(r"[^\W_]+")
_INNER_MARK = re.compile(r"(?<=\w)['’](?=\w)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TITLES = word_set("compared_names", "titles")
_FORMS = word_set("compared_names", "legal_forms") | word_set("compared_names", "legal_forms_in_full")
_SMALL = word_set("stop_words", "initials")
_PARTING = word_set("compared_names", "parting")
_NUMBERS = {
    word: str(number) for number, row in enumerate(word_rows("compared_names", "numbers"), 1) for word in row
}
_ARTICLES = word_set("compared_names", "articles")
_MOST_CHARACTERS = 120
_MOST_SHORT, _LEAST_SHORT = 6, 2
_LEAST_CUT, _LEAST_END, _LEAST_TYPO, _LEAST_SOUND = 3, 4, 5, 4
_MOST_WORDS = 8
_NEAR = 0.7

_EQUAL, _TYPO, _SOUND, _CUT, _END, _INITIAL = 1.0, 0.7, 0.6, 0.6, 0.5, 0.3
"""How sure it is that a word stands for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameForm:
    """A name taken apart for a search of its variants.

    Attributes:
        words: Its telling words, folded: without titles, legal forms and small words.
        sounds: What each sounds like (`sound`).
        whole: Its letters and digits, folded, without a legal form.
        initials: What may be short for it; the last are weaker, as a word is left out.
        full: How many of `initials` leave no word out.
        numbers, parting: Its numbers, and its words that make it the name of something else.
        is_short: Whether it may itself be short for something.
        is_description: Whether it is written as ordinary words after an article.
    """

    words: tuple[str, ...]
    sounds: tuple[str, ...]
    whole: str
    initials: tuple[str, ...]
    full: int
    numbers: frozenset[str]
    parting: frozenset[str]
    is_short: bool
    is_description: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NameVariant:
    """How one name may stand for another.

    Attributes:
        how: In which way.
        likeness: How alike the words are that stand for each other, 0 to 1: that of the least alike.
    """

    how: Variant
    likeness: float


def name_form(name: str) -> NameForm:
    """Take a name apart; of a very long one the beginning counts."""
    text = _INNER_MARK.sub("", _without_accents(name[:_MOST_CHARACTERS])).strip()
    article, _, rest = text.partition(" ")
    is_description = article.casefold() == "the" and " " in rest and rest.rpartition(" ")[2].islower()
    every = [word.casefold() for word in _WORD.findall(text)]
    kept = [word for place, word in enumerate(every) if not (place == 0 and word in _TITLES)]
    kept = [word for word in kept if word not in _FORMS] or kept
    telling = [_NUMBERS.get(word, word) for word in kept if word not in _SMALL]
    words = tuple(dict.fromkeys(intern(_without_ending(word)) for word in telling))[:_MOST_WORDS]
    pieces = [piece.casefold() for run in _RUN.findall(text) for piece in _CAMEL.split(run)]
    pieces = [
        _NUMBERS.get(piece, piece)
        for place, piece in enumerate(pieces)
        if piece not in _FORMS and not (piece in _ORDINAL_ENDINGS and place and pieces[place - 1].isdigit())
    ]
    whole = "".join(piece for piece in pieces if piece not in _TITLES)
    initials, full = _initials(pieces)
    runs = [word for word in _WORD.findall(text) if word.casefold() not in _FORMS]
    return NameForm(
        words=words,
        sounds=tuple(sound(word) for word in words),
        whole=whole,
        initials=initials,
        full=full,
        numbers=frozenset(piece for piece in pieces if piece.isdigit()) or NO_WORDS,
        parting=_PARTING.intersection(every) or NO_WORDS,
        is_short=len(runs) <= 2 and _LEAST_SHORT <= len(whole) <= _MOST_SHORT and not whole.isdigit(),
        is_description=is_description,
    )


def _without_accents(text: str) -> str:
    split = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(mark for mark in split if not unicodedata.combining(mark)))


def _without_ending(word: str) -> str:
    """Return a word without the ending of a plural or possessive."""
    return word[:-1] if len(word) > _LEAST_END and word.endswith("s") and not word.endswith("ss") else word


def _initials(pieces: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return what may be short for a name of these pieces, and how many of it leave no word out."""
    telling = [piece for piece in pieces if piece not in _SMALL and piece not in _TITLES]
    named = [piece for piece in pieces if piece not in _ARTICLES]
    full = dict.fromkeys(_joined(each) for each in (pieces, named, telling) if len(each) > 1)
    parts = (telling[first:last] for first, last in combinations(range(len(telling) + 1), 2))
    less = dict.fromkeys(_joined(each) for each in parts if len(each) > 1)
    numbers = [piece for piece in telling if piece.isdigit()]
    if len(numbers) == 1 and len(telling) > 2 and not telling[0].isdigit():
        less[telling[0][0] + numbers[0]] = None
    weak = [each for each in less if each not in full and (len(each) > 2 or not each.isalpha())]
    return tuple(map(intern, (*full, *weak))), len(full)


def _joined(pieces: Sequence[str]) -> str:
    return "".join(piece if piece.isdigit() else piece[0] for piece in pieces)


def sound(word: str) -> str:
    """Return the consonants of a word as they sound: names written by ear share them.

    After Soundex (Russell, 1918), without its groups: `caravan` and `Karavan`, `Mohammed` and `Muhammad`.
    """
    plain = word.replace("ph", "f").replace("ck", "k").replace("sz", "s").replace("tz", "z")
    plain = plain.translate(_SOUNDS)
    first, rest = plain[:1], re.sub(r"[aeiouyjh]+", "", plain[1:])
    return re.sub(r"(.)\1+", r"\1", ("a" if first in "aeiouyj" else first) + rest)


_CONSONANTS = re.compile("[^aeiou0-9]{3,6}")
_SOUNDS = str.maketrans("cqwz", "kkvs")


def variant(one: NameForm, other: NameForm) -> tuple[NameVariant, bool] | None:
    """Say how one name may stand for another; None where neither does.

    Returns:
        The way, and whether it is the first that stands for the second.
    """
    if one.numbers != other.numbers and one.numbers and other.numbers:
        return None
    for short, long, is_first in ((one, other, True), (other, one, False)):
        found = _short_for(short, long)
        if found is not None:
            return found, is_first
    if one.parting != other.parting:
        return None
    ordered = sorted((one, other), key=lambda form: (len(form.words), len(form.whole), form.words))
    found = _by_words(*ordered)
    return None if found is None else (found, ordered[0] is one)


def _short_for(short: NameForm, long: NameForm) -> NameVariant | None:
    if not short.is_short or len(long.whole) <= len(short.whole):
        return None
    if short.whole in long.initials:
        weak = long.initials.index(short.whole) >= long.full
        return NameVariant(how="initials", likeness=0.7 if weak else 1.0)
    letters = short.whole.rstrip("0123456789")
    if letters != short.whole and not long.numbers and len(letters) > 1 and letters in long.initials:
        return NameVariant(how="initials", likeness=0.6)
    return NameVariant(how="initials", likeness=0.5) if is_abbreviation(short, long) else None


def _by_words(fewer: NameForm, more: NameForm) -> NameVariant | None:
    """Say how the words of a name stand for those of another that has at least as many."""
    telling = [place for place, word in enumerate(fewer.words) if len(word) > 2 or word.isdigit()]
    if not telling or not more.words:
        return None
    if fewer.whole == more.whole:
        return NameVariant(how="misspelled", likeness=_EQUAL)
    matched: dict[int, float] = {}
    free = dict(enumerate(more.words))
    for place, word in enumerate(fewer.words):
        best = max(
            ((_stands_for(word, fewer.sounds[place], free[at], more.sounds[at]), -at) for at in free),
            default=(0.0, 0),
        )
        if best[0] > 0:
            matched[place] = best[0]
            del free[-best[1]]
    real = [matched[place] for place in telling if place in matched and matched[place] > _INITIAL]
    if not real:
        return None
    likeness = min(matched.values())
    if all(place in matched for place in telling):
        same_length = not [word for word in free.values() if len(word) > 2]
        how: Variant = "misspelled" if same_length and likeness > _INITIAL else "part"
        return NameVariant(how=how, likeness=likeness)
    return _described(fewer, more) or _described(more, fewer)


def _described(one: NameForm, other: NameForm) -> NameVariant | None:
    """Say whether a description has a word of a name; its last word says what kind of thing it is."""
    if not one.is_description or other.is_description:
        return None
    found = [
        _stands_for(word, heard, of_other, other_heard)
        for word, heard in zip(one.words[:-1], one.sounds, strict=False)
        for of_other, other_heard in zip(other.words, other.sounds, strict=True)
    ]
    best = max(found, default=0.0)
    return NameVariant(how="described", likeness=best) if best >= _SOUND else None


def _stands_for(one: str, one_sound: str, other: str, other_sound: str) -> float:
    """Return how sure it is that a word of the shorter name stands for one of the longer; 0 if not."""
    if one == other:
        return _EQUAL
    if not (one.isalpha() and other.isalpha()):
        return 0.0
    if len(one) == 1:
        return _INITIAL if other[0] == one else 0.0
    short, long = sorted((one, other), key=len)
    if len(short) >= _LEAST_TYPO and one_letter_off(short, long):
        return _TYPO
    if len(short) >= _LEAST_SOUND and one_sound == other_sound and _are_near(short, long):
        return _SOUND
    if len(one) < _LEAST_CUT or len(other) < len(one) + 2:
        return 0.0
    if other.startswith(one):
        return _CUT
    return _END if len(one) >= _LEAST_END and other.endswith(one) else 0.0


def _are_near(short: str, long: str) -> bool:
    """Say whether two words of one sound have nearly the same letters, as Mohammed and Muhammad have."""
    common = (Counter(short) & Counter(long)).total()
    return common >= _NEAR * (len(short) + len(long)) / 2


def keys(form: NameForm) -> Iterator[str]:
    """Yield the keys of a name: two names of which one stands for the other by its words share one.

    Ends of words come by `ends`, since most of them are ends of nothing else.
    """
    for word, heard in zip(form.words, form.sounds, strict=True):
        if len(word) > 2:
            yield f"w {word}"
        if len(word) >= _LEAST_SOUND and len(heard) > 1:
            yield f"s {heard}"


def shortened(form: NameForm) -> Iterator[str]:
    """Yield what a name that may be short for another is the initials of; nothing for others."""
    if form.is_short:
        yield form.whole
        letters = form.whole.rstrip("0123456789")
        if letters != form.whole and len(letters) > 1:
            yield letters


def ends(form: NameForm) -> Iterator[str]:
    """Yield the beginnings and ends of a name's words, and the words."""
    for word in form.words:
        if word.isalpha():
            yield from (word[place:] for place in range(len(word) - _LEAST_END + 1) if place != 1)
            yield from (word[:place] for place in range(_LEAST_CUT, len(word) - 1))


def is_abbreviation(short: NameForm, long: NameForm) -> bool:
    """Say whether consonants stand in a name in their order: `NJM` in `Nightjar migration`.

    The first begins it, and one begins its last word (Schwartz and Hearst, "A simple algorithm for
    identifying abbreviation definitions in biomedical text", 2003).
    """
    letters = short.whole
    if not _CONSONANTS.fullmatch(letters) or not long.words or letters[0] != long.words[0][0]:
        return False
    first, *_, last = (*long.words, long.words[-1])
    if len(first) < _LEAST_TYPO or (len(long.words) > 1 and last[0] not in letters[1:]):
        return False
    following = iter("".join(long.words))
    return all(letter in following for letter in letters)
