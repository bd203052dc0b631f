"""Features of a claim's passages: whether some sentence states the relation between its two ends.

Words that can state the type (`cues`) are looked for near the object; another name or date of the same kind
that is nearer to them is a rival.
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
    parse_passage,
    places,
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

# Features of a place that come before those of the ends' kinds; the others come after.
_BEFORE_KINDS = NAMES.index("kind_fits") - NAMES.index("same_sentence")
_MOST_PLACES = 8
_LONGEST_QUOTE = 400
_NEGATIONS = word_set("negations", "of_claims")
_REACH = 5
"""Words that may stand between a negation and what it denies."""
_PRONOUN = re.compile(r"\W*(?:he|she|it|they|i|we|his|her|its|their|the|this)\b", re.I)
_PRONOUN_SHARE = 0.6
"""How much a pronoun counts instead of the name that it stands for."""
_NEAR, _FAR = 4.0, 99.0
_BACK = 600
"""Characters before a sentence in which the name for its pronoun may be."""
_LONGEST_JOIN = 40
_MOST_WORDS = 100
"""Words on either side of the object that are searched: a text may be one endless sentence."""
_AND = re.compile(r"[\s,&\"“”']*+(?:(?:and|or)[\s,&\"“”']*+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedEvidence:
    """The features of the best of a claim's passages.

    Attributes:
        features: Shape (`NAMES`,).
        sentence: The sentence that names the object, white space as single blanks; None where none does.
    """

    features: tuple[float, ...]
    sentence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SoughtClaim:
    """A claim in one passage: the wording of its type, and where its subject is named."""

    type: str
    wording: TypeWording
    kind: str
    subjects: Sequence[Place]
    topic: bool


def stated_evidence(candidates: Sequence[RelationCandidate]) -> list[StatedEvidence]:
    """Return the evidence of each claim by the passage that states most; zeros where there is no passage."""
    passages: dict[int, ParsedPassage] = {}
    result = []
    for candidate in candidates:
        for chunk in candidate.passages:
            if id(chunk) not in passages:
                passages[id(chunk)] = parse_passage(chunk)
        each = [_stated_by(passages[id(chunk)], candidate) for chunk in candidate.passages]
        result.append(max(each, key=_strength, default=StatedEvidence(features=(0.0,) * len(NAMES))))
    return result


def matrix(each: Sequence[StatedEvidence]) -> Floats:
    """Return features as an array of shape (claims, `NAMES`)."""
    return np.array([one.features for one in each], dtype=np.float64).reshape(-1, len(NAMES))


def _strength(one: StatedEvidence) -> float:
    named = dict(zip(NAMES, one.features, strict=True))
    return named["object_named"] + named["same_sentence"] + 2 * named["cue_near"] - named["rival"]


def _stated_by(passage: ParsedPassage, candidate: RelationCandidate) -> StatedEvidence:
    wording = type_wording(candidate.relation.type)
    subjects, subject_named = places(passage, candidate.subject)
    objects, object_named = places(passage, candidate.object)
    topic = is_topic(passage, candidate.subject, subjects)
    kind = kind_of(candidate.object, passage)
    fits = _object_fits(kind, wording.object)
    suits = _subject_fits(subject_kind(passage, candidate.subject, topic), wording.subject)
    kinds = tuple(float(answer is wanted) for answer in (fits, suits) for wanted in (True, False))
    head = (1.0, subject_named, float(topic), object_named)
    claim = _SoughtClaim(
        type=candidate.relation.type, wording=wording, kind=kind, subjects=subjects, topic=topic
    )
    here = [(_place_features(passage, place, claim), place) for place in objects[:_MOST_PLACES]]
    if not here:
        return StatedEvidence(features=(*head, *[0.0] * (_BEFORE_KINDS), *kinds, 0.0, 0.0))
    best, place = max(here, key=lambda each: each[0][0] + 2 * each[0][3] - each[0][8])
    begin, end = _sentence(passage, place)
    return StatedEvidence(
        features=(
            *head,
            *best[:_BEFORE_KINDS],
            *kinds,
            *best[_BEFORE_KINDS:],
        ),
        sentence=" ".join(passage.text[begin:end].split())[:_LONGEST_QUOTE],
    )


def _sentence(passage: ParsedPassage, place: Place) -> Place:
    return next((span for span in passage.sentences if span[0] <= place[0] < span[1]), (0, len(passage.text)))


def _place_features(passage: ParsedPassage, place: Place, claim: _SoughtClaim) -> tuple[float, ...]:
    """Return the features of one place where the object is named, from `same_sentence` on."""
    begin, end = _sentence(passage, place)
    within = [subject for subject in claim.subjects if begin <= subject[0] < end and subject != place]
    nearest = min(within, key=lambda subject: abs(subject[0] - place[0]), default=None)
    gap = 400 if nearest is None else abs(nearest[0] - place[0])
    low, at, high = (int(edge) for edge in np.searchsorted(passage.starts, [begin, place[0], end]))
    low, high = max(low, at - _MOST_WORDS), min(high, at + _MOST_WORDS)
    words = [word for word in range(low, high) if not place[0] <= passage.starts[word] < place[1]]
    cues = [word for word in words if _is_cue(passage, word, claim)]
    listed = (_list_start(passage, place, begin), place[1])
    own = min((_gap(passage, cue, listed), cue) for cue in cues) if cues else (_FAR, -1)
    foreign = [word for word in words if passage.words[word] in ALL_CUES - claim.wording.cues]
    other = min((_gap(passage, word, place) for word in foreign), default=_FAR)
    order = 0 if nearest is None else _order(passage, nearest, place, cues, claim.wording)
    rivals = _rivals(passage, place, claim, (begin, listed[0], end))
    beaten = any(_gap(passage, own[1], rival) < own[0] for rival in rivals) if cues else False
    dated = _is_life_date(passage, place, claim)
    if dated is not None:
        # "Ada (1815 - 1852)" says when she was born and died without a word for it.
        own, other, beaten = ((0.0, own[1]), _FAR, False) if dated else ((_FAR, -1), 0.0, True)
    return (
        1.0 if within else _PRONOUN_SHARE if _pronoun_opens(passage, begin, claim) else 0.0,
        float(np.exp(-gap / 80)),
        float(bool(cues) or dated is True),
        float(np.exp(-own[0] / _NEAR)),
        float(dated is True or any(0 <= _before(passage, cue, listed) <= 2 for cue in cues)),
        float(order > 0),
        float(order < 0),
        float(_is_denied(passage, cues, low, place)),
        float(beaten),
        float(np.exp(-other / _NEAR)) if other < own[0] else 0.0,
    )


def _is_life_date(passage: ParsedPassage, place: Place, claim: _SoughtClaim) -> bool | None:
    """Say whether a date of a life is the one that is claim for; None where either is something else."""
    role = passage.life.get(place[0])
    wanted = {each for each in ("born", "died") if stem(each) in claim.wording.cues}
    return None if role is None or not wanted or not claim.topic else role in wanted


def _pronoun_opens(passage: ParsedPassage, begin: int, claim: _SoughtClaim) -> bool:
    """Say whether a sentence begins with a pronoun that may refer to the subject, named shortly before."""
    before = claim.topic or any(begin - _BACK <= subject[0] < begin for subject in claim.subjects)
    return before and _PRONOUN.match(passage.text, begin) is not None


def _is_cue(passage: ParsedPassage, word: int, claim: _SoughtClaim) -> bool:
    at = passage.starts[word]
    return passage.words[word] in claim.wording.cues or any(
        start <= at < end and type == claim.type for start, end, type in passage.phrases
    )


def _order(
    passage: ParsedPassage, subject: Place, place: Place, cues: Sequence[int], wording: TypeWording
) -> int:
    """Say whether the sentence has the ends the way round that the type has: 1, or -1 where not, 0 unknown.

    "Ada leads billing" and "billing is led by Ada" both say leads(Ada, billing).
    """
    first = subject[0] < place[0]
    left, right = (subject[1], place[0]) if first else (place[1], subject[0])
    begin, end = (int(edge) for edge in np.searchsorted(passage.starts, [left, right]))
    between = [cue for cue in cues if begin <= cue < end]
    if not between:
        return int(first)
    passive = "by" in passage.words[between[0] : end]
    return 1 if first == (passive == wording.passive) else -1


def _object_fits(kind: str, wanted: str) -> bool | None:
    """Say whether a kind is the wanted one; None where either is unknown."""
    if not wanted:
        return None
    return {
        "date": kind == "date",
        "place": kind in ("place", "name", "word"),
        "nation": kind in ("place", "demonym", "name", "word"),
        "name": kind in ("name", "place", "word"),
    }[wanted]


def _subject_fits(kind: str, wanted: str) -> bool | None:
    """Say whether a subject is what the type wants; None where either is unknown."""
    if not kind or not wanted:
        return None
    return kind != "person" if wanted == "thing" else kind == wanted


def _is_denied(passage: ParsedPassage, cues: Sequence[int], low: int, place: Place) -> bool:
    """Say whether a negation is shortly before the word that states the relation, or the object."""
    at = int(np.searchsorted(passage.starts, place[0]))
    nearest = min(cues, key=lambda cue: abs(cue - at), default=at)
    first = min(nearest, at)
    words = passage.words[max(low, first - _REACH) : max(nearest, at)]
    return any(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words)


def _rivals(
    passage: ParsedPassage, place: Place, claim: _SoughtClaim, bounds: tuple[int, int, int]
) -> Iterator[Place]:
    """Yield other places of a sentence that name things of the object's kind, but the subject.

    Args:
        bounds: Where the sentence starts, the list that the object stands in, and where the sentence ends.
    """
    begin, listed, end = bounds
    for span in passage.spans:
        here = (span.start, span.end)
        if not begin <= span.start < end or _overlap(here, place) or listed <= span.start < place[0]:
            continue
        same_kind = (span.type == "date") == (claim.kind == "date")
        before = bisect_left(claim.subjects, (span.end, 0)) - 1
        if same_kind and (before < 0 or claim.subjects[before][1] <= span.start):
            yield here


def _list_start(passage: ParsedPassage, place: Place, begin: int) -> int:
    """Return where the list starts that a name ends: what "Bob, Eve and Ada" do, each of them does."""
    start = place[0]
    for span in reversed(passage.spans):
        if begin <= span.start and span.end <= start:
            apart = start - span.end > _LONGEST_JOIN
            if apart or not _AND.fullmatch(passage.text, span.end, start):
                break
            start = span.start
    return start


def _overlap(one: Place, other: Place) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _before(passage: ParsedPassage, cue: int, place: Place) -> int:
    """Return how many words are between a cue and the place after it; negative where it comes after."""
    return int(np.searchsorted(passage.starts, place[0])) - cue - 1


def _gap(passage: ParsedPassage, cue: int, place: Place) -> float:
    """Return how many words are between a cue and a place, two more where the cue comes after."""
    first, last = np.searchsorted(passage.starts, [place[0], place[1]])
    # "directed by X" is commoner than "X directed".
    return float(max(first - cue - 1 if cue < first else 2 + cue - last, 0))
