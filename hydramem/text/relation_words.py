"""The words by which a sentence states a relation, from the words of its type."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from hydramem.text.lexicon import tables, word_set

_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
_ENDINGS = ("ings", "ing", "ions", "ion", "ers", "ors", "er", "or", "ed", "es", "e", "s", "ly")
_LEAST_STEM = 4
_SMALL = word_set("stop_words", "relation_types")
_DATES = word_set("relation_words", "dates")
_PLACES = word_set("relation_words", "places")
_AGENTS = word_set("relation_words", "agents")
_LIFE = word_set("relation_words", "life")
UNCERTAIN_TYPES = word_set("relation_words", "uncertain")
"""Types that name no certain relation."""
_ROWS = tables("relation_words")["relations"]
_CUES = tuple(row["cues"].split() for row in _ROWS)
_ROWS_OF = defaultdict[str, list[int]](list)
for _number, _row in enumerate(_ROWS):
    for _word in _row["types"].split():
        _ROWS_OF[_word].append(_number)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeWording:
    """How a type reads in a sentence.

    Attributes:
        cues: Stems of words that state it; a copula is `=`.
        object: What its object is: a `date`, a `place`, a `nation`, another `name`, or unknown (empty).
        subject: What its subject is: a `person`, a `work`, a `thing` that is no person, or unknown (empty).
        passive: Whether its object does what its words say: "directed by", "composer".
    """

    cues: frozenset[str]
    object: str
    subject: str
    passive: bool


@lru_cache(maxsize=4096)
def type_wording(type: str) -> TypeWording:
    """Return how a type of relation reads in a sentence: its own words, and others that state the same."""
    words = [word.casefold() for word in _PARTS.split(type[:200]) if word]
    rows = frozenset(number for word in words for number in _ROWS_OF.get(word, ()))
    content = [word for word in words if word not in _SMALL]
    cues = {stem(cue) for number in rows for cue in _CUES[number]}
    # "date of birth" is about birth: what only says the kind of the object is no cue where another word is.
    cues |= {stem(word) for word in content if word not in _DATES | _PLACES or len(content) == 1}
    return TypeWording(
        cues=frozenset(cues),
        object=_object_kind(frozenset(words), rows),
        subject=_common_kind(rows, "subject"),
        passive=not _AGENTS.isdisjoint(words),
    )


def _object_kind(words: frozenset[str], rows: frozenset[int]) -> str:
    lived = bool(words & _LIFE)
    if words & _DATES or (lived and "on" in words):
        return "date"
    kind = _common_kind(rows, "object")
    if kind != "nation" and (words & _PLACES or (lived and words & {"in", "at"})):
        return "place"
    return kind


def _common_kind(rows: frozenset[int], end: str) -> str:
    """Return the kind that all rows give an end, empty where they differ; a person is a thing as well."""
    kinds = {_ROWS[number].get(end, "") for number in rows}
    if "person" in kinds:
        kinds.discard("thing")
    return next(iter(kinds)) if len(kinds) == 1 else ""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a word without its ending, roughly: directed, directs and directing are one, as is director.

    Full text has a stemmer of its own (`search_terms`): one that keeps a director and directing apart.
    """
    word = word.casefold()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word[: -len(ending)]
    return word


ALL_CUES = frozenset(stem(cue) for cues in _CUES for cue in cues) - {stem(word) for word in _SMALL | {"="}}
"""Words that state some relation: the one next to an object may state another than was claimed."""
