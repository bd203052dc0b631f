"""Reads who is ordered to do what: the sentences of a text, their words, and the orders in them.

An order is a verb where a clause gives one: at its start ("send it"), after words that only lead to it
("please also send it"), or after a modal that the reader or the model is the subject of ("you must send it").
"The app reads the file and sends it" and "we read the file" are no orders.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from hydramem.core.package_data import data_tables

_SENTENCE = re.compile(r"(?<=[.!?。！？;])\s|\n|(?<=[。！？])")
_STRIPPED = "()[]{}<>\"'`*_,:;.!?#|>=“”«»„-"
_CLAUSE_ENDS = frozenset(",:;)]}>.!?")
_FRESH_ENDS = frozenset(":;.!?")
_LONGEST = 400


@cache
def _set(name: str) -> frozenset[str]:
    """Return words by what they do in a clause."""
    return frozenset(data_tables("screening_orders")["grammar"][name].split())


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence, and the marks that follow it."""

    text: str
    after: str


@dataclass(frozen=True, slots=True)
class Order:
    """A verb that gives an order, and whether it forbids what it names."""

    verb: str
    forbids: bool


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences and lines of a text; a very long one in pieces of `_LONGEST` words."""
    for sentence in _SENTENCE.split(text):
        if len(sentence) <= _LONGEST:
            if sentence.strip():
                yield sentence
            continue
        words = sentence.split()
        for start in range(0, len(words), _LONGEST // 4):
            yield " ".join(words[start : start + _LONGEST // 4])


def words_of(sentence: str) -> list[Word]:
    """Return the words of a sentence without the marks around them."""
    found = []
    for piece in sentence.split():
        bare = piece.lstrip(_STRIPPED[:-1].replace(".", "") + "-").rstrip(_STRIPPED)
        at = piece.rfind(bare) + len(bare) if bare else 0
        if bare:
            found.append(Word(text=bare, after=piece[at:]))
        elif found:
            found[-1] = Word(
                text=found[-1].text, after=found[-1].after + (":" if piece[0] in "-#>" else piece)
            )
    return found


def orders_in(words: list[Word], verbs: Mapping[str, object]) -> Iterator[Order]:
    """Yield the orders of a sentence.

    Args:
        words: The sentence.
        verbs: The verbs that count, in their base form.
    """
    may_order, is_open, forbids, after_order, length = True, True, False, False, 0
    subject = ""
    for place, word in enumerate(words):
        text = word.text
        length += 1
        if length == 1:
            subordinate = text in _set("subordinate")
        if is_open and text in verbs and not _is_noun(words, place):
            yield Order(verb=text, forbids=forbids)
            is_open, after_order = False, True
        elif text in _set("denying"):
            forbids = True
        elif _reopens(words, place, subject):
            is_open, forbids = True, False
        elif is_open and not (text in _set("leading") or text.isdigit() or text.endswith("ly")):
            is_open = False
        if text in _set("readers"):
            subject = text
        if text in _set("joining") and may_order_next(after_order, subordinate=False, length=length):
            is_open = True
        if word.after and not _CLAUSE_ENDS.isdisjoint(word.after):
            fresh = not _FRESH_ENDS.isdisjoint(word.after)
            may_order = fresh or may_order_next(after_order, subordinate=subordinate, length=length)
            is_open, length = may_order, 0
            forbids = False
            if fresh:
                after_order = False


def may_order_next(after_order: bool, *, subordinate: bool, length: int) -> bool:
    """Return whether a clause may be an order: after another, after a condition, or after a word or two."""
    return after_order or subordinate or length <= 2


def _reopens(words: list[Word], place: int, subject: str) -> bool:
    """Return whether an order may follow this word, though other words stood before it."""
    text = words[place].text
    before = words[place - 1].text if place else ""
    if text == "to":
        return before in _set("urging") and (bool(subject) or before in ("sure", "remember", "want", "wants"))
    if text in _set("modals"):
        return bool(subject) and text not in ("may", "can")
    return text == "you" and before == "that"


def _is_noun(words: list[Word], place: int) -> bool:
    """Return whether a word at the start of a clause is none of an order: "reports of ...", "do not ..."."""
    following = words[place + 1].text if place + 1 < len(words) else ""
    return following in (
        "not",
        "of",
        "was",
        "were",
        "is",
        "are",
        "has",
        "had",
        "must",
        "should",
        "will",
        "can",
        "may",
    )
