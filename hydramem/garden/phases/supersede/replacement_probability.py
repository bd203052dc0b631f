"""How likely a later memory takes the place of an earlier one, judged with the whole memory at hand. Pure.

A logistic regression over the pair classifier's judgement, how near the two texts are, how near the later one
is to memories at large, and whether one names what the other speaks of. It was fitted on 7,000 pairs of near
memories in the texts of two authors (`benchmarks/data/aging`) and 858 of turns of conversations (LoCoMo).
"""

import re
from collections.abc import Sequence
from math import exp, log

from hydramem.core.row_types import Chunk
from hydramem.ingest.memories.consolidate.duplicate_or_update import names_in_text, share_a_name
from hydramem.llm.pair_classifier import PairJudgement
from hydramem.text.normalize import entity_key

LEAST_LINKED = 0.3
"""Probability from which a link is stored. Fitted on the other author it finds 48 in 100 replacements, and 43
in 100 links are between memories that both hold; of the turns, where none replaces another, it links 1 in 100
pairs."""

LEAST_ASKED = 0.01
"""Probability from which a model is asked, the likeliest first: so are 92 in 100 replacements."""

_CROWD_OF, _USUAL = 6, 0.35
"""Nearest memories whose mean nearness is the crowd of a memory, and what stands for each that is missing."""

_INTERCEPT, _SUPERSEDES, _NEARNESS, _CROWD, _NAMED = -2.18, 0.79, 5.76, -8.34, 1.20
_LEAST = 1e-4
_WORDS = re.compile(r"\w+")


def replacement_probability(judgement: PairJudgement, *, nearness: float, crowd: float, named: bool) -> float:
    """Return the probability that the later of two memories takes the earlier one's place.

    Args:
        judgement: Of the later text to the earlier.
        nearness: Of the two texts, 0 to 1, as `similarity.nearness` has it.
        crowd: Of one of them, as `crowd_of` has it: what is near to many is an update of none.
        named: Whether one of them names what the other speaks of.
    """
    supersedes = min(max(judgement.supersedes, _LEAST), 1 - _LEAST)
    odds = (
        _SUPERSEDES * log(supersedes / (1 - supersedes))
        + _NEARNESS * nearness
        + _CROWD * crowd
        + _NAMED * named
    )
    return 1 / (1 + exp(-(_INTERCEPT + odds)))


def crowd_of(near: Sequence[float]) -> float:
    """Return the mean nearness of the few memories nearest to one.

    Args:
        near: Of other memories to it, nearest first.
    """
    nearest = [*near[:_CROWD_OF], *[_USUAL] * (_CROWD_OF - len(near))]
    return sum(nearest) / _CROWD_OF


def speak_of_one_name(one: Chunk, other: Chunk) -> bool:
    """Say whether two memories share a name, or one has a name among the other's words.

    At the beginning of a sentence a name looks like any other word.
    """
    if share_a_name(one, other):
        return True
    spaced = [_spaced(entity_key(row.text)) for row in (one, other)]
    named = [names_in_text(row.text) for row in (other, one)]
    return any(_spaced(name) in text for text, names in zip(spaced, named, strict=True) for name in names)


def _spaced(text: str) -> str:
    """Return the words of a text, each between spaces, without punctuation."""
    return f" {' '.join(_WORDS.findall(text))} "
