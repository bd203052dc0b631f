"""Blocking: which pairs of many named entities are worth a comparison.

Entities that share a key fall into one block (Papadakis et al., "Blocking and filtering techniques for entity
resolution", 2020). Blocks of keys that many share are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hydramem.text.names.name_comparison import NameParts

Places = NDArray[np.int64]
_MOST_IN_BLOCK = 24
_MOST_INITIALS = 6
_ENDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Pairs worth a comparison, those with the most and rarest common keys first.

    Attributes:
        one, other: Places of the entities, shape (pairs,); `one` is the smaller.
        cut: Pairs beyond the limit.
    """

    one: Places
    other: Places
    cut: int


def candidates(names: Iterable[Sequence[NameParts]], *, limit: int = 200_000) -> Candidates:
    """Return the pairs of entities that share a rare key.

    Args:
        names: For each entity its name and aliases.
        limit: Most pairs.
    """
    return candidates_of(({key for one in each for key in keys(one)} for each in names), limit=limit)


def candidates_of(keys_of: Iterable[AbstractSet[str]], *, limit: int) -> Candidates:
    """Return the pairs of things that share a rare key.

    Args:
        keys_of: The keys of each thing.
        limit: Most pairs.
    """
    # Straight into an array: as objects the keys of 34,000 names took 30 MB more.
    flat = (part for place, each in enumerate(keys_of) for key in each for part in (hash(key), place))
    table = np.fromiter(flat, dtype=np.int64).reshape(-1, 2)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    _, starts, sizes = np.unique(table[:, 0], return_index=True, return_counts=True)
    pairs = list(_within(table[:, 1], starts, sizes))
    if not pairs:
        none = np.zeros(0, dtype=np.int64)
        return Candidates(one=none, other=none, cut=0)
    return _ranked(pairs, limit)


def keys(name: NameParts) -> Iterator[str]:
    """Yield the keys of a name: its spelling, words, neighbouring words, initials, and both ends."""
    for word in name.words:
        if len(word) > 2:
            yield f"w {word}"
    for one, other in pairwise(name.words):
        yield f"p {min(one, other)} {max(one, other)}"
    if len(name.words) > 2:
        yield f"i {name.initials}"
        yield f"i {name.all_initials}"
    elif len(name.words) == 1 and len(name.words[0]) <= _MOST_INITIALS:
        yield f"i {name.words[0]}"
    if name.spelling is not None:
        yield f"s {name.spelling}"
        if len(name.spelling) > _ENDS:
            yield f"f {name.spelling[:_ENDS]}"
            yield f"l {name.spelling[-_ENDS:]}"


def _within(places: Places, starts: Places, sizes: Places) -> Iterator[tuple[Places, Places, float]]:
    """Yield the pairs of all blocks of one size, and the weight of such a pair."""
    for size in range(2, _MOST_IN_BLOCK + 1):
        begins = starts[sizes == size]
        if len(begins):
            block = places[begins[:, None] + np.arange(size)]
            first, second = np.triu_indices(size, 1)
            yield block[:, first].ravel(), block[:, second].ravel(), 1.0 / (size - 1)


def _ranked(pairs: Sequence[tuple[Places, Places, float]], limit: int) -> Candidates:
    width = 1 + max(int(other.max()) for _, other, _ in pairs)
    packed = np.concatenate([one * width + other for one, other, _ in pairs])
    weights = np.concatenate([np.full(len(one), weight) for one, _, weight in pairs])
    distinct, inverse = np.unique(packed, return_inverse=True)
    # Rounded: the order of blocks, and with it of the sums, differs between processes.
    score = np.bincount(inverse, weights=weights).round(9)
    best = np.lexsort((distinct, -score))[:limit]
    chosen = distinct[best]
    return Candidates(one=chosen // width, other=chosen % width, cut=len(distinct) - len(chosen))
