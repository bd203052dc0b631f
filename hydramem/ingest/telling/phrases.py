"""Tokens as phrases: split at prepositions, numbers, dates and times; and subjects as bags of words."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hydramem.ingest.telling import words
from hydramem.ingest.telling.parts import Phrase, PhraseKind
from hydramem.ingest.telling.tokens import Token

_HOURS = frozenset(str(hour) for hour in range(1, 25))


def phrases_of(tail: Sequence[Token], *, spanish: bool = False) -> tuple[Phrase, ...]:
    """Split what is said into phrases.

    Args:
        tail: The tokens, prepositions and marks among them.
        spanish: Whether "a" is the Spanish "to".
    """
    groups: list[tuple[str, list[Token]]] = []
    role, fresh = "", True
    for place, token in enumerate(tail):
        if token.kind == "mark":
            fresh = True
        elif _joins(token, place) and place + 1 < len(tail):
            measured = bool(groups) and not fresh and groups[-1][1][0].kind == "number"
            found = words.PREPOSITIONS[token.form]
            role, fresh = ("" if measured and found in ("of", "~") else found), True
        else:
            if spanish and token.article == "a":
                role, fresh, token = "to", True, replace(token, article="")
            if fresh or _breaks(groups[-1][1], token) or _tells_how_often(tail[place : place + 2]):
                groups.append((role, []))
            groups[-1][1].append(token)
            role, fresh = "", False
    return tuple(_phrase(role, group) for role, group in groups)


def _joins(token: Token, place: int) -> bool:
    """Say whether a token is a preposition; one with a capital is a name, but at the beginning."""
    return token.form in words.PREPOSITIONS and token.kind == "word" and not (place and token.capital)


def _breaks(group: Sequence[Token], token: Token) -> bool:
    """Say whether a token begins another phrase than the one before it is in."""
    if token.kind in ("date", "clock") or group[-1].kind in ("date", "clock"):
        return True
    if group[0].kind == "number":
        return len(group) > 1  # a number takes one word with it
    return bool(token.article)


def _tells_how_often(found: Sequence[Token]) -> bool:
    """Say whether a token begins "every 2 weeks" or "2 times", or is "weekly"; a weekly call is a thing."""
    token, after = found[0], found[1] if len(found) > 1 else None
    if token.form == "every":
        return after is not None and after.kind == "number"
    if token.form not in words.FREQUENCIES:
        return token.kind == "number" and after is not None and after.form == "time"
    return after is None or after.kind != "word" or bool(after.article) or after.form in words.PREPOSITIONS


def _phrase(role: str, group: Sequence[Token]) -> Phrase:
    first = group[0]
    kind: PhraseKind = "thing"
    if first.kind in ("date", "clock", "number"):
        kind = first.kind
    forms = tuple(words.SPEAKER.get(token.form, token.form) for token in group)
    if kind == "number" and role == "at" and len(forms) == 1 and forms[0] in _HOURS:
        kind, forms = "clock", (f"{int(forms[0]):02}:00",)
    if kind == "date" and role == "from":
        role = "since"
    timed = kind in ("date", "clock") and role not in ("since", "until", "after", "before")
    return Phrase(
        kind=kind,
        role="" if timed else role,
        forms=forms,
        named=any(token.capital or token.marks for token in group),
        article=first.article,
        owned=any(token.owner or token.form in words.OWNERS for token in group),
        text=" ".join(token.text or token.form for token in group).rstrip(".,"),
    )


def bag(said: Sequence[Token]) -> frozenset[str]:
    """Return the words of what is spoken of, `i` and `we` for who says it."""
    kept = [token.form for token in said if token.form not in words.PREPOSITIONS or token.capital]
    found = frozenset(words.SPEAKER.get(form, form) for form in kept)
    # "My brother's name" and "my brother" are told apart by the verb alone.
    return found - {"name", "nombre"} if len(found) > 1 else found


def owners_of(said: Sequence[Token]) -> frozenset[str]:
    """Return those words that have the others: "Bob" of "Bob's manager" and of "manager of Bob"."""
    owners = {token.form for token in said if token.owner}
    of = {after.form for before, after in pairwise(said) if before.form in ("of", "von", "de")}
    return frozenset(owners | of)
