"""Compare the vector store with the graph store: all rows, or a sample while others write."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import sample as sample_of

from hydramem.core.row_types import Chunk
from hydramem.storage.outbox import BATCH, Mirror, worth_a_vector
from hydramem.storage.schema import CHUNK, ENTITY
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore, chunk_mirror_hash, entity_mirror_hash
from hydramem.storage.write_validation import batches


@dataclass(frozen=True, slots=True)
class MirrorDifference:
    """Where a mirror differs from the graph store, by row id."""

    missing: tuple[str, ...]
    stale: tuple[str, ...]
    orphaned: tuple[str, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Every row that differs."""
        return (*self.missing, *self.stale, *self.orphaned)

    def without(self, kept: frozenset[str]) -> "MirrorDifference":
        """Return the rows that differ but for some."""
        return MirrorDifference(
            *(tuple(id for id in ids if id not in kept) for ids in (self.missing, self.stale, self.orphaned))
        )


def _compare(truth: Mapping[str, str], mirror: Mapping[str, str]) -> MirrorDifference:
    return MirrorDifference(
        missing=tuple(sorted(truth.keys() - mirror.keys())),
        stale=tuple(sorted(id for id in truth.keys() & mirror.keys() if truth[id] != mirror[id])),
        orphaned=tuple(sorted(mirror.keys() - truth.keys())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreComparison:
    """Every row of the two stores compared; `entities` are those that are worth a vector."""

    chunks_in_graph: int
    chunks_in_vectors: int
    entities_in_graph: int
    entities_in_vectors: int
    chunks: MirrorDifference
    entities: MirrorDifference
    pending: int


def compare_stores(graph: GraphStore, vectors: VectorStore) -> StoreComparison:
    """Compare every row."""
    waiting = vectors.chunks_without_vector()
    chunk_truth = {
        c.id: _expected_chunk_hash(c, lacks_vector=c.id in waiting)
        for batch in graph.scan(CHUNK)
        for c in batch
    }
    entity_truth: dict[str, str] = {}
    entities_in_graph = 0
    for entity_batch in graph.scan(ENTITY):
        entities_in_graph += len(entity_batch)
        worth = (e for e in entity_batch if worth_a_vector(e.mention_count))
        entity_truth.update((e.id, entity_mirror_hash(e)) for e in worth)
    chunk_mirror, entity_mirror = vectors.chunk_hashes(), vectors.entity_hashes()
    return StoreComparison(
        chunks_in_graph=len(chunk_truth),
        chunks_in_vectors=len(chunk_mirror),
        entities_in_graph=entities_in_graph,
        entities_in_vectors=len(entity_mirror),
        chunks=_compare(chunk_truth, chunk_mirror),
        entities=_compare(entity_truth, entity_mirror),
        pending=sum(len(row.chunks) + len(row.entities) for row in graph.outbox()),
    )


def _expected_chunk_hash(chunk: Chunk, *, lacks_vector: bool) -> str:
    # No row has the empty hash, so a row that lacks its vector counts as stale. A chunk whose vector is
    # still pending is right without one.
    return "" if lacks_vector and chunk.vector_state == "ready" else chunk_mirror_hash(chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """How many rows were compared, and how many of them differ between graph and vectors."""

    compared: int
    differing: int


def sample(
    graph: GraphStore, vectors: VectorStore, mirror: Mirror, *, ids: Iterable[str], most: int
) -> Sampled:
    """Compare all chunks, or a random sample, while others write.

    Writers wait only while a batch that seemed to differ is compared again: it may have been written since.

    Args:
        graph, vectors, mirror: The two stores, and the mirror whose lock holds writers.
        ids: Ids of chunks of the graph, to find those that the vector store lacks.
        most: Rows to compare; each call draws others.
    """
    mirror.replicate_deferred()
    every = sorted(vectors.chunk_hashes().keys() | set(ids))
    drawn = every if len(every) <= most else sample_of(every, most)
    differing = 0
    for part in batches(drawn, BATCH):
        suspects = _differing(part, graph, vectors)
        if suspects:
            with mirror.one_writer:
                mirror.replicate_deferred()
                differing += len(_differing(suspects, graph, vectors))
    return Sampled(compared=len(drawn), differing=differing)


def _differing(ids: Sequence[str], graph: GraphStore, vectors: VectorStore) -> list[str]:
    stored, without_vector = vectors.chunk_hashes(ids), vectors.chunks_without_vector(ids)
    truth = {
        row.id: _expected_chunk_hash(row, lacks_vector=row.id in without_vector) for row in graph.chunks(ids)
    }
    return [id for id in ids if truth.get(id) != stored.get(id)]
