"""The vector arm: chunks by the cosine of their vector with the query's."""

from hydramem.search.fuse import Arm, normalised
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import VectorStore
from hydramem.storage.vector_rows import Vector

VECTOR = "vector"


def vector_arm(vector: Vector, where: ChunkFilter, vectors: VectorStore, *, limit: int, weight: float) -> Arm:
    """Find the chunks whose meaning is nearest."""
    found = vectors.nearest(vector, where, limit)
    return Arm(name=VECTOR, weight=weight, scores=normalised({one.id: one.score for one in found}))
