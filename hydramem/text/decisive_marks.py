"""What decides that two texts cannot say the same, however alike they are: numbers, names, negation."""

import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from hydramem.text.lexicon import word_set
from hydramem.text.normalize import folded, wording

_NEGATIONS = word_set("negations", "of_claims") | word_set("negations", "of_orders")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"[-+]?\d[\w.,:/-]*")
_ARTICLES = frozenset(("a", "an", "the"))
_LEAST_APART = 3
_LAST_MARKS = " \t\n.!…"


@dataclass(frozen=True, slots=True)
class Marks:
    """The numbers, names and negations of a text.

    Attributes:
        numbers: Whatever begins with a digit, in order: 3 of 5 and 5 of 3 differ.
        names: Words with a capital or a digit, folded; a capital that begins a sentence shows nothing.
        negations: How many words deny.
    """

    numbers: tuple[str, ...]
    names: frozenset[str]
    negations: int


def marks(text: str) -> Marks:
    """Read the marks of a text."""
    found = list(_WORD.finditer(text))
    words = [match.group() for match in found]
    return Marks(
        numbers=tuple(match.group().rstrip(".,:-/") for match in _NUMBER.finditer(text)),
        names=frozenset(
            folded(match.group()) for match in found if _may_be_name(match.group(), _begins(text, match))
        ),
        negations=sum(word in _NEGATIONS or word.endswith("n't") for word in map(_plain, words)),
    )


def differ_in_marks(one: str, other: str) -> bool:
    """Say whether two texts differ in a number, a name or a negation."""
    return marks(one) != marks(other)


def lost_marks(text: str, other: str) -> frozenset[str]:
    """Return the numbers and names of a text that another lacks, and `not` where only one of them denies."""
    mine, theirs = marks(text), marks(other)
    words = {folded(match.group()) for match in _WORD.finditer(other)}
    lost = (mine.names - words) | (set(mine.numbers) - set(theirs.numbers))
    return frozenset(lost | ({"not"} if bool(mine.negations) != bool(theirs.negations) else set()))


def have_same_words(one: str, other: str) -> bool:
    """Say whether two texts have the same words in the same order, apart from articles and last marks.

    Prepositions, endings, commas and capitals may each turn what a text says; an article does not.
    """
    return _without_articles(one) == _without_articles(other)


def can_be_paraphrases(one: str, other: str) -> bool:
    """Say whether a model may be believed that two texts say the same.

    Where one word is put for another, before for after, or words change places, models seldom see that the
    texts say something else. So either nothing but articles differs; or no number, name or negation does,
    more than a word is put otherwise, and the words of both are in one order.
    """
    if have_same_words(one, other):
        return True
    if differ_in_marks(one, other):
        return False
    if is_one_word_apart(one, other):
        return False
    mine, yours = _words(one), _words(other)
    both = set(mine) & set(yours)
    return _first_places(mine, both) == _first_places(yours, both)


def is_one_word_apart(one: str, other: str) -> bool:
    """Say whether two texts have the same words but for one, and for articles: on, off; with, without."""
    mine, yours = Counter(_words(one)), Counter(_words(other))
    apart = (mine - yours) + (yours - mine)
    return sum(count for word, count in apart.items() if word not in _ARTICLES) < _LEAST_APART


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(text)]


def _first_places(words: Sequence[str], kept: AbstractSet[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word in kept and word not in _ARTICLES))


def _without_articles(text: str) -> tuple[str, ...]:
    words = wording(text.rstrip(_LAST_MARKS)).split()
    if words and words[0].lower() in _ARTICLES:
        # The word after it begins the text, where a capital shows nothing.
        words = words[1:]
    first = tuple(f"{word[:1].lower()}{word[1:]}" for word in words[:1])
    return (*first, *(word for word in words[1:] if word not in _ARTICLES))


def _plain(word: str) -> str:
    return folded(word.replace("’", "'"))


def _begins(text: str, word: re.Match[str]) -> bool:
    """Say whether a word begins a text or a sentence."""
    before = text[: word.start()].rstrip(" \t\"'“”‘’(")
    return not before or before[-1] in ".!?:;\n"


def _may_be_name(word: str, begins: bool) -> bool:
    return any(map(str.isdigit, word)) or (not begins and word[0] != word[0].casefold())
