"""What the names of entities mean, as short vectors: the leading directions of their embeddings.

Vectors are fetched and shortened a batch at a time, so that those of a whole store are never in memory. An
entity that has none is told apart by a flag: no vector stands for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.storage.vector_rows import Vector
from hydramem.verification.first_stage.relation_arrays import Facts

EntityVectors = Callable[[Sequence[str]], Mapping[str, Vector]]
"""Returns the vectors of entities by id, those without one left out; as `VectorStore.entity_vectors`."""

WIDTH = 32

LEAST = 50
"""Fewer vectors have no directions to speak of."""

_SAMPLED = 4096

_AT_ONCE = 2000

_LEAST_SPREAD = 1e-9

_LOUD = 0.3
"""How much meanings vary: louder, a network tells single things by them and learns those by heart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """How embeddings are shortened.

    Attributes:
        mean: Of the embeddings, shape (dimension,).
        axes: Their leading directions, scaled, shape (dimension, width).
    """

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanings:
    """What entities mean.

    Attributes:
        values: Shape (entities, width); what stands where nothing is known is not to be read.
        known: Which have a vector, shape (entities,).
    """

    values: NDArray[np.float32]
    known: NDArray[np.bool_]


def lens_of(ids: Sequence[str], vectors: EntityVectors, *, seed: int = 0) -> Lens | None:
    """Fit the lens to a sample of entities; None where too few have one, or all have the same.

    Args:
        ids: Of entities.
        vectors: Where their vectors are.
        seed: Of the sample.
    """
    chosen = np.random.default_rng(seed).permutation(len(ids))[:_SAMPLED]
    found = [
        vector
        for start in range(0, len(chosen), _AT_ONCE)
        for vector in vectors([ids[place] for place in np.sort(chosen[start : start + _AT_ONCE])]).values()
    ]
    if len(found) < LEAST:
        return None
    matrix = np.asarray(found, dtype=np.float64)
    mean = matrix.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(matrix - mean, rowvar=False))
    values, axes = values[::-1][:WIDTH], axes[:, ::-1][:, :WIDTH]
    spread = float(values.mean())
    if spread < _LEAST_SPREAD:
        return None
    return Lens(mean=mean.astype(np.float32), axes=(_LOUD * axes / np.sqrt(spread)).astype(np.float32))


def meanings(lens: Lens, ids: Sequence[str], vectors: EntityVectors) -> Meanings:
    """Return what entities mean, seen through a lens.

    Args:
        lens: Fitted to vectors of the same embedder.
        ids: Of entities.
        vectors: Where their vectors are.
    """
    values = np.zeros((len(ids), lens.axes.shape[1]), dtype=np.float32)
    known = np.zeros(len(ids), dtype=np.bool_)
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        held = vectors(part)
        places = np.array([start + place for place, id in enumerate(part) if id in held], dtype=np.int64)
        if len(places):
            matrix = np.asarray([held[ids[place]] for place in places], dtype=np.float32)
            values[places] = (matrix - lens.mean) @ lens.axes
            known[places] = True
    return Meanings(values=values, known=known)


_COMPONENTS = 4

_LEAST = 50
"""Smaller components have no shape to speak of."""

_TOLERANCE = 1e-2

_DENSE = 200


def positions(facts: Facts, *, count: int = 8, seed: int = 0) -> NDArray[np.float32]:
    """Return encodings, scaled to a mean square of 1 in each component; zero outside the largest.

    Args:
        facts: The relations of a graph.
        count: Eigenvectors of each component.
        seed: Where the solver begins.

    Returns:
        Shape (nodes, count).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    ends = facts.pair_keys // max(facts.size, 1), facts.neighbors
    matrix: Any = csr_matrix((np.ones(len(ends[0])), ends), shape=(facts.size, facts.size))
    found = np.zeros((facts.size, count), dtype=np.float32)
    parts, labels = connected_components(matrix, directed=False)
    sizes = np.bincount(labels, minlength=parts)
    for part in np.argsort(-sizes, kind="stable")[:_COMPONENTS]:
        if sizes[part] >= max(_LEAST, count + 2):
            nodes = np.flatnonzero(labels == part)
            found[nodes] = _leading(matrix[nodes][:, nodes], count, seed)
    return found


def _leading(matrix: Any, count: int, seed: int) -> NDArray[np.float32]:
    """Return the leading eigenvectors of a connected graph, without the first, which only tells degrees."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    scale = diags(1 / np.sqrt(np.asarray(matrix.sum(axis=1)).ravel()))
    normal = scale @ matrix @ scale
    size = normal.shape[0]
    if size <= _DENSE:
        vectors = np.linalg.eigh(normal.toarray())[1][:, ::-1]
    else:
        begin = np.random.default_rng(seed).random(size)
        values, vectors = eigsh(normal, k=count + 1, which="LA", tol=_TOLERANCE, v0=begin)
        vectors = vectors[:, np.argsort(-values)]
    return np.asarray(vectors[:, 1 : count + 1] * np.sqrt(size), dtype=np.float32)
