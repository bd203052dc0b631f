"""What a passage says of a claim: does some sentence of it state the relation between the two ends.

The words that could state the type (`cues`) are sought near the object; what other name or date of the same
kind stands nearer to them competes with it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.core.row_types import RelationCandidate
from hydramem.text.lexicon import word_set
from hydramem.text.relation_words import ALL_CUES, TypeWording, stem, type_wording
from hydramem.verification.first_stage.passage import (
    ParsedPassage,
    Place,
    is_topic,
    kind_of,
    places,
    read,
    subject_kind,
)
from hydramem.verification.first_stage.relation_arrays import Floats

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
_AT = NAMES.index("same_sentence")
_KINDS = NAMES.index("kind_fits")
_MOST_PLACES = 8
_LONGEST_QUOTE = 400
_NEGATIONS = word_set("negations", "of_claims")

_REACH = 5
"""Words before what it denies that a negation may stand."""
_PRONOUN = re.compile(r"\W*(?:he|she|it|they|i|we|his|her|its|their|the|this)\b", re.I)
_STANDS = 0.6
"""What a pronoun counts for the name that it stands for."""
_NEAR, _FAR = 4.0, 99.0
_BACK = 600
"""Characters before a sentence in which its pronoun's name may stand."""
_LONGEST_JOIN = 40
_MOST_WORDS = 100
"""Words on either side of the object that are looked at: a text may be one endless sentence."""
_AND = re.compile(r"[\s,&\"“”']*(?:and|or)?[\s,&\"“”']*")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEvidence:
    """What the best of a claim's passages says of it.

    Attributes:
        features: Shape (`NAMES`,).
        sentence: The sentence that names the object, white space as single blanks; None where none does.
    """

    features: tuple[float, ...]
    sentence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SoughtClaim:
    """A claim, sought in one passage: how its type reads, and where its subject stands."""

    type: str
    told: TypeWording
    kind: str
    subjects: Sequence[Place]
    topic: bool


def stated_evidence(candidates: Sequence[RelationCandidate]) -> list[StatedEvidence]:
    """Return what passages say of claims, each by the passage that says most; zeros where there is none."""
    readings: dict[int, ParsedPassage] = {}
    result = []
    for candidate in candidates:
        for chunk in candidate.passages:
            if id(chunk) not in readings:
                readings[id(chunk)] = read(chunk)
        each = [_said(readings[id(chunk)], candidate) for chunk in candidate.passages]
        result.append(max(each, key=_strength, default=StatedEvidence(features=(0.0,) * len(NAMES))))
    return result


def matrix(each: Sequence[StatedEvidence]) -> Floats:
    """Return features as an array of shape (claims, `NAMES`)."""
    return np.array([one.features for one in each], dtype=np.float64).reshape(-1, len(NAMES))


def _strength(one: StatedEvidence) -> float:
    named = dict(zip(NAMES, one.features, strict=True))
    return named["object_named"] + named["same_sentence"] + 2 * named["cue_near"] - named["rival"]


def _said(reading: ParsedPassage, candidate: RelationCandidate) -> StatedEvidence:
    told = type_wording(candidate.relation.type)
    subjects, subject_named = places(reading, candidate.subject)
    objects, object_named = places(reading, candidate.object)
    topic = is_topic(reading, candidate.subject, subjects)
    kind = kind_of(candidate.object, reading)
    fits = _fits(kind, told.object)
    suits = _suits(subject_kind(reading, candidate.subject, topic), told.subject)
    kinds = tuple(float(answer is wanted) for answer in (fits, suits) for wanted in (True, False))
    head = (1.0, subject_named, float(topic), object_named)
    asked = _SoughtClaim(type=candidate.relation.type, told=told, kind=kind, subjects=subjects, topic=topic)
    here = [(_at(reading, place, asked), place) for place in objects[:_MOST_PLACES]]
    if not here:
        return StatedEvidence(features=(*head, *[0.0] * (_KINDS - _AT), *kinds, 0.0, 0.0))
    best, place = max(here, key=lambda each: each[0][0] + 2 * each[0][3] - each[0][8])
    begin, end = _sentence(reading, place)
    return StatedEvidence(
        features=(*head, *best[: _KINDS - _AT], *kinds, *best[_KINDS - _AT :]),
        sentence=" ".join(reading.text[begin:end].split())[:_LONGEST_QUOTE],
    )


def _sentence(reading: ParsedPassage, place: Place) -> Place:
    return next((span for span in reading.sentences if span[0] <= place[0] < span[1]), (0, len(reading.text)))


def _at(reading: ParsedPassage, place: Place, asked: _SoughtClaim) -> tuple[float, ...]:
    """Judge one place where the object is named."""
    begin, end = _sentence(reading, place)
    within = [subject for subject in asked.subjects if begin <= subject[0] < end and subject != place]
    nearest = min(within, key=lambda subject: abs(subject[0] - place[0]), default=None)
    gap = 400 if nearest is None else abs(nearest[0] - place[0])
    low, at, high = (int(edge) for edge in np.searchsorted(reading.starts, [begin, place[0], end]))
    low, high = max(low, at - _MOST_WORDS), min(high, at + _MOST_WORDS)
    words = [word for word in range(low, high) if not place[0] <= reading.starts[word] < place[1]]
    cues = [word for word in words if _is_cue(reading, word, asked)]
    listed = (_list_start(reading, place, begin), place[1])
    own = min((_gap(reading, cue, listed), cue) for cue in cues) if cues else (_FAR, -1)
    foreign = [word for word in words if reading.words[word] in ALL_CUES - asked.told.cues]
    other = min((_gap(reading, word, place) for word in foreign), default=_FAR)
    order = 0 if nearest is None else _order(reading, nearest, place, cues, asked.told)
    rivals = _rivals(reading, place, asked, (begin, listed[0], end))
    beaten = any(_gap(reading, own[1], rival) < own[0] for rival in rivals) if cues else False
    dated = _of_life(reading, place, asked)
    if dated is not None:
        # "Ada (1815 - 1852)" says when she was born and died without a word for it.
        own, other, beaten = ((0.0, own[1]), _FAR, False) if dated else ((_FAR, -1), 0.0, True)
    return (
        1.0 if within else _STANDS if _stands(reading, begin, asked) else 0.0,
        float(np.exp(-gap / 80)),
        float(bool(cues) or dated is True),
        float(np.exp(-own[0] / _NEAR)),
        float(dated is True or any(0 <= _before(reading, cue, listed) <= 2 for cue in cues)),
        float(order > 0),
        float(order < 0),
        float(_is_denied(reading, cues, low, place)),
        float(beaten),
        float(np.exp(-other / _NEAR)) if other < own[0] else 0.0,
    )


def _of_life(reading: ParsedPassage, place: Place, asked: _SoughtClaim) -> bool | None:
    """Say whether a date of a life is the one that is asked for; None where either is something else."""
    role = reading.life.get(place[0])
    wanted = {each for each in ("born", "died") if stem(each) in asked.told.cues}
    return None if role is None or not wanted or not asked.topic else role in wanted


def _stands(reading: ParsedPassage, begin: int, asked: _SoughtClaim) -> bool:
    """Say whether a sentence begins with a word that may stand for the subject, named shortly before."""
    before = asked.topic or any(begin - _BACK <= subject[0] < begin for subject in asked.subjects)
    return before and _PRONOUN.match(reading.text, begin) is not None


def _is_cue(reading: ParsedPassage, word: int, asked: _SoughtClaim) -> bool:
    at = reading.starts[word]
    return reading.words[word] in asked.told.cues or any(
        start <= at < end and type == asked.type for start, end, type in reading.phrases
    )


def _order(
    reading: ParsedPassage, subject: Place, place: Place, cues: Sequence[int], told: TypeWording
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


def _fits(kind: str, wanted: str) -> bool | None:
    """Say whether a kind is the wanted one; None where either is unknown."""
    if not wanted:
        return None
    return {
        "date": kind == "date",
        "place": kind in ("place", "name", "word"),
        "nation": kind in ("place", "demonym", "name", "word"),
        "name": kind in ("name", "place", "word"),
    }[wanted]


def _suits(kind: str, wanted: str) -> bool | None:
    """Say whether a subject is what the type wants; None where either is unknown."""
    if not kind or not wanted:
        return None
    return kind != "person" if wanted == "thing" else kind == wanted


def _is_denied(reading: ParsedPassage, cues: Sequence[int], low: int, place: Place) -> bool:
    """Say whether a negation stands shortly before the word that states the relation, or the object."""
    at = int(np.searchsorted(reading.starts, place[0]))
    nearest = min(cues, key=lambda cue: abs(cue - at), default=at)
    first = min(nearest, at)
    words = reading.words[max(low, first - _REACH) : max(nearest, at)]
    return any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _rivals(
    reading: ParsedPassage, place: Place, asked: _SoughtClaim, bounds: tuple[int, int, int]
) -> Iterator[Place]:
    """Yield other places of a sentence that name things of the object's kind, but the subject.

    Args:
        bounds: Where the sentence starts, the list that the object stands in, and where the sentence ends.
    """
    begin, listed, end = bounds
    for span in reading.spans:
        here = (span.start, span.end)
        if not begin <= span.start < end or _overlap(here, place) or listed <= span.start < place[0]:
            continue
        alike = (span.type == "date") == (asked.kind == "date")
        before = bisect_left(asked.subjects, (span.end, 0)) - 1
        if alike and (before < 0 or asked.subjects[before][1] <= span.start):
            yield here


def _list_start(reading: ParsedPassage, place: Place, begin: int) -> int:
    """Return where the list starts that a name ends: what "Bob, Eve and Ada" do, each of them does."""
    start = place[0]
    for span in reversed(reading.spans):
        if begin <= span.start and span.end <= start:
            apart = start - span.end > _LONGEST_JOIN
            if apart or not _AND.fullmatch(reading.text, span.end, start):
                break
            start = span.start
    return start


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _before(reading: ParsedPassage, cue: int, place: Place) -> int:
    """Return how many words stand between a cue and the place after it; negative where it comes after."""
    return int(np.searchsorted(reading.starts, place[0])) - cue - 1


def _gap(reading: ParsedPassage, cue: int, place: Place) -> float:
    """Return how many words stand between a cue and a place, two more where the cue comes after."""
    first, last = np.searchsorted(reading.starts, [place[0], place[1]])
    # "directed by X" is commoner than "X directed".
    return float(max(first - cue - 1 if cue < first else 2 + cue - last, 0))
