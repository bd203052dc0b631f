"""A memory read as statements: of what it speaks, by which attribute, with which phrases.

A clause is split at its verb. Before it stands what is spoken of, as a bag of words ("Bob's manager" and
"manager of Bob" are one); after it come phrases, each a number, a date, a time of day or a thing.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hydramem.ingest.telling import words
from hydramem.ingest.telling.alike import alike, behind
from hydramem.ingest.telling.clause import state
from hydramem.ingest.telling.parts import Statement
from hydramem.ingest.telling.tokens import Token, tokens
from hydramem.ingest.telling.verbs import has_verb

MOST_CHARS = 600
"""Longer texts tell several things; they are compared as wholes only."""

_MOST_CLAUSES = 12

_MARKS = frozenset(".!,;:")

_WORD = re.compile(r"[+-]?\w+(?:[.,:/'-]\w+)*")

# Not part of a longer word: "now here" is not "nowhere".
_SHORT = 3

_APART = words.NEGATIONS | {"now", "any", "all", "one", "may", "can", "every", "some"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as its statements.

    Attributes:
        signature: All of its words; texts of one signature say the same.
        forms: They as a set; of a text longer than `MOST_CHARS` this and what follows is left out.
        marks: Its numbers, dates and times of day, sorted.
        statements: What it states.
        speaks: Whether it tells of who says it.
        negations: How many words of it deny.
        said: Its words in order, what stands before a sentence behind it.
    """

    signature: str
    forms: frozenset[str] = frozenset()
    marks: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    speaks: bool
    negations: int = 0
    said: tuple[Token, ...] = ()


def reading(text: str) -> Reading:
    """Read a text; what was read lately is not read again."""
    return _short(text) if len(text) <= MOST_CHARS else _long(text)


def _long(text: str) -> Reading:
    """Read a long text for its words alone, in linear time."""
    said = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return Reading(signature=" ".join(said), speaks=not words.SPEAKER.keys().isdisjoint(said))


@lru_cache(maxsize=4096)
def _short(text: str) -> Reading:
    sentences = list(_sentences(alike(_without_opening(tokens(text)))))
    said = tuple(token for sentence, _ in sentences for token in _said(sentence))
    spoken = any(token.form in words.SPEAKER and token.kind == "word" for token in said)
    return Reading(
        signature=_signature(said),
        forms=frozenset(token.form for token in said),
        marks=tuple(sorted(_mark(token.form) for token in said if token.marks)),
        statements=tuple(_statements([sentence for sentence, asked in sentences if not asked])),
        said=said,
        speaks=spoken or any(token.form in words.FIRST_PERSON for token in said[:2]),
        negations=sum(token.form in words.NEGATIONS for token in said),
    )


def _said(sentence: Sequence[Token]) -> Iterator[Token]:
    """Yield the words of a sentence; "on" before a day says nothing that the day does not."""
    for place, token in enumerate(sentence):
        after = sentence[place + 1] if place + 1 < len(sentence) else None
        dated = after is not None and after.kind == "date" and token.form in words.ON_DAYS
        if token.kind != "mark" and not dated:
            yield token


def _mark(form: str) -> str:
    """Return what tells things apart in one form; "at 9" is 9:00, as far as its place says nothing else."""
    return f"{int(form):02}:00" if form.isascii() and form.isdigit() and len(form) < 3 else form


def _without_opening(found: Sequence[Token]) -> Sequence[Token]:
    """Leave out "remember that" at the beginning, and "by the way" at either end."""
    forms = [token.form for token in found]
    while forms and forms[-1] in _MARKS:
        forms.pop()
    for phrase in words.OPENING:
        size = len(phrase)
        if len(forms) <= size:
            continue
        if forms[0] == phrase[0] and tuple(forms[:size]) == phrase:
            rest = found[size:]
            return rest[1:] if rest[0].kind == "mark" else rest
        if forms[-1] == phrase[-1] and tuple(forms[-size:]) == phrase:
            return found[: len(forms) - size]
    return found


def _signature(said: Sequence[Token]) -> str:
    """Return the words in one string; of long words, those written apart or as one are not told apart."""
    parts, before = [], True
    for token in said:
        alone = token.marks or token.owner or len(token.form) < _SHORT or token.form in _APART
        parts.append(f" {token.form}" if alone or before else token.form)
        before = alone
        if token.owner:
            parts.append("'")
    return "".join(parts)


def _statements(sentences: Sequence[list[Token]]) -> Iterator[Statement]:
    before: Statement | None = None
    count = 0
    for sentence in sentences:
        for clause in _clauses(sentence):
            statement = state(clause, before)
            before = statement or before
            if statement is not None:
                yield statement
            count += 1
            if count >= _MOST_CLAUSES:
                return


def _sentences(found: Sequence[Token]) -> Iterator[tuple[list[Token], bool]]:
    """Yield each sentence, and whether it asks."""
    sentence: list[Token] = []
    for token in (*found, Token(form=".", kind="mark")):
        if token.kind == "mark" and token.form in (".", "!", "?", ";"):
            if sentence:
                yield behind(sentence), token.form == "?"
            sentence = []
        else:
            sentence.append(token)


def _clauses(sentence: list[Token]) -> Iterator[list[Token]]:
    """Yield the clauses of a sentence: at a comma or a joining word, where a verb of its own follows."""
    clause: list[Token] = []
    for place, token in enumerate(sentence):
        comma = token.kind == "mark" and token.form == ","
        joint = comma or token.form in words.JOINING
        if joint and has_verb(clause) and has_verb(_until_joint(sentence[place + 1 :])):
            yield clause
            clause = []
        elif not comma:
            clause.append(token)
    if clause:
        yield clause


def _until_joint(rest: list[Token]) -> list[Token]:
    for place, token in enumerate(rest):
        if place and (token.form in words.JOINING or token.form == ","):
            return rest[:place]
    return rest
