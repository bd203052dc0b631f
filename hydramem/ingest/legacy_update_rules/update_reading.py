"""A memory read as statements, each with a subject, an attribute and phrases.

A clause is split at its verb. Before it stands what is spoken of, as a bag of words ("Bob's manager" and
"manager of Bob" are one); after it come phrases, each a number, a date, a time of day or a thing.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from hydramem.ingest.legacy_update_rules.clause import state
from hydramem.ingest.legacy_update_rules.clause_cues import has_verb
from hydramem.ingest.legacy_update_rules.clause_tokens import ClauseStatement, Token, tokens
from hydramem.ingest.legacy_update_rules.word_tables import PHRASES, VALUES, WORDS

MOST_CHARS = 600
"""Longer texts tell several things; they are compared as wholes only."""

_MOST_CLAUSES = 12
_MARKS = frozenset(".!,;:")
_COUNTED = re.compile(r"(\d{1,3})(?:st|nd|rd|th)|(\d{1,3})(?:o|a|er|ro|do|ra|da)")
_MOST_ORDINAL = 2
_LONGEST_LEAD = 6
_SPANISH_WE = ("amos", "emos", "imos")


def alike(found: Sequence[Token]) -> list[Token]:
    """Return the tokens of a text with what is said in several ways in one of them."""
    told = list(_counted(_often(list(_listed(found)))))
    return list(_said_once(told))


def behind(sentence: list[Token]) -> list[Token]:
    """Put what stands before a sentence, such as "for concerts," or "every night", behind it."""
    stop = _lead(sentence)
    lead, rest = sentence[:stop], sentence[stop:]
    rest = rest[1:] if rest and rest[0].kind == "mark" else rest
    if not rest or not lead or has_verb(lead):
        return sentence
    return [*rest, replace(lead[0], capital=False), *lead[1:]]


def _lead(sentence: Sequence[Token]) -> int:
    """Return how many tokens say when, where or what for before the sentence proper begins."""
    first = sentence[0]
    if first.form in VALUES["frequencies"] and first.text.partition(" ")[0].casefold() in WORDS["movable"]:
        return 1
    forms = tuple(token.form for token in sentence[:_LONGEST_LEAD])
    given_up = any(forms[: len(phrase)] == phrase for phrase in PHRASES["replaced_after"])
    joined = given_up or (first.form in VALUES["prepositions"] and first.kind == "word")
    if not joined and first.kind not in ("date", "clock"):
        return 0
    comma = next((place for place, token in enumerate(sentence) if token.form == ","), 0)
    if comma:
        return comma
    for place, token in enumerate(sentence[: _LONGEST_LEAD + 1]):
        if place and token.form.endswith(_SPANISH_WE) and not (token.article or token.capital):
            return place
    dated = (
        first.form in WORDS["english_when"] and len(sentence) > 2 and sentence[1].kind in ("date", "clock")
    )
    speaks = dated and (sentence[2].article == "the" or sentence[2].form in VALUES["speaker"])
    return 2 if speaks else 0


def _listed(found: Sequence[Token]) -> Iterator[Token]:
    """Join "dem 2." and what follows it: the dot counts, and ends no sentence."""
    for place, token in enumerate(found):
        before = found[place - 1] if place else None
        counts = before is not None and _is_small(before) and before.article in WORDS["german_articles"]
        if token.form == "." and counts and place + 1 < len(found):
            continue
        after = found[place + 1] if place + 2 < len(found) else None
        dotted = _is_small(token) and token.article in WORDS["german_articles"]
        if dotted and after is not None and after.form == ".":
            yield replace(token, form=f"{token.form}th", kind="word")
        else:
            yield token


def _is_small(token: Token) -> bool:
    return token.kind == "number" and token.form.isdigit() and len(token.form) <= _MOST_ORDINAL


def _often(found: list[Token]) -> Iterator[Token]:
    """Read "every night", "jede Woche" and "once a day" as one word each."""
    place = 0
    while place < len(found):
        size, unit = _every(found[place : place + 3])
        if size:
            text = " ".join(token.text or token.form for token in found[place : place + size])
            yield Token(form=VALUES["often"][unit], text=text, capital=False)
            place += size
            continue
        token = found[place]
        place += 1
        recurs = place < len(found) and found[place].form.endswith("*")
        if token.form in ("todos", "todas") and recurs:
            continue
        if token.form in WORDS["fortnightly"]:
            yield from (
                Token(form="every", text=token.text),
                Token(form="2", kind="number"),
                Token(form="week"),
            )
        elif token.form in WORDS["each"] and place < len(found) and _is_step(found[place]):
            yield replace(token, form="every")
        elif token.form == "other" and place > 1 and found[place - 2].form in WORDS["each"]:
            yield Token(form="2", kind="number", text=token.text)
        elif token.form in WORDS["times"]:
            yield from (Token(form="2", kind="number", text=token.text), Token(form="time"))
        elif token.form in VALUES["frequencies"]:
            yield replace(token, form=VALUES["frequencies"][token.form])
        else:
            yield token


def _is_step(token: Token) -> bool:
    return token.kind == "number" or token.form == "other"


def _every(found: Sequence[Token]) -> tuple[int, str]:
    """Return how many tokens say that something happens every so often, and the unit of it."""
    if len(found) < 2:
        return 0, ""
    first, second = found[0], found[1]
    unit = VALUES["units"].get(second.form, "")
    each = first.form in WORDS["each"] or (first.form in ("todos", "todas") and bool(second.article))
    if unit and each:
        return 2, unit
    once = first.form in ("once", "einmal") or (first.form == "vez" and first.article == "una")
    if once and unit and second.article:
        return 2, unit
    if once and len(found) == 3 and VALUES["prepositions"].get(second.form) == "by":
        unit = VALUES["units"].get(found[2].form, "")
        return (3, unit) if unit else (0, "")
    return 0, ""


def _counted(found: Iterator[Token]) -> Iterator[Token]:
    """Write what says which in a row in figures: "third" and "3rd" are one."""
    told = list(found)
    for place, token in enumerate(told):
        before = told[place - 1] if place else None
        after = told[place + 1] if place + 1 < len(told) else None
        rank = _rank(token, before, after)
        yield replace(token, form=f"{rank}th") if rank else token


def _rank(token: Token, before: Token | None, after: Token | None) -> str:
    if token.kind != "word":
        return ""
    written = _COUNTED.fullmatch(token.form)
    if written is not None:
        # "la 3a planta" counts, and "flat 3A" does not.
        counts = written[1] or (token.article in WORDS["spanish_articles"] and not token.text.isupper())
        return (written[1] or written[2]) if counts else ""
    rank = VALUES["ordinals"].get(token.form, "")
    followed = after is not None and after.kind == "word" and not after.article
    if not rank or not (token.article in WORDS["definites"] or followed):
        return ""
    timed = before is not None and (before.kind == "number" or before.form in WORDS["rates"])
    return "" if timed or token.article in WORDS["indefinites"] else rank


def _said_once(found: Sequence[Token]) -> Iterator[Token]:
    """Leave out who is named twice, as in "a mí me", and read "gets cleaned" as "is cleaned"."""
    for place, token in enumerate(found):
        after = [other.form for other in found[place + 1 : place + 3]]
        again = VALUES["said_twice"].get(token.form)
        if again is not None and (after[:1] == [again] or after == ["no", again]):
            continue
        if token.form in VALUES["gets"] and after and _is_participle(after[0]):
            yield replace(token, form=VALUES["gets"][token.form])
        else:
            yield token


def _is_participle(form: str) -> bool:
    regular = len(form) > 4 and form.endswith("ed")
    return regular or form in WORDS["participles"] or form in VALUES["past_verbs"] or form in WORDS["placing"]


_WORD = re.compile(r"[+-]?\w+(?:[.,:/'-]\w+)*")

# Not part of a longer word: "now here" is not "nowhere".
_SHORT = 3

_APART = WORDS["negations"] | {"now", "any", "all", "one", "may", "can", "every", "some"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
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
    statements: tuple[ClauseStatement, ...] = ()
    speaks: bool
    negations: int = 0
    said: tuple[Token, ...] = ()


def reading(text: str) -> TextReading:
    """Read a text; what was read lately is not read again."""
    return _short(text) if len(text) <= MOST_CHARS else _long(text)


def _long(text: str) -> TextReading:
    """Read a long text for its words alone, in linear time."""
    said = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return TextReading(signature=" ".join(said), speaks=not VALUES["speaker"].keys().isdisjoint(said))


@lru_cache(maxsize=4096)
def _short(text: str) -> TextReading:
    sentences = list(_sentences(alike(_without_opening(tokens(text)))))
    said = tuple(token for sentence, _ in sentences for token in _said(sentence))
    spoken = any(token.form in VALUES["speaker"] and token.kind == "word" for token in said)
    return TextReading(
        signature=_signature(said),
        forms=frozenset(token.form for token in said),
        marks=tuple(sorted(_mark(token.form) for token in said if token.marks)),
        statements=tuple(_statements([sentence for sentence, asked in sentences if not asked])),
        said=said,
        speaks=spoken or any(token.form in VALUES["first_person"] for token in said[:2]),
        negations=sum(token.form in WORDS["negations"] for token in said),
    )


def _said(sentence: Sequence[Token]) -> Iterator[Token]:
    """Yield the words of a sentence; "on" before a day says nothing that the day does not."""
    for place, token in enumerate(sentence):
        after = sentence[place + 1] if place + 1 < len(sentence) else None
        dated = after is not None and after.kind == "date" and token.form in WORDS["on_days"]
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
    for phrase in PHRASES["opening"]:
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


def _statements(sentences: Sequence[list[Token]]) -> Iterator[ClauseStatement]:
    before: ClauseStatement | None = None
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
        joint = comma or token.form in WORDS["joining"]
        if joint and has_verb(clause) and has_verb(_until_joint(sentence[place + 1 :])):
            yield clause
            clause = []
        elif not comma:
            clause.append(token)
    if clause:
        yield clause


def _until_joint(rest: list[Token]) -> list[Token]:
    for place, token in enumerate(rest):
        if place and (token.form in WORDS["joining"] or token.form == ","):
            return rest[:place]
    return rest
