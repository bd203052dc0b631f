"""Extraction without a model: names and relations of the chunks of one document, by rules."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hydramem.core.config import Parser
from hydramem.core.row_types import ABOUT
from hydramem.ingest.extraction.claim_confidence import scored, united
from hydramem.ingest.extraction.claim_sentence import claim_sentences
from hydramem.ingest.extraction.findings import Claim, Found, Name
from hydramem.ingest.extraction.name_spans import (
    confirm,
    names_something,
    other_names,
    scan,
    seen_words,
    without_disambiguation,
)
from hydramem.ingest.extraction.name_words import FUNCTION_WORDS, NOT_A_KIND
from hydramem.ingest.extraction.parse.model import is_used
from hydramem.ingest.extraction.parse.parsed_claims import parsed_claims
from hydramem.ingest.extraction.relation_claims import claims_in
from hydramem.ingest.extraction.relation_forms import is_a_in, kinds_in
from hydramem.ingest.extraction.relation_patterns import END_TYPES
from hydramem.ingest.extraction.spans import Span

_NO_FIRST_NAMES = FUNCTION_WORDS | NOT_A_KIND
_CODE = re.compile(r"[=<{|\\]|::|->|\$ ")
"""What stands in code and tables, and in no sentence that states a relation."""
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[a-z][.)])\s+(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text to extract from, with its context.

    Attributes:
        headings: Headings above it, outermost first; the document's title is the first.
        author: Who says it.
    """

    text: str
    headings: tuple[str, ...] = ()
    author: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassageSource:
    """What passages are extracted from: a document or memories, its title, and whether they are parsed."""

    title: str | None
    document: bool
    parse: bool


def extract(
    passages: Sequence[Passage], *, title: str | None = None, document: bool = False, parser: Parser = "none"
) -> list[Found]:
    """Extract names and relations from the passages of one document, or from memories.

    Args:
        passages: Its passages, in order; what one proves to be a name is one in all.
        title: What the document is about, where it has a title that names something.
        document: Whether they are a document's: there only relations are kept that are mostly right.
        parser: `auto` or `spacy` to parse sentences as well, where the extra `nlp` is installed.

    Raises:
        ConfigError: The parser is asked for and is not installed.
    """
    origin = _PassageSource(title=title, document=document, parse=is_used(parser))
    scanned = [scan(passage.text) for passage in passages]
    seen = set(without_disambiguation(title).replace(",", " ").split()) if title else set()
    for spans in scanned:
        seen |= seen_words(spans)
    seen.update(passage.author for passage in passages if passage.author)
    confirmed = [
        _with_title(passage.text, confirm(spans, seen), title)
        for passage, spans in zip(passages, scanned, strict=True)
    ]
    short = _short_forms(confirmed, title)
    return [
        _found(passage, _lengthen(spans, short), origin)
        for passage, spans in zip(passages, confirmed, strict=True)
    ]


def _with_title(text: str, spans: list[Span], title: str | None) -> list[Span]:
    """Take the title for one name where the text writes it out, whatever its words look like."""
    plain = without_disambiguation(title) if title else ""
    if title is None or len(plain) < 3 or plain not in text:
        return spans
    places = [Span(start, start + len(plain), title, "thing") for start in _whole_words(plain, text)]
    kept = [
        span
        for span in spans
        if not any(place.start < span.end and span.start < place.end for place in places)
    ]
    return sorted((*kept, *places), key=lambda span: span.start)


def _whole_words(words: str, text: str) -> Iterator[int]:
    """Yield where a text has some words, not as part of longer ones; a pattern of each title takes longer."""
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        inside = _is_of_word(text[start - 1 : start]) or _is_of_word(text[end : end + 1])
        if not inside:
            yield start
        start = text.find(words, start + 1 if inside else end)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _short_forms(scanned: Sequence[Sequence[Span]], title: str | None) -> dict[str, str]:
    """Map a surname to the one full name in the document that it ends; the title's words come first."""
    ends: dict[str, set[str]] = {}
    for spans in scanned:
        for span in spans:
            first, _, last = span.name.rpartition(" ")
            if first and span.type == "thing" and " of " not in span.name and _is_surname(first, last):
                ends.setdefault(last, set()).add(span.name)
    short = {last: next(iter(names)) for last, names in ends.items() if len(names) == 1}
    if title:
        plain = without_disambiguation(title).partition(",")[0]
        words = plain.split()
        if 1 < len(words) <= 4 and all(word[:1].isupper() for word in words):
            short |= {
                word: title for word in (words[0], words[-1]) if len(word) > 2 and len(ends.get(word, ())) < 2
            }
        short |= dict.fromkeys((plain, *other_names(title)), title)
    return short


def _is_surname(first: str, last: str) -> bool:
    """Say whether a last word alone may mean a whole name: "Hale" may, "HTTP" not."""
    plain = last[:1].isupper() and not any(letter.isupper() or letter.isdigit() for letter in last[1:])
    opening = first.partition(" ")[0].casefold()
    return plain and opening not in _NO_FIRST_NAMES and not opening.endswith("ing")


def _lengthen(spans: Sequence[Span], short: dict[str, str]) -> list[Span]:
    return [
        replace(span, name=short[span.name]) if span.type == "thing" and span.name in short else span
        for span in spans
    ]


def _found(passage: Passage, spans: list[Span], origin: _PassageSource) -> Found:
    title = origin.title
    topic = title or (passage.headings[-1] if passage.headings else None)
    sentences = list(claim_sentences(passage.text, spans, topic=topic, author=passage.author))
    if origin.document:
        sentences = [each for each in sentences if not _CODE.search(each.text, each.start, each.end)]
    claims = claims_in(sentences)
    if origin.parse:
        claims = united(claims, parsed_claims(sentences, all_verbs=not origin.document))
    kinds = [(subject, kind) for subject, kind in is_a_in(passage.text, spans) if subject != kind]
    claims.extend(
        Claim(
            subject=subject,
            type="is_a",
            object=kind,
            confidence=0.5,
            quote=_clause(passage.text, kind),
            how="rules",
        )
        for subject, kind in kinds
    )
    claims = scored(claims, document=origin.document)
    names = _names(passage, spans, title)
    for _, kind in kinds:
        names.setdefault(kind, Name(name=kind, type="concept"))
    for name, type in kinds_in(passage.text, spans):
        _type(names, name, type)
    for claim in claims:
        for name, type in zip(
            (claim.subject, claim.object), END_TYPES.get(claim.type, ("", "")), strict=True
        ):
            _type(names, name, type)
    # A claim can be about the topic without its passage naming it; then the passage mentions it all the same.
    for claim in claims:
        for name in (claim.subject, claim.object):
            if name not in names:
                names[name] = _named(name)
    return Found(names=tuple(names.values()), claims=tuple(claims))


def _clause(text: str, kind: str) -> str:
    at = text.find(kind)
    return " ".join(text[max(0, text.rfind(".", 0, at) + 1) : at + len(kind)].split())[-400:]


def _names(passage: Passage, spans: Sequence[Span], title: str | None) -> dict[str, Name]:
    names: dict[str, Name] = {}
    if passage.author:
        names[passage.author] = Name(name=passage.author, type="person")
    topic = title or ""
    if title:
        names[title] = _named(title)
    for heading in passage.headings:
        name = _NUMBERING.sub("", heading)
        if name != title and names_something(name):
            names.setdefault(name, _named(name))
            topic = name
    for about in {title or "", topic} & names.keys():
        names[about] = replace(names[about], count=names[about].count + ABOUT)
    for span in spans:
        known = names.get(span.name)
        if known is not None:
            names[span.name] = replace(known, count=known.count + 1)
        elif span.type == "date":
            written = (span.written,) if span.written != span.name else ()
            names[span.name] = Name(name=span.name, type="date", aliases=written)
        else:
            names[span.name] = Name(
                name=span.name, type=span.type, aliases=other_names(span.name), lasting=False
            )
        for inner in span.within:
            if inner != span.name:
                names.setdefault(inner, _named(inner))
    for acronym, full in _acronyms(passage.text, spans):
        if full in names:
            names[full] = replace(names[full], aliases=(*names[full].aliases, acronym), lasting=True)
            names.pop(acronym, None)
    return names


def _named(name: str) -> Name:
    return Name(name=name, aliases=other_names(name))


def _type(names: dict[str, Name], name: str, type: str) -> None:
    known = names.get(name)
    if type and known is not None and known.type == "thing":
        names[name] = replace(known, type=type)


def _acronyms(text: str, spans: Sequence[Span]) -> list[tuple[str, str]]:
    """Find "World Health Organization (WHO)": the acronym is spelled by the capitals before it."""
    found = []
    for full, acronym in pairwise(spans):
        between = text[full.end : acronym.start].strip()
        if between == "(" and acronym.name.isupper() and " " not in acronym.name and " " in full.name:
            capitals = "".join(word[0] for word in full.name.split() if word[0].isupper())
            if capitals == acronym.name:
                found.append((acronym.name, full.name))
    return found
