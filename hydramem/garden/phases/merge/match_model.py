"""How probable it is that two named things are the same, by their names and descriptions.

A logistic model over features of a pair, as in record linkage since Fellegi and Sunter (1969). Its weights
come with the package; they were fitted on pairs that people labelled. Probability alone merges nothing: the
names must also be compatible (`name_compatibility`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import combinations_with_replacement
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from hydramem.text.names.name_comparison import NameParts, match_words, name_parts

Floats = NDArray[np.float64]

PLAIN = (
    *("same_spelling", "name_overlap", "name_cover", "rest_of_shorter", "rest_of_longer", "letters"),
    *("numbers_agree", "numbers_differ", "numbers_one_sided", "initials"),
    *("described", "detail_overlap", "detail_cover", "detail_letters", "detail_worst"),
    *("codes_agree", "codes_differ", "amounts_agree", "all_overlap", "all_cover"),
)
"""The plain features of a pair; products of two of them are features as well."""

_MOST_DETAILS = 12
_HALF_WEIGHT = 6.0
"""Weight of words in one name alone at which their feature is one half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A named thing as it is compared.

    Attributes:
        names: Its name, then its aliases.
        details: Descriptions, a text each.
    """

    names: tuple[str, ...]
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchProfile:
    """A thing with its texts taken apart, so that it is compared quickly with many others.

    Attributes:
        order: Its texts, as a sort key.
    """

    order: tuple[str, ...]
    names: tuple[NameParts, ...]
    details: tuple[NameParts, ...]

    @property
    def detail_words(self) -> frozenset[str]:
        """Words of its details."""
        return frozenset(word for one in self.details for word in one.words)

    @property
    def words(self) -> frozenset[str]:
        """Words of its details and its name."""
        return self.detail_words.union(self.names[0].words)


def match_profile(thing: Thing) -> MatchProfile:
    """Take a thing's texts apart."""
    names = tuple(name_parts(name) for name in thing.names)
    details = tuple(name_parts(text) for text in thing.details[:_MOST_DETAILS] if text.strip())
    return MatchProfile(order=(*thing.names, *thing.details), names=names, details=details)


class Rarity:
    """How much a word distinguishes: the rarer it is among things, the more.

    Args:
        words: The words of each thing.
    """

    def __init__(self, words: Iterable[Iterable[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._things = 0
        for each in words:
            self._counts.update(set(each))
            self._things += 1

    def of(self, word: str) -> float:
        """Return the weight of a word; above 0."""
        return log((self._things + 1.5) / (self._counts[word] + 0.5)) + 0.1

    def sum(self, words: Iterable[str]) -> float:
        """Return the weight of several words."""
        return sum(map(self.of, words))


def measured(one: MatchProfile, other: MatchProfile, rarity: Rarity) -> tuple[float, ...]:
    """Return the plain features of a pair, in the order of `PLAIN`; the same for both directions."""
    if other.order < one.order:  # of equally good pairings both directions choose the same
        one, other = other, one
    mine, yours = _best_names(one, other)
    return (
        *_of_names(mine, yours, rarity),
        *_of_numbers(mine, yours),
        float(mine.initials_of(yours) or yours.initials_of(mine)),
        *_of_details(one, other, rarity),
        *_shares(one.words, other.words, rarity),
    )


def _best_names(one: MatchProfile, other: MatchProfile) -> tuple[NameParts, NameParts]:
    pairs = [(mine, yours) for mine in one.names for yours in other.names]
    return max(pairs, key=lambda pair: _letters(*pair)) if len(pairs) > 1 else pairs[0]


def _letters(one: NameParts, other: NameParts) -> float:
    """Return the share of letter triples that two texts have in common (Dice)."""
    both = len(one.triples) + len(other.triples)
    return 2.0 * len(one.triples & other.triples) / both if both else 0.0


def _of_names(mine: NameParts, yours: NameParts, rarity: Rarity) -> tuple[float, ...]:
    common, left, right = match_words(mine.words, yours.words)
    shared = sum(rarity.of(word) * share for word, share in common)
    rests = rarity.sum(left), rarity.sum(right)
    least, most = min(rests), max(rests)
    return (
        float(mine.spelling is not None and mine.spelling == yours.spelling),
        shared / (shared + least + most) if shared else 0.0,
        shared / (shared + least) if shared else 0.0,
        least / (least + _HALF_WEIGHT),
        most / (most + _HALF_WEIGHT),
        _letters(mine, yours),
    )


def _of_numbers(mine: NameParts, yours: NameParts) -> tuple[float, float, float]:
    if not mine.numbers and not yours.numbers:
        return 0.0, 0.0, 0.0
    if not mine.numbers or not yours.numbers:
        return 0.0, 0.0, 1.0
    same = mine.numbers == yours.numbers
    return float(same), float(not mine.numbers & yours.numbers), 0.0


def _of_details(one: MatchProfile, other: MatchProfile, rarity: Rarity) -> tuple[float, ...]:
    if not one.details or not other.details:
        return (0.0,) * 8
    few, many = sorted((one.details, other.details), key=len)
    best = [max(_letters(mine, yours) for yours in many) for mine in few]
    return (
        1.0,
        *_shares(one.detail_words, other.detail_words, rarity),
        sum(best) / len(best),
        min(best),
        *_of_codes(one, other),
        _of_amounts(one, other),
    )


def _shares(mine: frozenset[str], yours: frozenset[str], rarity: Rarity) -> tuple[float, float]:
    """Return the share of common words by weight: of all, and of those of the side with less."""
    shared = rarity.sum(mine & yours)
    left, right = rarity.sum(mine - yours), rarity.sum(yours - mine)
    return shared / sqrt((shared + left) * (shared + right)) if shared else 0.0, (
        shared / (shared + min(left, right)) if shared else 0.0
    )


def _of_codes(one: MatchProfile, other: MatchProfile) -> tuple[float, float]:
    """Say whether long numbers, such as of telephones, agree, and whether they differ."""
    mine = {code for text in one.details for code in text.codes}
    yours = {code for text in other.details for code in text.codes}
    if not mine or not yours:
        return 0.0, 0.0
    return float(bool(mine & yours)), float(not mine & yours)


def _of_amounts(one: MatchProfile, other: MatchProfile) -> float:
    """Return the ratio of the two most similar amounts, 1 for equal; 0 where one side has none."""
    mine = [text.amount for text in one.details if text.amount is not None]
    yours = [text.amount for text in other.details if text.amount is not None]
    near = [min(a, b) / max(a, b) if max(a, b) > 0 else 1.0 for a in mine for b in yours]
    return max(near, default=0.0)


def with_products(plain: Floats) -> Floats:
    """Return features with their products; shapes (pairs, plain) and (pairs, plain and products)."""
    first, second = _places(plain.shape[1])
    return np.hstack([plain, plain[:, first] * plain[:, second]])


@cache
def _places(count: int) -> tuple[list[int], list[int]]:
    pairs = list(combinations_with_replacement(range(count), 2))
    return [first for first, _ in pairs], [second for _, second in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The model: the log odds are the intercept and the sum of feature times coefficient.

    Attributes:
        coefficients: Shape (plain and products,), in the order of `with_products`.
    """

    intercept: float
    coefficients: Floats

    def probabilities(self, plain: Sequence[Sequence[float]] | Floats) -> Floats:
        """Return the probability that the things of each pair are the same; shape (pairs,)."""
        if not len(plain):
            return np.zeros(0)
        odds = np.clip(self.odds(plain), -30.0, 30.0)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)), dtype=np.float64)

    def odds(self, plain: Sequence[Sequence[float]] | Floats) -> Floats:
        """Return the log odds of the same."""
        features = with_products(np.asarray(plain, dtype=np.float64))
        return np.asarray(self.intercept + features @ self.coefficients, dtype=np.float64)

    def to_json(self) -> str:
        """Return it as JSON text."""
        numbers = [round(float(one), 5) for one in self.coefficients]
        return json.dumps({"plain": PLAIN, "intercept": round(self.intercept, 5), "coefficients": numbers})

    @classmethod
    def from_json(cls, text: str) -> "Likeness":
        """Read what `to_json` wrote."""
        read = json.loads(text)
        coefficients = np.array(read["coefficients"], dtype=np.float64)
        return cls(intercept=float(read["intercept"]), coefficients=coefficients)


@cache
def shipped() -> Likeness:
    """Return the model that comes with the package."""
    file = resources.files("hydramem") / "data" / "merging.json"
    return Likeness.from_json(file.read_text(encoding="utf-8"))
