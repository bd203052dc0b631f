"""Judges how much a text looks like an order to the model that reads it, by weights learnt from examples.

The features are n-grams of characters and words, hashed (Weinberger et al., 2009): no model is run, and no
language is assumed. Weights and bounds are of a logistic regression, which `benchmarks/train_screening.py`
fits; `data/screening/card.json` says from which texts, and how it does on texts of other authors.
"""

import hashlib
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import HydraMemError

Buckets = NDArray[np.intp]

CHARACTER_BITS, WORD_BITS = 17, 16
FEATURES = 2**CHARACTER_BITS + 2**WORD_BITS
"""Length of the weights: buckets of n-grams of characters, then those of words."""

MOST_IN_WINDOW = 1600
"""Characters that are judged at once; the authors of the examples wrote at most 250 words."""

_CHARACTER_GRAMS = range(2, 6)
_WORD = re.compile(r"\w+|[^\w\s]")
_SPACE = re.compile(r"\s+")
_PRIME, _SPREAD, _PAIRED = np.uint64(1_099_511_628_211), np.uint64(0x9E3779B97F4A7C15), np.uint64(31)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderWeights:
    """What is learnt.

    Attributes:
        weights: One for each bucket, of shape (FEATURES,).
        bias: Added to their sum.
        holds: Probability from which a text is held back.
    """

    weights: NDArray[np.float32]
    bias: float
    holds: float


def order_probability(text: str) -> float:
    """Return how likely a text is one that orders about the model that reads it, from 0 to 1.

    A long text is judged by windows that overlap by half: the worst of them counts.

    Raises:
        HydraMemError: The weights of the package are missing or damaged.
    """
    learned = order_weights()
    return max(probability(window, learned.weights, learned.bias) for window in windows(text))


def probability(text: str, weights: NDArray[np.float32], bias: float) -> float:
    """Return the probability of one window by given weights."""
    characters, words = buckets(text)
    margin = bias
    for block in (characters, words):
        if len(block):
            margin += float(weights[block].sum()) / len(block) ** 0.5
    return float(1 / (1 + np.exp(-margin)))


def windows(text: str) -> Iterator[str]:
    """Yield the parts of a text that are judged each for itself; a short text is one."""
    yield text[:MOST_IN_WINDOW]
    for start in range(MOST_IN_WINDOW // 2, len(text) - MOST_IN_WINDOW // 2, MOST_IN_WINDOW // 2):
        yield text[start : start + MOST_IN_WINDOW]


def buckets(text: str) -> tuple[Buckets, Buckets]:
    """Return the buckets of a text's n-grams of characters and of words, each bucket once."""
    plain = _SPACE.sub(" ", f" {unicodedata.normalize('NFKC', text).lower()} ")
    return _character_buckets(plain), _word_buckets(plain)


def _character_buckets(plain: str) -> Buckets:
    codes = np.frombuffer(plain.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    seen = np.zeros(2**CHARACTER_BITS, dtype=bool)
    hashed = codes
    for length in _CHARACTER_GRAMS:
        hashed = hashed[:-1] * _PRIME + codes[length - 1 :]
        seen[_places(hashed, CHARACTER_BITS)] = True
    return np.flatnonzero(seen)


def _word_buckets(plain: str) -> Buckets:
    words = np.array(
        [zlib.crc32(word.encode("utf-8", "replace")) for word in _WORD.findall(plain)], dtype=np.uint64
    )
    pairs = (words[:-1] * _PRIME) ^ (words[1:] * _PAIRED)
    places = np.concatenate([_places(words, WORD_BITS), _places(pairs, WORD_BITS)])
    found: Buckets = np.unique(places) + 2**CHARACTER_BITS
    return found


def _places(hashed: NDArray[np.uint64], bits: int) -> Buckets:
    """Return the upper bits of hashes after a multiplication that spreads them (Knuth, TAOCP 6.4)."""
    places: Buckets = ((hashed * _SPREAD) >> np.uint64(64 - bits)).astype(np.intp)
    return places


@cache
def order_weights() -> OrderWeights:
    """Return the weights that the package carries, loaded at the first call.

    Raises:
        HydraMemError: They are missing or damaged.
    """
    described = card()
    path = files("hydramem") / "data" / "screening" / "orders.npy"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HydraMemError(f"screening: {path} cannot be read; install hydramem again") from error
    if hashlib.sha256(content).hexdigest() != described["sha256"]:
        raise HydraMemError(f"screening: {path} is damaged; install hydramem again")
    return OrderWeights(
        weights=np.load(io.BytesIO(content), allow_pickle=False).astype(np.float32),
        bias=described["bias"],
        holds=described["holds"],
    )


@cache
def card() -> dict[str, Any]:
    """Return the data card: the authors of the examples, the bounds, and the figures on other authors."""
    path = files("hydramem") / "data" / "screening" / "card.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
