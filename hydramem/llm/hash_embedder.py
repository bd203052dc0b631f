"""An embedder without a model: hashed words and character n-grams (feature hashing, Weinberger et al., 2009).

Texts that share words are close, meaning plays no part. It is quick and the same on every machine, which
is what volume and crash tests need.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_BASE = 0x100000001B3  # odd, so that it has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 2**64)
_NGRAM = 3
_NGRAM_WEIGHT = 0.25
_MAX_CHARS = 65_536
_BATCH = 64
Words = NDArray[np.uint64]


class HashEmbedder:
    """Deterministic vectors from the words of a text; see `Embedder`."""

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension
        self.fingerprint = f"hash/{dimension}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit-length rows of shape (len(texts), dimension)."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            vectors[start : start + _BATCH] = _embed(texts[start : start + _BATCH], self.dimension)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a unit-length array of shape (dimension,)."""
        row: NDArray[np.float32] = _embed([text], self.dimension)[0]
        return row


def _embed(texts: Sequence[str], dimension: int) -> NDArray[np.float32]:
    parts = [_codes(text) for text in texts]
    codes = np.concatenate(parts)
    rows = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    inside = _is_word(codes)
    sums = np.zeros(len(texts) * dimension)
    for features, at, weight in (
        (*_words(codes, inside), 1.0),
        (*_ngrams(codes, inside), _NGRAM_WEIGHT),
    ):
        mixed = _mix(features)
        signs = np.where(mixed >> np.uint64(63), weight, -weight)
        buckets = rows[at] * dimension + (mixed % np.uint64(dimension)).astype(np.int64)
        sums += np.bincount(buckets, weights=signs, minlength=len(sums))
    return _unit(sums.reshape(len(texts), dimension))


def _codes(text: str) -> Words:
    # A space at either end keeps the words of neighbouring texts apart.
    data = f" {text[:_MAX_CHARS].casefold()} ".encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, dtype=np.uint32).astype(np.uint64)


def _is_word(codes: Words) -> NDArray[np.bool_]:
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    letter = (codes >= ord("a")) & (codes <= ord("z"))
    punctuation = ((codes >= 0x2000) & (codes < 0x2070)) | ((codes >= 0x3000) & (codes < 0x3040))
    inside: NDArray[np.bool_] = digit | letter | (codes == ord("_")) | ((codes > 0xA0) & ~punctuation)
    return inside


def _words(codes: Words, inside: NDArray[np.bool_]) -> tuple[Words, NDArray[np.int64]]:
    """Return the polynomial hash of each word, by differences of one running sum, and where it starts."""
    edges = np.diff(inside.astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1) + 1, np.flatnonzero(edges == -1) + 1
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(codes * _powers(_BASE, len(codes)))))
    return (running[ends] - running[starts]) * _powers(_INVERSE, len(codes))[starts], starts


def _ngrams(codes: Words, inside: NDArray[np.bool_]) -> tuple[Words, NDArray[np.int64]]:
    last = len(codes) - _NGRAM + 1
    hashes = np.full(max(last, 0), _NGRAM, dtype=np.uint64)
    whole = np.ones(max(last, 0), dtype=bool)
    for offset in range(_NGRAM if last > 0 else 0):
        hashes = hashes * np.uint64(_BASE) + codes[offset : last + offset]
        whole &= inside[offset : last + offset]
    starts = np.flatnonzero(whole)
    return hashes[starts], starts


def _powers(base: int, count: int) -> Words:
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


def _mix(hashes: Words) -> Words:
    """Spread a hash over all of its bits (the finaliser of SplitMix64)."""
    mixed = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows[lengths[:, 0] == 0, 0] = 1.0  # a text without words still has a place
    return (rows / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
