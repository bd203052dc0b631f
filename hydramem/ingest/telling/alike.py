"""Ways to say one thing, brought into one: how often, which in a row, who is spoken of twice.

"Every night" and "nightly", "third" and "3rd", "gets cleaned" and "is cleaned", "twice" and "two times".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hydramem.ingest.telling import words
from hydramem.ingest.telling.tokens import Token
from hydramem.ingest.telling.verbs import has_verb

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
    if first.form in words.FREQUENCIES and first.text.partition(" ")[0].casefold() in words.MOVABLE:
        return 1
    forms = tuple(token.form for token in sentence[:_LONGEST_LEAD])
    given_up = any(forms[: len(phrase)] == phrase for phrase in words.REPLACED_AFTER)
    joined = given_up or (first.form in words.PREPOSITIONS and first.kind == "word")
    if not joined and first.kind not in ("date", "clock"):
        return 0
    comma = next((place for place, token in enumerate(sentence) if token.form == ","), 0)
    if comma:
        return comma
    for place, token in enumerate(sentence[: _LONGEST_LEAD + 1]):
        if place and token.form.endswith(_SPANISH_WE) and not (token.article or token.capital):
            return place
    dated = first.form in words.ENGLISH_WHEN and len(sentence) > 2 and sentence[1].kind in ("date", "clock")
    speaks = dated and (sentence[2].article == "the" or sentence[2].form in words.SPEAKER)
    return 2 if speaks else 0


def _listed(found: Sequence[Token]) -> Iterator[Token]:
    """Join "dem 2." and what follows it: the dot counts, and ends no sentence."""
    for place, token in enumerate(found):
        before = found[place - 1] if place else None
        counts = before is not None and _is_small(before) and before.article in words.GERMAN_ARTICLES
        if token.form == "." and counts and place + 1 < len(found):
            continue
        after = found[place + 1] if place + 2 < len(found) else None
        dotted = _is_small(token) and token.article in words.GERMAN_ARTICLES
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
            yield Token(form=words.OFTEN[unit], text=text, capital=False)
            place += size
            continue
        token = found[place]
        place += 1
        recurs = place < len(found) and found[place].form.endswith("*")
        if token.form in ("todos", "todas") and recurs:
            continue
        if token.form in words.FORTNIGHTLY:
            yield from (
                Token(form="every", text=token.text),
                Token(form="2", kind="number"),
                Token(form="week"),
            )
        elif token.form in words.EACH and place < len(found) and _is_step(found[place]):
            yield replace(token, form="every")
        elif token.form == "other" and place > 1 and found[place - 2].form in words.EACH:
            yield Token(form="2", kind="number", text=token.text)
        elif token.form in words.TIMES:
            yield from (Token(form="2", kind="number", text=token.text), Token(form="time"))
        elif token.form in words.FREQUENCIES:
            yield replace(token, form=words.FREQUENCIES[token.form])
        else:
            yield token


def _is_step(token: Token) -> bool:
    return token.kind == "number" or token.form == "other"


def _every(found: Sequence[Token]) -> tuple[int, str]:
    """Return how many tokens say that something happens every so often, and the unit of it."""
    if len(found) < 2:
        return 0, ""
    first, second = found[0], found[1]
    unit = words.UNITS.get(second.form, "")
    each = first.form in words.EACH or (first.form in ("todos", "todas") and bool(second.article))
    if unit and each:
        return 2, unit
    once = first.form in ("once", "einmal") or (first.form == "vez" and first.article == "una")
    if once and unit and second.article:
        return 2, unit
    if once and len(found) == 3 and words.PREPOSITIONS.get(second.form) == "by":
        unit = words.UNITS.get(found[2].form, "")
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
        counts = written[1] or (token.article in words.SPANISH_ARTICLES and not token.text.isupper())
        return (written[1] or written[2]) if counts else ""
    rank = words.ORDINALS.get(token.form, "")
    followed = after is not None and after.kind == "word" and not after.article
    if not rank or not (token.article in words.DEFINITES or followed):
        return ""
    timed = before is not None and (before.kind == "number" or before.form in words.RATES)
    return "" if timed or token.article in words.INDEFINITES else rank


def _said_once(found: Sequence[Token]) -> Iterator[Token]:
    """Leave out who is named twice, as in "a mí me", and read "gets cleaned" as "is cleaned"."""
    for place, token in enumerate(found):
        after = [other.form for other in found[place + 1 : place + 3]]
        again = words.SAID_TWICE.get(token.form)
        if again is not None and (after[:1] == [again] or after == ["no", again]):
            continue
        if token.form in words.GETS and after and _is_participle(after[0]):
            yield replace(token, form=words.GETS[token.form])
        else:
            yield token


def _is_participle(form: str) -> bool:
    regular = len(form) > 4 and form.endswith("ed")
    return regular or form in words.PARTICIPLES or form in words.PAST_VERBS or form in words.PLACING
