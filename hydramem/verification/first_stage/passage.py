"""Parse a passage for the claims that depend on it: its words, sentences, names and topic."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.core.row_types import Chunk, Entity
from hydramem.ingest.extraction.name_spans import scan
from hydramem.ingest.extraction.name_words import FUNCTION_WORDS, NOUN_TYPES
from hydramem.ingest.extraction.relation_patterns import PATTERNS, TRIGGER
from hydramem.ingest.extraction.spans import Span
from hydramem.text.relation_words import stem
from hydramem.text.sentences import sentence_spans

Place = tuple[int, int]
"""Where something starts and ends in a text."""
_LONGEST = 20_000
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|†")
_COPULA = frozenset(["is", "was", "are", "were"])
_ARTICLE = frozenset(["a", "an", "the", "one"])
_DEMONYM = re.compile(r"[A-Z]\w+(?:an|ish|ese|ean|ch|ian|ic|i)$|Dutch$|Greek$|Welsh$|Swiss$|Thai$|Czech$")
_INTRODUCED = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s")
_PHRASE_END = re.compile(
    r"[,.;:()]|\s(?:of|by|in|from|at|on|for|or|to|with|about|who|which|that|whose|based|directed|written"
    r"|produced|starring|featuring|released|recorded|performed|set|known)\s"
)
_LIFE = re.compile(r"\([^()]{0,120}\b(?:born|b\.|\d{3,4}\s*[–-])|\bborn\b")

# Thai to Khmer, kana, ideographs, Hangul: a name there is not set off from what follows it.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SHORTEST_PART = 4
_ENDING = 2
_OPENING = 400
_ASIDE = re.compile(r"\([^()]*\)")
_TO = re.compile(r"[\s–—-]*+(?:c\.\s*+)?")
_TYPED = frozenset(["person", "work", "place", "organization", "software", "event"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPassage:
    """A passage parsed once for all claims that depend on it.

    Attributes:
        words: Stems of its words in order; a copula before an article is `=`.
        starts: Where each word starts.
        sentences: Where each sentence starts and ends; they tile the text.
        spans: What it names.
        heads: The headings above it and its first line, casefolded.
        phrases: Where it has a phrase that extraction knows for a type: (start, end, type).
        life: The dates of a life, as `born` or `died`, by where they start: "Ada (1815 - 1852) was".
        about: What it introduces its topic as: person, work, place ...; empty where it does not.
    """

    text: str
    folded: str
    words: tuple[str, ...]
    starts: np.ndarray[tuple[int], np.dtype[np.int64]]
    sentences: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    heads: str
    phrases: tuple[tuple[int, int, str], ...]
    life: Mapping[int, str]
    about: str


def parse_passage(chunk: Chunk) -> ParsedPassage:
    """Parse a passage."""
    text = chunk.text[:_LONGEST]
    matches = list(_WORD.finditer(text))
    words = [match.group().casefold() for match in matches]
    following = [*words[1:], ""][: len(words)]
    stems = [
        "=" if word in _COPULA and after in _ARTICLE else stem(word)
        for word, after in zip(words, following, strict=True)
    ]
    first, _, rest = text.partition("\n")
    sentences, spans = sentence_spans(text), tuple(scan(text))
    return ParsedPassage(
        text=text,
        folded=_folded(text),
        words=tuple(stems),
        starts=np.array([match.start() for match in matches], dtype=np.int64),
        sentences=tuple(sentences),
        spans=spans,
        heads="\n".join([*chunk.heading_path, first if rest else ""]).casefold(),
        phrases=tuple(
            (match.start(), match.end(), PATTERNS[(match.lastindex or 1) - 1].type)
            for match in TRIGGER.finditer(text)
        ),
        life=_life(text, spans),
        about=_about(text, sentences),
    )


def _folded(text: str) -> str:
    """Return a text in lower case, each character in its place: a few would become two."""
    folded = text.lower()
    return folded if len(folded) == len(text) else "".join(each.lower()[:1] or each for each in text)


def places(passage: ParsedPassage, entity: Entity) -> tuple[list[Place], float]:
    """Find where a passage names an entity.

    Returns:
        The places, and how surely: 1 where a name of it stands there whole, 0.5 where only its last word
        does, with whatever ending; 0 where nothing does.
    """
    whole: set[Place] = set()
    for name in {entity.name, *entity.aliases}:
        whole |= _whole_word_places(passage, name.lower().strip())
    if kind_of(entity) == "date":
        dates = {span.name for span in scan(entity.name[:100]) if span.type == "date"}
        whole |= {(span.start, span.end) for span in passage.spans if span.name in dates}
        return sorted(whole), float(bool(whole))
    if whole:
        return sorted(whole), 1.0
    last = entity.name.lower().split()[-1:]
    part = {place for word in last for place in _begun(passage, word)}
    return sorted(part), 0.5 if part else 0.0


def _whole_word_places(passage: ParsedPassage, name: str) -> set[Place]:
    """Find a name as whole words; by search, since a pattern for each name costs more than all the rest."""
    text, found = passage.folded, set[Place]()
    start = text.find(name) if name else -1
    while start >= 0:
        end = start + len(name)
        begins = _UNSPACED.match(name) or not _is_word(text[start - 1 : start])
        if begins and (_UNSPACED.match(name[-1]) or not _is_word(text[end : end + 1])):
            found.add((start, end))
            start = end - 1
        start = text.find(name, start + 1)
    return found


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _begun(passage: ParsedPassage, word: str) -> set[Place]:
    """Find words with the same beginning: names are inflected, and people are called by their last name."""
    begin = word[: max(_SHORTEST_PART, len(word) - _ENDING)]
    if len(word) < _SHORTEST_PART or word in FUNCTION_WORDS or not word.isalpha():
        return set()
    return {match.span() for match in re.finditer(rf"(?<!\w){re.escape(begin)}\w{{0,4}}", passage.folded)}


def is_topic(passage: ParsedPassage, subject: Entity, places: Sequence[Place]) -> bool:
    """Say whether a passage is about something: a heading or its first sentence names it."""
    named = subject.name.casefold() in passage.heads
    return named or bool(places and places[0][0] < passage.sentences[0][1])


def kind_of(entity: Entity, passage: ParsedPassage | None = None) -> str:
    """Say what a name looks like: date, place, name, number, word, or the adjective of a nation.

    What the entity is known to be goes before its looks.
    """
    name = entity.name.strip()
    if entity.type in ("date", "place"):
        return entity.type
    if any(span.type == "date" and span.end - span.start >= len(name) - 2 for span in scan(name[:100])):
        return "date"
    if re.fullmatch(r"[\d.,%\s]+", name):
        return "date" if re.fullmatch(r"\d{3,4}", name) else "number"
    if _DEMONYM.fullmatch(name) and (passage is None or _describes(passage.text, name)):
        return "demonym"
    return "name" if name[:1].isupper() else "word"


def _describes(text: str, name: str) -> bool:
    """Say whether a name is before a noun: "a French poet"."""
    after = re.search(rf"(?<!\w){re.escape(name)}(?:-|\s+([a-z]+))", text)
    return after is not None and after.group(1) not in FUNCTION_WORDS | _COPULA


def _life(text: str, spans: Sequence[Span]) -> Mapping[int, str]:
    """Find the two dates that are in parentheses near the beginning, a dash or blanks between."""
    for aside in _ASIDE.finditer(text, 0, _OPENING):
        dates = [span for span in spans if span.type == "date" and aside.start() < span.start < aside.end()]
        if len(dates) == 2 and _TO.fullmatch(text, dates[0].end, dates[1].start):
            return {dates[0].start: "born", dates[1].start: "died"}
    return {}


def subject_kind(passage: ParsedPassage, subject: Entity, topic: bool) -> str:
    """Say what the subject is: as it is known, and as a passage that is about it introduces it.

    Where the two differ, the kind is unknown: stored types are guesses as well.
    """
    known = subject.type if subject.type in _TYPED else ""
    stated = passage.about if topic else ""
    return known or stated if known == stated or not (known and stated) else ""


def _about(text: str, sentences: Sequence[tuple[int, int]]) -> str:
    """Say what a passage introduces its topic as: "X is a Danish film ..." is about a work."""
    for begin, end in sentences[:2]:
        copula = _INTRODUCED.search(text, begin, end)
        # "a Danish film director who": the last noun before the phrase ends says what it is.
        phrase = _PHRASE_END.split(text[copula.end() : end], maxsplit=1)[0] if copula is not None else ""
        kinds = [NOUN_TYPES[word] for word in phrase.casefold().split() if word in NOUN_TYPES]
        if kinds:
            return kinds[-1]
    return "person" if _LIFE.search(text, 0, 400) else ""
