"""Relations that stand in fixed forms: dates of a life, moves from one thing to another, kin, and kinds."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hydramem.ingest.extraction.claim_sentence import ClaimSentence
from hydramem.ingest.extraction.findings import Claim
from hydramem.ingest.extraction.name_words import NOUN_TYPES
from hydramem.ingest.extraction.relation_patterns import KIN, Pattern
from hydramem.ingest.extraction.spans import Span

_LIFE = re.compile(r"\s*\(([^()]{0,120})\)")

_MOVED = re.compile(
    r"\b(moved|migrated|switched|ported|converted|replaced?|replacing)\s+(?:the |our |its )?[`\"“]?$"
)

_IS = re.compile(r"[\s,]*(?:is|was|were|are)\b")

_KIND = re.compile(
    r"\s*+(?:is|was|are|were|remains)\s++(?:an?|the|one of the)\s++((?:[\w’'/-]++\s++){0,6}?)("
    + "|".join(sorted(NOUN_TYPES, key=len, reverse=True))
    + r")\b"
)

_IS_A = re.compile(
    r"\s*(?:is|are)\s+(?:an?|our|the)\s+([a-z][a-z-]+(?: [a-z][a-z-]+){1,2})"
    r"(?=[.,;:]|\s+(?:that|which|for|used|with|in|by)\b|\s*$)"
)

_IN_PLACE = re.compile(r"\b(?:in|of|at|for|from|with|by|on)\s+(?:the\s+)?$")

_KIN = re.compile(rf"\b(?:[Hh]is|[Hh]er|[Tt]heir|[Mm]y)(?: \w+)? ({'|'.join(KIN)})(?: (?:is|was)|,)? $")


def kinds_in(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """Yield (name, type) for every "X is a ... NOUN" whose noun tells the type of X."""
    for span in spans:
        if span.type == "thing":
            aside = _LIFE.match(text, span.end)
            kind = _KIND.match(text, aside.end() if aside else span.end)
            if kind is not None:
                yield span.name, NOUN_TYPES[kind.group(2)]


def is_a_in(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """Yield (name, kind) for every "X is a graph database": the kind is a thing by itself."""
    for span in spans:
        if span.type in ("thing", "code", "software"):
            match = _IS_A.match(text, span.end)
            if match is None or _IN_PLACE.search(text, max(0, span.start - 8), span.start):
                continue
            if match.group(1).endswith("ed") or " in " in match.group(1):
                continue
            if NOUN_TYPES.get(match.group(1).split()[-1]) not in ("person", "work", "place"):
                yield span.name, match.group(1)


def moves(sentence: ClaimSentence) -> Iterator[Claim]:
    """Read "moved billing from PostgreSQL to MySQL" and "replaced PostgreSQL with MySQL"."""
    for index, span in enumerate(sentence.names[:-1]):
        lead = _MOVED.search(sentence.text, max(sentence.start, span.start - 24), span.start)
        if lead is None or not sentence.states(lead.start()):
            continue
        following = sentence.names[index + 1 : index + 3]
        gaps = [
            sentence.text[before.end : after.start].strip() for before, after in pairwise((span, *following))
        ]
        if lead.group(1).startswith("replac"):
            if gaps[0] in ("with", "by"):
                yield sentence.claim(span.name, Pattern("replaced_by", 0.85, False), following[0].name)
        elif gaps == ["from", "to"]:
            for type, other in zip(("migrated_from", "migrated_to"), following, strict=True):
                yield sentence.claim(span.name, Pattern(type, 0.85, False), other.name)
        elif gaps[0] == "to":
            yield sentence.claim(span.name, Pattern("migrated_to", 0.75, False), following[0].name)


def lives(sentence: ClaimSentence) -> Iterator[Claim]:
    """Read "Ada (born 10 December 1815)" and "Ada (1815 - 1852)"."""
    dates = [span for span in sentence.names if span.type == "date"]
    if not dates:
        return
    for span in sentence.names:
        aside = _LIFE.match(sentence.text, span.end) if span.type != "date" else None
        if aside is None or not sentence.states(aside.start()):
            continue
        inside = [date for date in dates if aside.start() < date.start < aside.end()]
        if span is not sentence.names[0] and not _IS.match(sentence.text, aside.end()):
            continue
        if (
            len(inside) > 1
            and all(len(date.name) == 4 for date in inside)
            and not _IS.match(sentence.text, aside.end())
        ):
            continue
        between = sentence.text[inside[0].end : inside[1].start].strip() if len(inside) > 1 else ""
        words = aside.group(1)
        if len(inside) == 2 and between in ("-", "–", "—", "− ", "to"):
            for type, date in zip(("born_on", "died_on"), inside, strict=True):
                yield sentence.claim(span.name, Pattern(type, 0.8, False), date.name)
        elif len(inside) == 1 and words.lstrip().startswith(("died", "d.", "–", "-")):
            yield sentence.claim(span.name, Pattern("died_on", 0.85, False), inside[0].name)


def kin(sentence: ClaimSentence) -> Iterator[Claim]:
    """Read "His wife Ana" and "My manager is Ana"."""
    for span in sentence.names:
        match = _KIN.search(sentence.text, max(sentence.start, span.start - 40), span.start)
        if match is None or span.type == "date" or not sentence.states(match.start()):
            continue
        topic = sentence.topic
        of = sentence.author if match.group()[:2].lower() == "my" else (sentence.about or topic)
        if of is None or of == span.name:
            of = topic
        if of is not None and of != span.name:
            yield sentence.claim(of, KIN[match.group(1)], span.name)
