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
    "negated",
    "kind_fits",
    "kind_differs",
    "rival",
    "other_cue",
)
_LONGEST = 20_000
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[†=]")
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|neither|nor|denied|denies|false|falsely|without|cannot|\w+n['’]t)\b", re.I
)
_COPULA = frozenset(["is", "was", "are", "were"])
_ARTICLE = frozenset(["a", "an", "the", "one"])
_DEMONYM = re.compile(r"[A-Z]\w+(?:an|ish|ese|ean|ch|ian|ic|i)$|Dutch$|Greek$|Welsh$|Swiss$|Thai$|Czech$")
_PRONOUN = re.compile(r"\W*(?:he|she|it|they|i|we|his|her|its|their|the|this)\b", re.I)
_NEAR = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A passage taken apart once for all claims that rest on it.

    Attributes:
        words: Stems of its words in order; a copula before an article is `=`.
        starts: Where each word starts.
        sentences: Where each sentence starts and ends.
        spans: What it names.
        heads: What stands above it, casefolded: headings, the first line, its source.
    """

    text: str
    folded: str
    words: tuple[str, ...]
    starts: np.ndarray[tuple[int], np.dtype[np.int64]]
    sentences: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...]
    heads: str


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
    return Reading(
        text=text,
        folded=text.lower() if len(text.lower()) == len(text) else text,
        words=tuple(stems),
        starts=np.array([match.start() for match in matches], dtype=np.int64),
        sentences=tuple(sentence_spans(text)),
        spans=tuple(scan(text)),
        heads="\n".join([*chunk.heading_path, first if rest else ""]).casefold(),
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
    kind = _kind(candidate.object)
    fits = float(bool(told.object) and _fits(kind, told.object))
    differs = float(bool(told.object) and not _fits(kind, told.object))
    if not objects:
        return (*head, *[0.0] * 7, fits, differs, 0.0, 0.0)
    said = [_at(reading, place, subjects, told, kind, topic) for place in objects[:8]]
    best = max(said, key=lambda each: each[0] + 2 * each[3] - each[7])
    return (*head, *best[:7], fits, differs, *best[7:])


def _at(
    reading: Reading,
    place: tuple[int, int],
    subjects: Sequence[tuple[int, int]],
    told: Wording,
    kind: str,
    topic: bool,
) -> tuple[float, ...]:
    """Judge one place where the object is named."""
    begin, end = next(span for span in reading.sentences if span[0] <= place[0] < span[1])
    within = [subject for subject in subjects if begin <= subject[0] < end and subject != place]
    stands = topic and _PRONOUN.match(reading.text, begin) is not None
    gap = min((abs(subject[0] - place[0]) for subject in within), default=400)
    low, high = np.searchsorted(reading.starts, [begin, end])
    cues = [n for n in range(low, high) if reading.words[n] in told.cues and not _inside(reading, n, place)]
    others = [n for n in range(low, high) if reading.words[n] in ALL_CUES - told.cues]
    own = _distance(reading, cues, place)
    other = _distance(reading, others, place)
    return (
        1.0 if within else 0.6 if stands else 0.0,
        float(np.exp(-gap / 80)),
        float(bool(cues)),
        float(np.exp(-own / _NEAR)),
        float(any(0 <= _before(reading, cue, place) <= 2 for cue in cues)),
        float(bool(within) and min(within)[0] < place[0]),
        float(_NEGATION.search(reading.text, begin, end) is not None),
        float(
            any(_distance(reading, cues, rival) < own for rival in _rivals(reading, place, kind, begin, end))
        ),
        float(np.exp(-other / _NEAR)) if other < own else 0.0,
    )


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


def _kind(entity: Entity) -> str:
    """Say what a name looks like: date, place, name, number or word; what it is known to be goes before."""
    name = entity.name.strip()
    if entity.type in ("date", "place"):
        return entity.type
    if any(span.type == "date" and span.end - span.start >= len(name) - 2 for span in scan(name[:100])):
        return "date"
    if re.fullmatch(r"[\d.,%\s]+", name):
        return "number"
    if _DEMONYM.fullmatch(name):
        return "demonym"
    return "name" if name[:1].isupper() else "word"


def _fits(kind: str, wanted: str) -> bool:
    return {
        "date": kind == "date",
        "place": kind in ("place", "demonym", "name", "word"),
        "name": kind in ("name", "place", "word"),
    }[wanted]


def _rivals(
    reading: Reading, place: tuple[int, int], kind: str, begin: int, end: int
) -> Iterable[tuple[int, int]]:
    """Yield other places of the sentence that name things of the object's kind."""
    for span in reading.spans:
        if span.start < begin or span.start >= end or (span.start < place[1] and place[0] < span.end):
            continue
        dated = span.type == "date"
        if dated == (kind == "date"):
            yield span.start, span.end


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
