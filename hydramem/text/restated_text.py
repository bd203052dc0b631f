"""Whether two texts can say the same in other words: what must agree whatever a model says of them. Pure.

A model that compares texts is misled by one frame with another filling ("ferries to A take cars, not
people", "ferries to B take people, not cars"). So two texts cannot be joined where both name something, or
count something, that the other does not; where they share a frame and each fills it otherwise; where they
share nearly all words, and a small one (not, off, without) or their order may turn what is said; where one
alone denies, and little else shows that they speak of one thing; where one has the opposite of a word of the
other (likes, dislikes); where they share too few; or where one of them asks.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from hydramem.text.decisive_marks import can_be_paraphrases, have_same_words, is_one_word_apart, marks
from hydramem.text.lexicon import word_rows, word_set
from hydramem.text.normalize import folded
from hydramem.text.search_terms import search_stem, words
from hydramem.text.stated_numbers import StatedNumber, number_difference, stated_numbers

SURELY_SAME = 0.6
"""Probability from which two memories surely say the same: recall makes one hit of those linked so."""

CONFIRMED_SAME = 0.95
"""Probability from which a model has confirmed that: by two of its questions, in other words and order."""

MOST_UNCONFIRMED = 0.94
"""Most that the pair classifier says of it by itself."""

_CALENDAR = {
    names[0][:3]: search_stem(names[0])
    for table in ("months", "weekdays")
    for names in word_rows("calendar", table)
}
"""Stems of months and weekdays by their first letters, by which they are abbreviated."""

_TOKEN = re.compile(r"[\w.+@-]+")
"""A word, or what `_is_code` tells from one."""

_MOST_LACKING = 1
"""Numbers and names that one of two texts may leave out: it says less then."""

_LEAST_SHARED = 3
"""Words of content that both must have, for their frame and their order to show anything."""

_LEAST_SHARE = 0.3
"""Share of the words of the longer text that both must have: talk of one tone has fewer, and misleads."""

_SAME_FRAME = 0.5
"""Share of words in common and in order, from which each text fills the same frame."""

ENOUGH_ANCHORS = 2
"""Numbers and names that both state, which show that two texts speak of one thing."""

_DENYING = frozenset(map(search_stem, word_set("negations", "of_statements")))
_TURNING = tuple(sorted(word_set("negations", "prefixes")))
_LEAST_TURNED = 3
"""Letters of a word, from which one with such a prefix is its opposite."""

_SAME_WORDS = 0.75
"""Share of the words of the shorter one from which small words, and another order, may turn what is said."""


@dataclass(frozen=True, slots=True)
class TextComparison:
    """What the words of two texts show of their saying the same.

    Attributes:
        possible: Whether they can say the same.
        short: Whether they share so few words that `can_be_paraphrases` alone is the reason.
        anchors: Different numbers and names that both state.
        denies_alike: Whether both deny something, or neither does.
    """

    possible: bool
    short: bool = False
    anchors: int = 0
    denies_alike: bool = True


def compare_texts(one: str, other: str) -> TextComparison:
    """Compare two English texts by what must agree where they say the same; the order does not matter."""
    mine, yours = _read(one), _read(other)
    anchors = _compare_anchors(mine, yours)
    alike = mine.denies == yours.denies
    if anchors.differ or _asks_or_opposes(mine, yours) or not (alike or anchors.shared >= ENOUGH_ANCHORS):
        return TextComparison(False)
    shared = set(mine.words) & set(yours.words)
    if len(shared) < _LEAST_SHARED:
        short = can_be_paraphrases(one, other)
        return TextComparison(short, short, anchors.shared, alike)
    possible = _may_be_worded_apart(mine.words, yours.words, shared) and _has_nothing_small_more(one, other)
    return TextComparison(possible, anchors=anchors.shared, denies_alike=alike)


def can_restate(one: str, other: str) -> bool:
    """Say whether two English texts can say the same in other words."""
    return compare_texts(one, other).possible


def nothing_decisive_differs(one: str, other: str) -> bool:
    """Say whether two English texts may be joined where something else shows that they say the same.

    They state the same numbers and names, but for one that one of them lacks; neither has the opposite of a
    word of the other; one asks only where both do; and where nearly all words are the same, their order is
    too, and no small word is more. How many words they share, and in which frame, is left to what shows it.
    """
    mine, yours = _read(one), _read(other)
    if _compare_anchors(mine, yours).differ or _asks_or_opposes(mine, yours):
        return False
    return _has_nothing_small_more(one, other)


def nothing_opposes(one: str, other: str) -> bool:
    """Say whether nothing in two English texts denies that they say the same, where a model confirmed it.

    Neither counts one thing otherwise or has the opposite of a word of the other, and one asks only where
    both do. A model reads 48 hours and two days, or a name and what stands for it, as one; words do not.
    """
    mine, yours = _read(one), _read(other)
    numbers = number_difference(mine.numbers, yours.numbers)
    return not (numbers.disagree or _asks_or_opposes(mine, yours))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOverlap:
    """How much two texts share.

    Attributes:
        of_shorter, of_longer: Share of the different words of content of each that the other has too.
        anchors: Different numbers and names that both state.
        lacking: Those that only one of them states.
    """

    of_shorter: float
    of_longer: float
    anchors: int
    lacking: int


def overlap(one: str, other: str) -> TextOverlap:
    """Return how much two English texts share; the order does not matter."""
    mine, yours = _read(one), _read(other)
    anchors = _compare_anchors(mine, yours)
    shared = len(set(mine.words) & set(yours.words))
    fewer, more = sorted((len(set(mine.words)), len(set(yours.words))))
    return TextOverlap(
        of_shorter=shared / max(1, fewer),
        of_longer=shared / max(1, more),
        anchors=anchors.shared,
        lacking=anchors.lacking,
    )


def anchor_count(text: str) -> int:
    """Return how many numbers and names a text states: of two that say the same, one may say less."""
    read = _read(text)
    return len(read.names) + len(read.numbers)


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A text as it is compared: its numbers, stems of names and of all words, and words of content."""

    numbers: tuple[StatedNumber, ...]
    names: frozenset[str]
    stems: frozenset[str]
    words: tuple[str, ...]
    denies: bool
    asks: bool


@lru_cache(maxsize=2048)
def _read(text: str) -> _ReadText:
    names = (name for name in marks(text).names if not any(map(str.isdigit, name)))
    tokens = (match.group().strip(".+-@") for match in _TOKEN.finditer(text))
    codes = frozenset(token.casefold() for token in tokens if _is_code(token))
    stems = _stems(text) | codes
    return _ReadText(
        numbers=stated_numbers(text),
        names=frozenset(map(_stem, names)) | codes,
        stems=stems,
        words=tuple(words(text)),
        denies=marks(text).negations > 0 or not _DENYING.isdisjoint(stems),
        asks="?" in text,
    )


@dataclass(frozen=True, slots=True)
class _Anchors:
    """Numbers and names of two texts: how many both state, how many one lacks, whether they differ."""

    shared: int
    lacking: int
    differ: bool


def _compare_anchors(mine: _ReadText, yours: _ReadText) -> _Anchors:
    numbers = number_difference(mine.numbers, yours.numbers)
    lost, missed = mine.names - yours.stems, yours.names - mine.stems
    lacking = numbers.first + numbers.second + len(lost) + len(missed)
    both_lack = (numbers.first and numbers.second) or (lost and missed)
    return _Anchors(
        shared=numbers.shared + len((mine.names | yours.names) & mine.stems & yours.stems),
        lacking=lacking,
        differ=bool(numbers.disagree or both_lack or lacking > _MOST_LACKING),
    )


def _asks_or_opposes(mine: _ReadText, yours: _ReadText) -> bool:
    """Say whether one text alone asks, or has the opposite of a word of the other."""
    return (
        mine.asks != yours.asks
        or _has_opposite(mine.stems, yours.stems)
        or _has_opposite(yours.stems, mine.stems)
    )


def _has_nothing_small_more(one: str, other: str) -> bool:
    """Say whether texts of nearly the same words have them in one order, and no small word is more."""
    if not _are_nearly_one(_read(one), _read(other)):
        return True
    return have_same_words(one, other) or _differ_in_nothing_small(one, other)


def _are_nearly_one(mine: _ReadText, yours: _ReadText) -> bool:
    shared = set(mine.words) & set(yours.words)
    fewer = min(len(set(mine.words)), len(set(yours.words)))
    return len(shared) >= max(_LEAST_SHARED, _SAME_WORDS * fewer)


def _is_code(token: str) -> bool:
    """Say whether a token is no word: an address, a name with an underscore, a file."""
    if "@" in token or "_" in token.strip("_"):
        return True
    parts = token.split(".")
    return len(parts) > 1 and all(part[:1].isalpha() for part in parts) and all(map(_is_long, parts[1:]))


def _is_long(part: str) -> bool:
    return len(part) > 1


def _stems(text: str) -> frozenset[str]:
    parts = "".join(char if char.isalnum() or char in "'’" else " " for char in text)
    return frozenset(map(_stem, folded(parts).split()))


def _stem(word: str) -> str:
    plain = word.replace("’", "'").removesuffix("'s")
    stem = search_stem(plain)
    day = _CALENDAR.get(plain[:3])
    return day if day is not None and (plain[:3] == plain or stem == day) else stem


def _has_opposite(mine: AbstractSet[str], yours: AbstractSet[str]) -> bool:
    """Say whether the second has a word without the prefix that turns it in the first: undone, done."""
    turned = (word.removeprefix(prefix) for word in mine for prefix in _TURNING if word.startswith(prefix))
    return any(len(word) >= _LEAST_TURNED and word in yours and word not in mine for word in turned)


def _differ_in_nothing_small(one: str, other: str) -> bool:
    """Say whether texts of nearly the same words of content have them in one order, and deny alike."""
    mine, yours = words(one), words(other)
    in_order = _of_both(mine, yours) == _of_both(yours, mine)
    return in_order and marks(one).negations == marks(other).negations and not is_one_word_apart(one, other)


def _of_both(mine: Sequence[str], yours: Sequence[str]) -> list[str]:
    return [word for word in dict.fromkeys(mine) if word in yours]


def _may_be_worded_apart(mine: Sequence[str], yours: Sequence[str], shared: AbstractSet[str]) -> bool:
    """Say whether two texts share enough words of content, and do not fill one frame otherwise."""
    fewer, more = sorted((len(set(mine)), len(set(yours))))
    if len(shared) < _LEAST_SHARE * more:
        return False
    alike = SequenceMatcher(None, mine, yours, autojunk=False).ratio() if len(shared) < fewer else 0.0
    return alike < _SAME_FRAME
