"""Relations that sentences state, from the names in them and a table of phrases.

A phrase such as "directed by" is bound to the name right after it, and to the name right before it or,
failing that, to what the sentence is about: its first name, or the text's topic where the sentence
begins with a pronoun or with "The film".
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from hydramem.ingest.extraction.claim_sentence import ClaimSentence
from hydramem.ingest.extraction.findings import Claim
from hydramem.ingest.extraction.name_words import DEMONYM, FIRST_PERSON, FUNCTION_WORDS
from hydramem.ingest.extraction.relation_forms import kin, lives, moves
from hydramem.ingest.extraction.relation_patterns import (
    DATED,
    FINITE,
    LISTED,
    OF_THE_WORK,
    PATTERNS,
    TRIGGER,
    Pattern,
)
from hydramem.ingest.extraction.spans import Span

_OF_THINGS = frozenset({"replaced_by", "migrated_from", "migrated_to"})


_MOST_CLAIMS = 48
_LISTED_MOST = 8

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
_RELATIVE = re.compile(r",\s+(?:who|which)\s")
_SETTING = re.compile(r"\b(?:in|at|from|and|to)\s+(?:the\s+)?[\"“]?$")

_STANDS = re.compile(
    rf"(?:^|[\s,;(])(he|she|it|they|we|I|He|She|It|They|We|(?:[Tt]he|[Tt]his) [a-z]+)\s+"
    rf"(?:{_AUX}\s+)*(?:[a-z]+ed\s+and\s+)?$"
)

_ARTICLE = (
    r"(?:the|a|an|his|her|its|their|our|my|both|late|fellow|director|actors?|actress|writer|author|king|queen"
    r"|about|around)"
)

_AFTER = re.compile(rf"[\s:]*+(?:{_ARTICLE}\s++){{0,2}}[\"“«`]?\s*")

_AND_NEXT = re.compile(
    r"[\"”`]?(?:\s*+\([^()]*\))?(?:\s*+,\s*+(?:(?:and|or)\s++)?|\s++and\s++|\s*+&\s*+)(?:the\s++)?[\"“`]?\s*"
)

# "American electronic music producer Porter Robinson": the first name only describes.
_DESCRIBES = re.compile(r"(?:[ -][a-z][\w’'-]*+,?+){1,5} ?")


def claims_in(sentences: Iterable[ClaimSentence]) -> list[Claim]:
    """Return the relations that the sentences of a text state between their names."""
    claims: dict[tuple[str, str, str], Claim] = {}
    for sentence in sentences:
        moved = list(moves(sentence))
        triggered = (each for each in _triggered(sentence) if not moved or each.type not in _OF_THINGS)
        for claim in (*moved, *lives(sentence), *kin(sentence), *triggered):
            if claim.subject != claim.object:
                claims.setdefault((claim.subject, claim.type, claim.object), claim)
        if len(claims) >= _MOST_CLAIMS:
            break
    return list(claims.values())


def _triggered(sentence: ClaimSentence) -> Iterator[Claim]:
    text, names = sentence.text, sentence.names
    starts = [span.start for span in names]
    for match in TRIGGER.finditer(text, sentence.start, sentence.end):
        pattern = PATTERNS[(match.lastindex or 1) - 1]
        objects = _objects(text, names, starts, match.end(), pattern)
        if not objects or not sentence.states(match.start()):
            continue
        subject, direct = _subject(sentence, starts, match.start(), pattern)
        # "We replace X" says what goes, not who comes; "we migrated X from Y" is read as a whole above.
        if subject is None or (subject == sentence.author and pattern.type in _OF_THINGS):
            continue
        for other in objects:
            if _fits(pattern.type, other):
                yield sentence.claim(subject, pattern, other.name, direct=direct)


_AWARD = re.compile(
    r"Award|Prize|Medal|Cup|Championship|Order|Oscar|Grammy|Emmy|Trophy|Title|Fellowship|Scholarship"
)


def _fits(type: str, other: Span) -> bool:
    if type == "received":
        return _AWARD.search(other.name) is not None
    return (other.type == "date") == (type in DATED)


def _subject(
    sentence: ClaimSentence, starts: list[int], trigger: int, pattern: Pattern
) -> tuple[str | None, bool]:
    index = bisect_right(starts, trigger) - 1
    if index >= 0:
        before = sentence.names[index]
        gap = sentence.text[before.end : trigger] if trigger - before.end < 160 else "."
        if before.type != "date" and before.end <= trigger and _BEFORE.fullmatch(gap):
            if _RELATIVE.search(gap) and not (pattern.type in OF_THE_WORK and _is_agent(sentence, before)):
                return before.name, True
            joined = _JOINS.search(gap) is not None
            aside = "," in gap and (
                pattern.type in OF_THE_WORK
                or (pattern.type in FINITE and _WHO.search(gap) is None)
                or _is_setting(sentence, before)
            )
            if not joined and not aside:
                return before.name, True
            if sentence.about is not None:
                return sentence.about, False
    stands, meant, bare = _stand_in(sentence, trigger)
    if stands:
        return meant, meant is not None and bare
    return sentence.about, False


def _is_agent(sentence: ClaimSentence, before: Span) -> bool:
    """Say whether a name is the one by whom a work is: "by Ada Hale, which stars" is about the work."""
    return sentence.text[max(sentence.start, before.start - 8) : before.start].rstrip().endswith(" by")


def _is_setting(sentence: ClaimSentence, before: Span) -> bool:
    """Say whether a name only says where: "born in Paris, the son of" is not about Paris."""
    lead = sentence.text[max(sentence.start, before.start - 14) : before.start]
    return _SETTING.search(lead) is not None or (" " not in before.name and lead.endswith("of "))


def _stand_in(sentence: ClaimSentence, trigger: int) -> tuple[bool, str | None, bool]:
    """Say whether "he", "it", "I" or "the film" is right before a phrase.

    Returns:
        Whether one is, what it refers to, and whether it is a pronoun.
    """
    match = _STANDS.search(sentence.text, max(sentence.start, trigger - 60), trigger)
    if match is None:
        return False, None, False
    word = match.group(1).casefold()
    return True, sentence.author if word in FIRST_PERSON else sentence.topic, " " not in word


def _objects(text: str, names: Sequence[Span], starts: list[int], after: int, pattern: Pattern) -> list[Span]:
    index = bisect_left(starts, after)
    if index >= len(names) or names[index].start - after > 40:
        return []
    if not _AFTER.fullmatch(text[after : names[index].start]):
        return []
    index = _described(text, names, index, person=pattern.type in OF_THE_WORK)
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


def _described(text: str, names: Sequence[Span], index: int, *, person: bool) -> int:
    """Step over a leading adjective to the name it describes; -1 where it describes no name."""
    span = names[index]
    if not person and (" " in span.name or not DEMONYM.search(span.name)):
        return index
    if index + 1 < len(names):
        gap = text[span.end : names[index + 1].start]
        if _DESCRIBES.fullmatch(gap) and FUNCTION_WORDS.isdisjoint(gap.replace(",", " ").split()):
            return index + 1
    if " " in span.name or not DEMONYM.search(span.name):
        return index
    return -1 if re.match(r" [a-z]", text[span.end : span.end + 2]) else index
