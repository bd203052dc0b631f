"""Names in running text, in any script: one regular expression, then rules about where a phrase stands."""

import re
from dataclasses import replace
from functools import lru_cache

from hydramem.ingest.extraction.name_words import (
    COMMON_STARTS,
    EMPHASISED,
    FINITE_VERBS,
    FUNCTION_WORDS,
    FURNITURE,
    GENERAL_HEADINGS,
    HONORIFICS,
    NOT_A_KIND,
    NOUN_TYPES,
    ORDERS,
    PARTICLES,
    RANKS,
    THINGS,
    UPPER,
)
from hydramem.ingest.extraction.spans import MONTH, Span, date, han, hangul, kana
from hydramem.ingest.extraction.unknown_words import with_unknown_words
from hydramem.text.normalize import entity_key

_LONGEST_NAME = 100
_LONGEST_ARTICLE = 4
_MOST_WORDS = 9
_MOST_INITIALS = 16
_MOST_NAMES = 96
_DATE = rf"""
    (?:\d{{1,2}}(?:st|nd|rd|th)?[ ](?:of[ ])?(?:{MONTH}),?[ ]\d{{4}}
    |(?:{MONTH})[ -]\d{{1,2}}(?:st|nd|rd|th)?(?:,[ ]?|-|[ ])\d{{4}}
    |(?:{MONTH}),?[ ]\d{{4}}
    |\d{{4}}-\d{{2}}-\d{{2}}
    |(?:1[0-9]|20)\d{{2}}(?![\w-]|[.,]\d))"""

_WORD = rf"""
    (?:(?:{UPPER}\.){{1,{_MOST_INITIALS}}}(?!\w)
    |(?:Mr|Mrs|Ms|Dr|St|Mt|Prof|Jr|Sr)\.(?=[ ])
    |(?:(?:[dl]|dell)['’]|(?:al|el)-)?{UPPER}\w*
     (?:['’](?!s\b)\w+|-\w+|-[ ](?={UPPER})\w+|&{UPPER}\w*|\.(?=js\b|py\b|NET\b|io\b)\w+)*(?:\+\+|\#)?)"""

_PHRASE = rf"{_WORD}(?:[ ]{{1,2}}(?:(?:{PARTICLES})[ ]){{0,3}}{_WORD}|[ ]\d{{1,3}}(?![\w%]|[.,:]\d))*"

_SCAN = re.compile(
    rf"""
    (?<![\w.])(?P<date>{_DATE})
    |["“«„「『](?P<quoted>[^"”»“」』\n]{{2,80}})["”»“」』]
    |`(?P<ticked>[^`\n]{{2,60}})`
    |(?<![\w/.])
     (?P<code>[A-Za-z]\w*(?:\.[A-Za-z_]\w+)+(?:\(\))?|[A-Za-z]+_\w+(?:\(\))?|[a-z]+[A-Z]\w*|[a-z]\w*\(\))
     (?![\w/@])
    |(?<!\w)(?P<phrase>{_PHRASE})
    |(?<!\w)(?P<term>(?:[a-z][\w-]{{2,{_LONGEST_NAME}}}+[ ]){{1,2}}(?:{THINGS}))(?!\w)
    |(?P<kana>[\u30a1-\u30fa\u30fc・]{{2,}})
    |(?P<han>[\u4e00-\u9fff々]{{2,24}})
    |(?<!\w)(?P<hangul>[\uac00-\ud7a3]{{2,12}})
    """,
    re.VERBOSE,
)

_LEADING = re.compile(r"(?<![\s\"'“‘«„(\[*_>~-])[\s\"'“‘«„(\[*_>~-]*+$")
_DISAMBIGUATION = re.compile(r"(?<!\s)\s*+\([^()]{1,60}\)\s*$")
_ARTICLE = re.compile(r"(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_RANK = re.compile(rf"(?:{RANKS})\b.* of ")
_RANK_GAP = re.compile(r",[ ](?:\d{1,2}(?:st|nd|rd|th)[ ]|the[ ])?")
_QUARTER = re.compile(r"[QH][1-4]")


def scan(text: str) -> list[Span]:
    """Find what a text names, in order; a phrase that only starts a sentence comes as tentative."""
    spans: list[Span] = []
    for match in _SCAN.finditer(text):
        _KINDS[str(match.lastgroup)](text, match, spans)
        if len(spans) >= _MOST_NAMES:
            break
    return with_unknown_words(text, _with_ranks(text, spans))[:_MOST_NAMES]


def _with_ranks(text: str, spans: list[Span]) -> list[Span]:
    """Join "Arnulf I" and "Count of Flanders" into one name that keeps both."""
    joined: list[Span] = []
    for span in spans:
        before = joined[-1] if joined else None
        if before is not None and _belongs(text, before, span):
            name = " ".join(text[before.start : span.end].split())
            within = (*(before.within or (before.name,)), span.name)
            joined[-1] = Span(before.start, span.end, name, "thing", within=within)
        else:
            joined.append(span)
    return joined


def _belongs(text: str, before: Span, rank: Span) -> bool:
    return (
        rank.start - before.end < 8
        and before.type == rank.type == "thing"
        and _RANK.match(rank.name) is not None
        and _RANK_GAP.fullmatch(text, before.end, rank.start) is not None
    )


def confirm(spans: list[Span], seen: set[str]) -> list[Span]:
    """Keep tentative names only where the same word was seen as a name elsewhere."""
    return [span for span in spans if not span.tentative or span.name in seen]


def seen_words(spans: list[Span]) -> set[str]:
    """Return the words that these names prove to be names: themselves, and the words of longer ones."""
    words: set[str] = set()
    for span in spans:
        if not span.tentative and span.type in ("thing", "person"):
            words.add(span.name)
            words.update(word for word in span.name.split() if len(word) > 2)
    return words


def names_something(heading: str) -> bool:
    """Say whether a heading is a name: of one word, or of words that are all written as names are."""
    heading = without_disambiguation(heading)
    words = heading.split()
    folded = heading.casefold()
    if not words or len(words) > _MOST_WORDS or folded in GENERAL_HEADINGS or folded in FURNITURE:
        return False
    if heading[-1] in "?!:" or words[0].casefold() in ORDERS or _COMMON_ENDING.search(words[0]):
        return False
    if len(words) == 1:
        return True
    spans = scan(_ARTICLE.sub("", heading))
    return len(spans) == 1 and len(spans[0].name) >= len(heading) - _LONGEST_ARTICLE


def other_names(name: str) -> tuple[str, ...]:
    """Return the other names of a written name: without its rank, article or parenthesis."""
    others = []
    bare = _DISAMBIGUATION.sub("", name)
    if bare != name and len(bare) > 1:
        others.append(bare)
    plain = _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare
    words = plain.split()
    if len(words) > 2 and words[0].casefold() in HONORIFICS and words[1] != "of":
        plain = " ".join(words[1:])
    if plain != bare:
        others.append(plain)
    return tuple(others)


def without_disambiguation(name: str) -> str:
    """Return a title without the parenthesis that only tells it from others: `Gravity (film)`."""
    return _DISAMBIGUATION.sub("", name) or name


# A capitalised word that a verb follows is a name even where it only starts a sentence: "Ada moved".
_ACTS = re.compile(
    r"[ ](?:is|was|has|had|will|would|can|does|did|and|says|said|wants|likes|loves|prefers|lives|leads|runs"
    r"|owns|works|uses|needs|depends|manages|maintains|wrote|made|built|took|left|led|went|grew|became|began|met|won|died"
    r"|told|also|now|then|[a-z]{2,}ed)\b|[’']s\b(?! (?:not|been|got)\b)|,? (?:who|whose|which)\b"
)

_NEXT_WORD = re.compile(r" ([a-z-]+)")
_NOUNS = frozenset(NOUN_TYPES) | ORDERS | frozenset(THINGS.split("|"))
_COMMON_ENDING = re.compile(r"(?:ing|ly|tion|tions|ness|ment|ments|ers|ies|ists)$")


def _acts(text: str, end: int, word: str) -> bool:
    """Say whether a word that opens a sentence is a name by what follows: a verb, "'s", or "who"."""
    folded = word.casefold()
    if folded in COMMON_STARTS or _COMMON_ENDING.search(word) is not None:
        return False
    following = _NEXT_WORD.match(text, end)
    verb = following is not None and following.group(1) in FINITE_VERBS
    return _ACTS.match(text, end) is not None or (verb and folded not in _NOUNS)


def _starts_sentence(text: str, start: int) -> bool:
    before = _LEADING.sub("", text[max(0, start - 12) : start])
    return (
        (not before and start <= 12)
        or before[-1:] in ".!?:;…。！？\n|#•"
        or "\n" in text[max(0, start - 3) : start]
    )


def _phrase(text: str, match: re.Match[str], spans: list[Span]) -> None:
    phrase, start = match.group("phrase"), match.start("phrase")
    if len(phrase) > _LONGEST_NAME:
        return
    words = phrase.split(" ")
    if len(words) > _MOST_WORDS:
        return
    # "Louis I. He was": an initial's stop that ended the sentence.
    for index in range(1, len(words)):
        if words[index - 1].endswith(".") and _is_function(words[index]):
            words = words[:index]
            phrase = " ".join(words).rstrip(".")
            break
    dropped = 0
    if len(words) > 1 and words[0].casefold() in ORDERS and _is_order(text, match):
        start += len(words[0]) + 1
        dropped = 1
    while dropped < len(words) and _is_function(words[dropped]):
        start += len(words[dropped]) + 1
        dropped += 1
    name = phrase[start - match.start("phrase") :].strip(" -").replace("- ", "-")
    if name.casefold() in FURNITURE or _QUARTER.fullmatch(name):
        return
    if len(name) < 2 and not _is_single_letter_name(text, start, name):
        return
    if not name:
        return
    alone = dropped == 0 and len(words) == 1 and not _looks_technical(name)
    tentative = alone and _starts_sentence(text, start) and not _acts(text, match.end("phrase"), name)
    spans.append(Span(start, match.end("phrase"), name, "thing", tentative))


def _is_order(text: str, phrase: re.Match[str]) -> bool:
    """Say whether a phrase is "Install Docker" rather than a name such as "Open Telemetry"."""
    return _starts_sentence(text, phrase.start("phrase")) and _ACTS.match(text, phrase.end("phrase")) is None


def _is_function(word: str) -> bool:
    folded = word.casefold().rstrip(".")
    if len(word) > 1 and word.isupper():
        return folded in EMPHASISED  # WHO and IT are names
    return folded in FUNCTION_WORDS or folded.partition("'")[0].partition("’")[0] in FUNCTION_WORDS


def _is_single_letter_name(text: str, start: int, name: str) -> bool:
    # The languages C and R are names; a stray capital is not.
    return name in ("C", "R") and start > 0 and text[start - 1] == " " and text[start + 1 : start + 2] != "."


def _looks_technical(name: str) -> bool:
    return any(character.isupper() or character.isdigit() or character in "+#" for character in name[1:])


def _quoted(text: str, match: re.Match[str], spans: list[Span]) -> None:
    inner = match.group("quoted")
    name = inner.strip(" ,.;:")
    if not name or len(name.split()) > _MOST_WORDS:
        return _inside(text, match.start("quoted"), inner, spans)
    if name[0].isupper() and not _is_function(name) and name[-1] not in "?!":
        spans.append(Span(match.start("quoted"), match.end(), name, "thing"))
        return None
    return _inside(text, match.start("quoted"), inner, spans)


def _inside(text: str, offset: int, inner: str, spans: list[Span]) -> None:
    spans.extend(
        replace(span, start=span.start + offset, end=span.end + offset)
        for span in scan(inner.replace('"', " "))
    )


def _ticked(text: str, match: re.Match[str], spans: list[Span]) -> None:
    name = match.group("ticked").strip()
    # `""` and `256` are values, not things.
    if any(map(str.isalpha, name)) and len(name.split()) <= 3:
        spans.append(Span(match.start(), match.end(), name, "code"))


def _code(text: str, match: re.Match[str], spans: list[Span]) -> None:
    name = match.group("code")
    if name.casefold() not in ("e.g", "i.e", "a.m", "p.m"):
        spans.append(Span(match.start("code"), match.end("code"), name, "code"))


def _term(text: str, match: re.Match[str], spans: list[Span]) -> None:
    start, words = match.start("term"), match.group("term").split(" ")
    while len(words) > 1 and (_is_function(words[0]) or words[0] in NOT_A_KIND):
        start += len(words[0]) + 1
        words = words[1:]
    # Keep one word before the head: "billing service", not "moved billing service".
    while len(words) > 2:
        start += len(words[0]) + 1
        words = words[1:]
    if len(words) == 2 and not _is_function(words[0]) and words[0] not in NOT_A_KIND:
        spans.append(Span(start, match.end("term"), " ".join(words), "thing"))


_KINDS = {
    "date": date,
    "quoted": _quoted,
    "ticked": _ticked,
    "code": _code,
    "phrase": _phrase,
    "term": _term,
    "kana": kana,
    "han": han,
    "hangul": hangul,
}


@lru_cache(maxsize=65536)
def key_of(name: str) -> str:
    """Return a name's key; remembered, since names repeat."""
    return entity_key(name)
