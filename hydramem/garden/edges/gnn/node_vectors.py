"""Vectors of nodes for the network: projected name embeddings, and positions in the graph. Loads no torch.

Embeddings are fetched and projected to their leading directions in batches, so those of a whole store are
never in memory. A flag marks entities without an embedding.
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
"""Vectors, or nodes of a component, below which leading directions say nothing."""

_SAMPLED = 4096
_AT_ONCE = 2000
_LEAST_SPREAD = 1e-9
_SCALE = 0.3
"""Spread of the projected vectors: with more of it a network memorizes single entities."""

_COMPONENTS = 4
_TOLERANCE = 1e-2
_DENSE = 200
"""Components of the graph that get positions, precision of the solver, and nodes up to which it is dense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """A projection of embeddings.

    Attributes:
        mean: Of the embeddings, shape (dimension,).
        axes: Their leading directions, scaled, shape (dimension, width).
    """

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanings:
    """Projected embeddings of entities.

    Attributes:
        values: Shape (entities, width); undefined where nothing is known.
        known: Which have an embedding, shape (entities,).
    """

    values: NDArray[np.float32]
    known: NDArray[np.bool_]


def lens_of(ids: Sequence[str], vectors: EntityVectors, *, seed: int = 0) -> Lens | None:
    """Fit the projection to a sample of entities; None where too few have a vector, or all have the same.

    Args:
        ids: Of entities.
        vectors: Returns their vectors.
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
    return Lens(mean=mean.astype(np.float32), axes=(_SCALE * axes / np.sqrt(spread)).astype(np.float32))


def meanings(lens: Lens, ids: Sequence[str], vectors: EntityVectors) -> Meanings:
    """Return the projected embeddings of entities.

    Args:
        lens: Fitted to vectors of the same embedder.
        ids: Of entities.
        vectors: Returns their vectors.
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


def positions(facts: Facts, *, count: int = 8, seed: int = 0) -> NDArray[np.float32]:
    """Return positional encodings, with a mean square of 1 in each component; 0 outside the largest ones.

    Args:
        facts: The relations of a graph.
        count: Eigenvectors of each component.
        seed: Of the solver's start vector.

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
        if sizes[part] >= max(LEAST, count + 2):
            nodes = np.flatnonzero(labels == part)
            found[nodes] = _leading(matrix[nodes][:, nodes], count, seed)
    return found


def _leading(matrix: Any, count: int, seed: int) -> NDArray[np.float32]:
    """Return the leading eigenvectors of a connected graph, but the first, which only reflects degrees."""
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
