"""Where each node lies in the graph: Laplacian positional encodings (Dwivedi et al., 2020). Pure.

The leading eigenvectors of the normalised adjacency, of each of the largest components. Their signs are
arbitrary: whoever trains on them flips them at random.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.verification.first_stage.relation_arrays import Facts

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
