"""Relations that sentences state, from the names in them and a table of phrases.

A phrase such as "directed by" is bound to the name right after it, and to the name right before it or,
failing that, to what the sentence is about: its first name, or the text's topic where the sentence
begins with a pronoun or with "The film".
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hydramem.ingest.extraction.findings import Claim
from hydramem.ingest.extraction.name_spans import Span
from hydramem.ingest.extraction.name_words import FIRST_PERSON, NOUN_TYPES, PRONOUNS
from hydramem.ingest.extraction.relation_patterns import (
    DATED,
    FINITE,
    KIN,
    LISTED,
    OF_THE_WORK,
    PATTERNS,
    TRIGGER,
    Pattern,
)
from hydramem.text.sentences import sentence_spans

_LONGEST_QUOTE = 400
_MOST_CLAIMS = 48
_LISTED_MOST = 8

# The subject's distance costs confidence: it was found by rule, not by adjacency.
_INDIRECT = 0.15
_JOINED = 0.05
_JOINS = re.compile(r"\band\b|&")

_AUX = (
    r"(?:is|was|are|were|be|been|being|has|have|had|will|would|also|later|then|first|who|which|that|now|currently"
    r"|both|originally|formerly|still|recently|previously|just|only|eventually|an?|the|his|her|its|and|being|to)"
)

_BEFORE = re.compile(
    rf"[\"”’']?(?:\s*\([^()]*\))?[,\s]*(?:{_AUX}\s+)*"
    r"(?:(?:an?|the|his|her|their|its|our)\s+(?:[a-z][a-z-]*\s+){0,3})?(?:and\s+)?"
)

_WHO = re.compile(r"\b(?:who|which|that)\b")
_SETTING = re.compile(r"\b(?:in|at|from|and|to)\s+(?:the\s+)?[\"“]?$")

_STANDS = re.compile(
    rf"(?:^|[\s,;(])(he|she|it|they|we|I|He|She|It|They|We|(?:[Tt]he|[Tt]his) [a-z]+)\s+"
    rf"(?:{_AUX}\s+)*(?:[a-z]+ed\s+and\s+)?$"
)

_ARTICLE = (
    r"(?:the|a|an|his|her|its|their|our|my|both|late|fellow|director|actors?|actress|writer|author|king|queen"
    r"|about|around)"
)

_AFTER = re.compile(rf"[\s:]*(?:{_ARTICLE}\s+){{0,2}}[\"“«`]?\s*$")

_AND_NEXT = re.compile(
    r"[\"”`]?(?:\s*\([^()]*\))?(?:\s*,\s*(?:and\s+|or\s+)?|\s+and\s+|\s*&\s*)(?:the\s+)?[\"“`]?\s*$"
)

# "American electronic music producer Porter Robinson": the first name only describes.
_DESCRIBES = re.compile(r"(?:[ -][a-z][\w’'-]*,?){1,5} ?$")
_DEMONYM = re.compile(r"(?:an|ish|ese|ean|ch|ian|ic|Dutch|Greek|Welsh|Swiss|Thai|Czech)$")
_OPENS = re.compile(r"[\s\"“'(*>-]*(\w+)(?:[’']\w+)?(?:\s+([a-z]\w*))?")
_LIFE = re.compile(r"\s*\(([^()]{0,120})\)")

_MOVED = re.compile(
    r"\b(moved|migrated|switched|ported|converted|replaced?|replacing)\s+(?:the |our |its )?[`\"“]?$"
)

_IS = re.compile(r"[\s,]*(?:is|was|were|are)\b")

_KIND = re.compile(
    r"\s*(?:is|was|are|were|remains)\s+(?:an?|the|one of the)\s+((?:[\w’'/-]+\s+){0,6}?)("
    + "|".join(sorted(NOUN_TYPES, key=len, reverse=True))
    + r")\b"
)

_IS_A = re.compile(
    r"\s*(?:is|are)\s+(?:an?|our|the)\s+([a-z][a-z-]+(?: [a-z][a-z-]+){1,2})"
    r"(?=[.,;:]|\s+(?:that|which|for|used|with|in|by)\b|\s*$)"
)

_KIN = re.compile(rf"\b(?:[Hh]is|[Hh]er|[Tt]heir|[Mm]y)(?: \w+)? ({'|'.join(KIN)})(?: (?:is|was)|,)? $")
_OF_THINGS = frozenset({"replaced_by", "migrated_from", "migrated_to"})


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence with its names and what it is about."""

    text: str
    start: int
    end: int
    names: Sequence[Span]
    topic: str | None
    author: str | None
    about: str | None

    @property
    def quote(self) -> str:
        return " ".join(self.text[self.start : self.end].split())[:_LONGEST_QUOTE]


def _about(
    text: str, start: int, end: int, names: Sequence[Span], topic: str | None, author: str | None
) -> str | None:
    opening = _OPENS.match(text, start, end)
    first = next((span for span in names if span.type != "date"), None)
    if opening is not None:
        word = opening.group(1).casefold()
        if word in FIRST_PERSON:
            return author
        if word in PRONOUNS or (word == "the" and _is_noun(opening, first)):
            return topic
    return first.name if first is not None else None


def _is_noun(opening: re.Match[str], first: Span | None) -> bool:
    """Say whether "The film ..." opens the sentence, rather than "The Beatles" or "The billing service"."""
    return opening.group(2) is not None and not (first is not None and first.start <= opening.start(2))


def claims_in(text: str, spans: Sequence[Span], *, topic: str | None, author: str | None) -> list[Claim]:
    """Return the relations that a text states between its names.

    Args:
        text: The chunk's text.
        spans: Its names, in order.
        topic: What the text is about; a sentence that starts with a pronoun says something of it.
        author: Who says the text; "I" is this.
    """
    claims: dict[tuple[str, str, str], Claim] = {}
    if not spans:
        return []
    starts = [span.start for span in spans]
    for start, end in sentence_spans(text):
        names = spans[bisect_left(starts, start) : bisect_left(starts, end)]
        if not names and topic is None and author is None:
            continue
        about = _about(text, start, end, names, topic, author)
        sentence = _Sentence(text, start, end, names, topic, author, about)
        moves = list(_moves(sentence))
        triggered = (each for each in _triggered(sentence) if not moves or each.type not in _OF_THINGS)
        for claim in (*moves, *_lives(sentence), *_kin(sentence), *triggered):
            if claim.subject != claim.object:
                claims.setdefault((claim.subject, claim.type, claim.object), claim)
        if len(claims) >= _MOST_CLAIMS:
            break
    return list(claims.values())


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
            if match is None or match.group(1).endswith("ed") or " in " in match.group(1):
                continue
            if NOUN_TYPES.get(match.group(1).split()[-1]) not in ("person", "work", "place"):
                yield span.name, match.group(1)


def _moves(sentence: _Sentence) -> Iterator[Claim]:
    """Read "moved billing from PostgreSQL to MySQL" and "replaced PostgreSQL with MySQL"."""
    for index, span in enumerate(sentence.names[:-1]):
        lead = _MOVED.search(sentence.text, max(sentence.start, span.start - 24), span.start)
        if lead is None:
            continue
        following = sentence.names[index + 1 : index + 3]
        gaps = [
            sentence.text[before.end : after.start].strip() for before, after in pairwise((span, *following))
        ]
        if lead.group(1).startswith("replac"):
            if gaps[0] in ("with", "by"):
                yield _claim(span.name, Pattern("replaced_by", 0.85, False), following[0].name, sentence)
        elif gaps == ["from", "to"]:
            for type, other in zip(("migrated_from", "migrated_to"), following, strict=True):
                yield _claim(span.name, Pattern(type, 0.85, False), other.name, sentence)
        elif gaps[0] == "to":
            yield _claim(span.name, Pattern("migrated_to", 0.75, False), following[0].name, sentence)


def _lives(sentence: _Sentence) -> Iterator[Claim]:
    """Read "Ada (born 10 December 1815)" and "Ada (1815 - 1852)"."""
    dates = [span for span in sentence.names if span.type == "date"]
    if not dates:
        return
    for span in sentence.names:
        aside = _LIFE.match(sentence.text, span.end) if span.type != "date" else None
        if aside is None:
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
                yield _claim(span.name, Pattern(type, 0.8, False), date.name, sentence)
        elif len(inside) == 1 and words.lstrip().startswith(("died", "d.", "–", "-")):
            yield _claim(span.name, Pattern("died_on", 0.85, False), inside[0].name, sentence)


def _kin(sentence: _Sentence) -> Iterator[Claim]:
    """Read "His wife Ana" and "My manager is Ana"."""
    for span in sentence.names:
        match = _KIN.search(sentence.text, max(sentence.start, span.start - 40), span.start)
        if match is None or span.type == "date":
            continue
        topic = sentence.topic
        of = sentence.author if match.group()[:2].lower() == "my" else (sentence.about or topic)
        if of is None or of == span.name:
            of = topic
        if of is not None and of != span.name:
            yield _claim(of, KIN[match.group(1)], span.name, sentence)


def _triggered(sentence: _Sentence) -> Iterator[Claim]:
    text, names = sentence.text, sentence.names
    starts = [span.start for span in names]
    for match in TRIGGER.finditer(text, sentence.start, sentence.end):
        pattern = PATTERNS[(match.lastindex or 1) - 1]
        objects = _objects(text, names, starts, match.end(), pattern)
        if not objects:
            continue
        subject, cost = _subject(sentence, starts, match.start(), pattern)
        # "We replace X" says what goes, not who comes; "we migrated X from Y" is read as a whole above.
        if subject is None or (subject == sentence.author and pattern.type in _OF_THINGS):
            continue
        for other in objects:
            if _fits(pattern.type, other):
                yield _claim(subject, pattern, other.name, sentence, cost)


def _claim(subject: str, pattern: Pattern, other: str, sentence: _Sentence, cost: float = 0.0) -> Claim:
    first, second = (other, subject) if pattern.inverse else (subject, other)
    confidence = round(pattern.confidence - cost, 2)
    return Claim(subject=first, type=pattern.type, object=second, confidence=confidence, quote=sentence.quote)


_AWARD = re.compile(
    r"Award|Prize|Medal|Cup|Championship|Order|Oscar|Grammy|Emmy|Trophy|Title|Fellowship|Scholarship"
)


def _fits(type: str, other: Span) -> bool:
    if type == "received":
        return _AWARD.search(other.name) is not None
    return (other.type == "date") == (type in DATED)


def _subject(
    sentence: _Sentence, starts: list[int], trigger: int, pattern: Pattern
) -> tuple[str | None, float]:
    index = bisect_right(starts, trigger) - 1
    if index >= 0:
        before = sentence.names[index]
        gap = sentence.text[before.end : trigger] if trigger - before.end < 160 else "."
        if before.type != "date" and before.end <= trigger and _BEFORE.fullmatch(gap):
            joined = _JOINS.search(gap) is not None
            aside = "," in gap and (
                pattern.type in OF_THE_WORK
                or (pattern.type in FINITE and _WHO.search(gap) is None)
                or _is_setting(sentence, before)
            )
            if not joined and not aside:
                return before.name, 0.0
            if sentence.about is not None:
                return sentence.about, _JOINED
    stands, meant = _stand_in(sentence, trigger)
    return (meant, _INDIRECT) if stands else (sentence.about, _INDIRECT)


def _is_setting(sentence: _Sentence, before: Span) -> bool:
    """Say whether a name only says where: "born in Paris, the son of" is not about Paris."""
    lead = sentence.text[max(sentence.start, before.start - 14) : before.start]
    return _SETTING.search(lead) is not None or (" " not in before.name and lead.endswith("of "))


def _stand_in(sentence: _Sentence, trigger: int) -> tuple[bool, str | None]:
    """Say whether "he", "it", "I" or "the film" is right before a phrase, and what it refers to."""
    match = _STANDS.search(sentence.text, max(sentence.start, trigger - 60), trigger)
    if match is None:
        return False, None
    said_by_author = match.group(1).casefold() in FIRST_PERSON
    return True, sentence.author if said_by_author else sentence.topic


def _objects(text: str, names: Sequence[Span], starts: list[int], after: int, pattern: Pattern) -> list[Span]:
    index = bisect_left(starts, after)
    if index >= len(names) or names[index].start - after > 40:
        return []
    if not _AFTER.fullmatch(text[after : names[index].start]):
        return []
    index = _described(text, names, index)
    if index < 0:
        return []
    found = [names[index]]
    while pattern.type in LISTED and index + 1 < len(names) and len(found) < _LISTED_MOST:
        gap = text[names[index].end : names[index + 1].start]
        if len(gap) > 80 or not _AND_NEXT.fullmatch(gap):
            break
        index += 1
        found.append(names[index])
    return found


def _described(text: str, names: Sequence[Span], index: int) -> int:
    """Step over a leading adjective to the name it describes; -1 where it describes no name."""
    span = names[index]
    if " " in span.name or not _DEMONYM.search(span.name):
        return index
    if index + 1 < len(names) and _DESCRIBES.fullmatch(text[span.end : names[index + 1].start]):
        return index + 1
    return -1 if re.match(r" [a-z]", text[span.end : span.end + 2]) else index
