"""What the passages of a relation state beside it: rivals, which exclude it.

A careless extractor joins names of one passage by a relation that the passage states of others. In "the film
A, directed by B, starring C and D" it takes C for what B directed, or says that C features D. Such a claim
passes any test of a sentence by itself, but the passage has a better one: of the same type and object, or
with the claim's own subject as the object of that type. Of hypotheses that exclude each other each has its
odds over one plus the odds of all (Jaynes, "Probability Theory", 2003, chapter 4). Of several rivals of one
kind only the strongest counts: a list of members states many claims of one object, and all of them are true.
A date as subject is a claim turned round: dates are said of things.

How probable a contested claim is by itself, is the lesser of two estimates: what the first stage gave it when
it was written, and what its text alone gives it. The graph of today is no third one: false claims of a
passage join the same things, and support each other there.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Relation
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.verification.first_stage import text_features
from hydramem.verification.first_stage.relation_arrays import Floats
from hydramem.verification.first_stage.weights import Weights

FIRST = "srmkg"
"""The score that holds the first stage's probability of a relation, where another stands in its place."""

_MOST = 0.9
"""The probability of a rival that nobody has a number for, and the most that any rival counts with."""

_LEAST = 1e-4
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """A relation beside the others of its passages.

    Attributes:
        first: The first stage's probability when it was written.
        alone: How probable it is by itself.
        rival: The odds of its rivals, in the passage where they are weakest; 0 where it has none any more.
    """

    first: float
    alone: float
    rival: float

    @property
    def probability(self) -> float:
        """How probable the relation is."""
        return round(with_rival(self.alone, self.rival), 4) if self.rival else self.first

    def weighed(self, row: Relation) -> Relation:
        """Return a relation with its probability in this company; it keeps the first stage's as a score."""
        others = {name: score for name, score in row.scores.items() if name != FIRST}
        kept = {FIRST: self.first} if self.rival else {}
        return replace(row, probability=self.probability, scores={**others, **kept})


def with_rival(probability: float, rival: float) -> float:
    """Return how probable a claim is whose rivals have these odds, where one at most is true."""
    odds = probability / max(1 - probability, _LEAST)
    return odds / (1 + odds + rival)


def in_company(
    rows: Sequence[Relation], weights: Weights, *, dates: Collection[str] = frozenset()
) -> dict[str, Company]:
    """Weigh relations by what their passages state beside them.

    Args:
        rows: The active relations of a project.
        weights: Of the first stage.
        dates: Ids of the entities that are dates.

    Returns:
        Those that are contested, or were, by id; only what was extracted, and no person or model decided on.
    """
    if not rows:
        return {}
    first = np.array([_first(row) for row in rows])
    alone = np.minimum(first, _by_text(rows, weights))
    believed = np.minimum(alone, _MOST)
    rivals = _rivals(rows, believed / (1 - believed))
    rivals += np.array([row.subject in dates for row in rows]) * _MOST / (1 - _MOST)
    return {
        row.id: Company(first=each, alone=one, rival=rival)
        for row, each, one, rival in zip(rows, first.tolist(), alone.tolist(), rivals.tolist(), strict=True)
        if (rival or FIRST in row.scores) and _may_be_weighed(row)
    }


def _may_be_weighed(row: Relation) -> bool:
    return row.origin == "extracted" and row.probability is not None and not is_given(row)


def _first(row: Relation) -> float:
    if row.probability is None or row.origin == "asserted" or is_given(row):
        return _MOST if row.verdict != "rejected" else _LEAST
    return float(row.scores.get(FIRST, row.probability))


def _by_text(rows: Sequence[Relation], weights: Weights) -> Floats:
    """Return how probable each relation is by its text alone, 1 where none was read; shape (rows,)."""
    names = text_features.NAMES
    values = np.array([[row.scores.get(name, 0.0) for name in names] for row in rows], dtype=np.float64)
    odds = values @ weights.for_names(names) + weights.intercept
    found: Floats = np.where(values[:, names.index("text")] > 0, 1 / (1 + np.exp(-np.clip(odds, -30, 30))), 1)
    return found


def _rivals(rows: Sequence[Relation], odds: Floats) -> Floats:
    """Return the odds of each relation's rivals, in the passage where they are weakest; shape (rows,).

    Args:
        rows: Relations.
        odds: Of each by itself, shape (rows,).
    """
    counts = np.array([len(row.evidence) for row in rows])
    place = np.repeat(np.arange(len(rows)), counts)
    codes: dict[str, int] = {}
    types = _coded((row.type for row in rows), codes)[place]
    subjects = _coded((row.subject for row in rows), codes)[place]
    objects = _coded((row.object for row in rows), codes)[place]
    passages = _coded(chain.from_iterable(row.evidence for row in rows), codes)
    many = len(codes)
    as_object = (types * many + objects) * many + passages
    as_subject = (types * many + subjects) * many + passages
    turned = np.array([row.bidirectional for row in rows], dtype=np.bool_)[place]
    own = odds[place]
    in_each = _best_other(as_object, own) + np.where(turned, 0.0, _best_at(as_object, own, as_subject))
    weakest = np.full(len(rows), np.inf)
    np.minimum.at(weakest, place, in_each)
    found: Floats = np.where(counts > 0, weakest, 0.0)
    return found


def _coded(values: Iterable[str], codes: dict[str, int]) -> Ints:
    """Return a number for each value; new ones are added to `codes`."""
    return np.array([codes.setdefault(value, len(codes)) for value in values], dtype=np.int64)


def _best_other(keys: Ints, odds: Floats) -> Floats:
    """Return the most odds that another row with the same key has; 0 where there is no other."""
    order = np.lexsort((-odds, keys))
    sorted_keys, sorted_odds = keys[order], odds[order]
    starts = np.searchsorted(sorted_keys, keys)
    second = np.minimum(starts + 1, len(order) - 1)
    others = np.where(sorted_keys[second] == keys, sorted_odds[second], 0.0)
    is_first = order[starts] == np.arange(len(order))
    # Alone with its key, a row is its own second only where it is the last of all.
    return np.where(is_first, np.where(second == starts, 0.0, others), sorted_odds[starts])


def _best_at(keys: Ints, odds: Floats, wanted: Ints) -> Floats:
    """Return the most odds of the rows that have the wanted keys; 0 where none has."""
    order = np.lexsort((-odds, keys))
    places = np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)
    return np.where(keys[order][places] == wanted, odds[order][places], 0.0) if len(order) else odds
