"""What a passage says of a claim: does some sentence of it state the relation between the two ends.

The words that could state the type (`cues`) are sought near the object; what other name or date of the same
kind stands nearer to them competes with it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.core.types import Candidate, Chunk, Entity
from hydramem.ingest.extract.names import Span, scan
from hydramem.ingest.extract.patterns import PATTERNS, TRIGGER
from hydramem.ingest.extract.words import FUNCTION_WORDS, NOUN_TYPES
from hydramem.ingest.sentences import sentence_spans
from hydramem.verification.cues import ALL_CUES, Wording, stem, wording
from hydramem.verification.facts import Floats

NAMES = (
    "text",
    "subject_named",
    "subject_topic",
    "object_named",
    "same_sentence",
    "closeness",
    "cue_in_sentence",
    "cue_near",
    "cue_adjacent",
    "in_order",
    "turned",
    "negated",
    "kind_fits",
    "kind_differs",
    "subject_fits",
    "subject_differs",
    "rival",
    "other_cue",
)
_LONGEST = 20_000
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[†=]")
_NEGATIONS = frozenset(
    ["not", "never", "no", "neither", "nor", "denied", "denies", "cannot", "hardly", "nobody"]
)
_REACH = 5
_COPULA = frozenset(["is", "was", "are", "were"])
_ARTICLE = frozenset(["a", "an", "the", "one"])
_DEMONYM = re.compile(r"[A-Z]\w+(?:an|ish|ese|ean|ch|ian|ic|i)$|Dutch$|Greek$|Welsh$|Swiss$|Thai$|Czech$")
_PRONOUN = re.compile(r"\W*(?:he|she|it|they|i|we|his|her|its|their|the|this)\b", re.I)
_NEAR = 4.0
_BACK = 600
"""Characters before a sentence in which its pronoun's name may stand."""
_INTRODUCED = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s")
_PHRASE_END = re.compile(
    r"[,.;:()]|\s(?:of|by|in|from|at|on|for|or|to|with|about|who|which|that|whose|based|directed|written"
    r"|produced|starring|featuring|released|recorded|performed|set|known)\s"
)
_AND = re.compile(r"[\s,&\"“”']*(?:and|or)?[\s,&\"“”']*")
_LIFE = re.compile(r"\([^()]*\b(?:born|b\.|\d{3,4}\s*[–-])[^()]*\)?|\bborn\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A passage taken apart once for all claims that rest on it.

    Attributes:
        words: Stems of its words in order; a copula before an article is `=`.
        starts: Where each word starts.
        sentences: Where each sentence starts and ends.
        spans: What it names.
        heads: What stands above it, casefolded: headings and the first line.
        phrases: Where it says what extraction knows as a type's phrase: (start, end, type).
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
    about: str


def read(chunk: Chunk) -> Reading:
    """Take a passage apart."""
    text = chunk.text[:_LONGEST]
    matches = list(_WORD.finditer(text))
    words = [match.group().casefold() for match in matches]
    following = [*words[1:], ""]
    stems = [
        "=" if word in _COPULA and after in _ARTICLE else stem(word)
        for word, after in zip(words, following, strict=True)
    ]
    first, _, rest = text.partition("\n")
    sentences = sentence_spans(text)
    return Reading(
        text=text,
        folded=text.lower() if len(text.lower()) == len(text) else text,
        words=tuple(stems),
        starts=np.array([match.start() for match in matches], dtype=np.int64),
        sentences=tuple(sentences),
        spans=tuple(scan(text)),
        heads="\n".join([*chunk.heading_path, first if rest else ""]).casefold(),
        phrases=tuple(
            (match.start(), match.end(), PATTERNS[(match.lastindex or 1) - 1].type)
            for match in TRIGGER.finditer(text)
        ),
        about=_about(text, sentences),
    )


def text_features(candidates: Sequence[Candidate]) -> Floats:
    """Return what passages say of claims, of each claim the one that says most.

    Returns:
        Shape (claims, `NAMES`); all zero where a claim has no passage.
    """
    readings: dict[int, Reading] = {}
    result = np.zeros((len(candidates), len(NAMES)))
    for row, candidate in enumerate(candidates):
        for chunk in candidate.passages:
            if id(chunk) not in readings:
                readings[id(chunk)] = read(chunk)
        said = [_said(readings[id(chunk)], candidate) for chunk in candidate.passages]
        if said:
            result[row] = max(said, key=_strength)
    return result


def _strength(said: Sequence[float]) -> float:
    named = dict(zip(NAMES, said, strict=True))
    return named["object_named"] + named["same_sentence"] + 2 * named["cue_near"] - named["rival"]


def _said(reading: Reading, candidate: Candidate) -> tuple[float, ...]:
    told = wording(candidate.relation.type)
    subjects = _places(reading, candidate.subject)
    objects = _places(reading, candidate.object)
    topic = _is_topic(reading, candidate.subject, subjects)
    head = (1.0, float(bool(subjects)), float(topic), float(bool(objects)))
    kind = _kind(candidate.object, reading)
    fits = float(bool(told.object) and _fits(kind, told.object))
    differs = float(bool(told.object) and not _fits(kind, told.object))
    suits = _suits(_subject_kind(reading, candidate.subject, topic), told.subject)
    kinds = (fits, differs, float(suits is True), float(suits is False))
    if not objects:
        return (*head, *[0.0] * 8, *kinds, 0.0, 0.0)
    said = [
        _at(reading, place, subjects, told, candidate.relation.type, kind, topic) for place in objects[:8]
    ]
    best = max(said, key=lambda each: each[0] + 2 * each[3] - each[8])
    return (*head, *best[:8], *kinds, *best[8:])


def _at(
    reading: Reading,
    place: tuple[int, int],
    subjects: Sequence[tuple[int, int]],
    told: Wording,
    type: str,
    kind: str,
    topic: bool,
) -> tuple[float, ...]:
    """Judge one place where the object is named."""
    begin, end = next(span for span in reading.sentences if span[0] <= place[0] < span[1])
    within = [subject for subject in subjects if begin <= subject[0] < end and subject != place]
    before = topic or any(begin - _BACK <= subject[0] < begin for subject in subjects)
    stands = before and _PRONOUN.match(reading.text, begin) is not None
    nearest = min(within, key=lambda subject: abs(subject[0] - place[0]), default=None)
    gap = 400 if nearest is None else abs(nearest[0] - place[0])
    low, high = (int(edge) for edge in np.searchsorted(reading.starts, [begin, end]))
    cues = [n for n in range(low, high) if not _inside(reading, n, place) and _is_cue(reading, n, told, type)]
    others = [n for n in range(low, high) if reading.words[n] in ALL_CUES - told.cues]
    own = _distance(reading, cues, place)
    other = _distance(reading, others, place)
    rivals = [each for each in _rivals(reading, place, kind, begin, end) if not _overlaps(each, subjects)]
    order = 0 if nearest is None else _order(reading, nearest, place, cues, told)
    return (
        1.0 if within else 0.6 if stands else 0.0,
        float(np.exp(-gap / 80)),
        float(bool(cues)),
        float(np.exp(-own / _NEAR)),
        float(any(0 <= _before(reading, cue, place) <= 2 for cue in cues)),
        float(order > 0),
        float(order < 0),
        float(_is_denied(reading, cues, low, place)),
        float(any(_distance(reading, cues, rival) < own for rival in rivals)),
        float(np.exp(-other / _NEAR)) if other < own else 0.0,
    )


def _is_cue(reading: Reading, word: int, told: Wording, type: str) -> bool:
    at = reading.starts[word]
    return reading.words[word] in told.cues or any(
        start <= at < end and type == found for start, end, found in reading.phrases
    )


def _order(
    reading: Reading, subject: tuple[int, int], place: tuple[int, int], cues: Sequence[int], told: Wording
) -> int:
    """Say whether the sentence has the ends the way round that the type has: 1, or -1 where not, 0 unknown.

    "Ada leads billing" and "billing is led by Ada" both say leads(Ada, billing).
    """
    first = subject[0] < place[0]
    left, right = (subject[1], place[0]) if first else (place[1], subject[0])
    begin, end = (int(edge) for edge in np.searchsorted(reading.starts, [left, right]))
    between = [cue for cue in cues if begin <= cue < end]
    if not between:
        return int(first)
    passive = "by" in reading.words[between[0] : end]
    return 1 if first == (passive == told.passive) else -1


def _places(reading: Reading, entity: Entity) -> list[tuple[int, int]]:
    """Find where a passage names an entity."""
    places: set[tuple[int, int]] = set()
    for name in {entity.name, *entity.aliases}:
        folded = name.lower().strip()
        if folded:
            pattern = rf"(?<!\w){re.escape(folded)}(?!\w)"
            places |= {match.span() for match in re.finditer(pattern, reading.folded)}
    dates = {span.name for span in scan(entity.name[:100]) if span.type == "date"}
    if dates and _kind(entity) == "date":
        places |= {(span.start, span.end) for span in reading.spans if span.name in dates}
    return sorted(places)


def _is_topic(reading: Reading, subject: Entity, places: Sequence[tuple[int, int]]) -> bool:
    named = subject.name.casefold() in reading.heads
    return named or bool(places and places[0][0] < reading.sentences[0][1])


def _kind(entity: Entity, reading: Reading | None = None) -> str:
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
    if _DEMONYM.fullmatch(name) and (reading is None or _describes(reading.text, name)):
        return "demonym"
    return "name" if name[:1].isupper() else "word"


def _describes(text: str, name: str) -> bool:
    """Say whether a name stands before a noun: "a French poet"."""
    after = re.search(rf"(?<!\w){re.escape(name)}(?:-|\s+([a-z]+))", text)
    return after is not None and after.group(1) not in FUNCTION_WORDS | _COPULA


def _fits(kind: str, wanted: str) -> bool:
    return {
        "date": kind == "date",
        "place": kind in ("place", "name", "word"),
        "nation": kind in ("place", "demonym", "name", "word"),
        "name": kind in ("name", "place", "word"),
    }[wanted]


def _subject_kind(reading: Reading, subject: Entity, topic: bool) -> str:
    """Say what the subject is: as it is known, else as the passage that is about it introduces it."""
    if subject.type in ("person", "work", "place", "organization", "software", "event"):
        return subject.type
    return reading.about if topic else ""


def _suits(kind: str, wanted: str) -> bool | None:
    if not kind or not wanted:
        return None
    return kind != "person" if wanted == "thing" else kind == wanted


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


def _is_denied(reading: Reading, cues: Sequence[int], low: int, place: tuple[int, int]) -> bool:
    """Say whether a negation stands shortly before the word that states the relation, or the object."""
    at = int(np.searchsorted(reading.starts, place[0]))
    nearest = min(cues, key=lambda cue: abs(cue - at), default=at)
    first = min(nearest, at)
    words = reading.words[max(low, first - _REACH) : max(nearest, at)]
    return any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _rivals(
    reading: Reading, place: tuple[int, int], kind: str, begin: int, end: int
) -> Iterable[tuple[int, int]]:
    """Yield other places of the sentence that name things of the object's kind."""
    for span in reading.spans:
        if span.start < begin or span.start >= end or (span.start < place[1] and place[0] < span.end):
            continue
        # "John and Ada": what is said of the one is said of the other.
        listed = span.end <= place[0] and _AND.fullmatch(reading.text, span.end, place[0])
        if (span.type == "date") == (kind == "date") and not listed:
            yield span.start, span.end


def _overlaps(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < other[1] and other[0] < span[1] for other in others)


def _inside(reading: Reading, word: int, place: tuple[int, int]) -> bool:
    return bool(place[0] <= reading.starts[word] < place[1])


def _before(reading: Reading, cue: int, place: tuple[int, int]) -> int:
    """Return how many words stand between a cue and the place after it; negative where it comes after."""
    return int(np.searchsorted(reading.starts, place[0])) - cue - 1


def _distance(reading: Reading, cues: Sequence[int], place: tuple[int, int]) -> float:
    first, last = np.searchsorted(reading.starts, [place[0], place[1]])
    # A cue after its object is rarer than one before: "directed by X" against "X directed".
    gaps = (first - cue - 1 if cue < first else 2 + cue - last for cue in cues)
    return min((float(gap) for gap in gaps), default=99.0)
