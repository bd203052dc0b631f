"""The doctor: compare the vector store with the graph store row by row, and rebuild what differs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import sample as sample_of

from hydramem.core.results.upkeep_results import Diagnosis
from hydramem.core.row_types import Chunk
from hydramem.storage.outbox import BATCH, Mirror, worth_a_vector
from hydramem.storage.schema import CHUNK, ENTITY
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore, chunk_mirror_hash, entity_mirror_hash
from hydramem.storage.write_validation import batches

Progress = Callable[[int, int], None]
"""Called with rows done and rows to do."""


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


def _compare(truth: Mapping[str, str], mirror: Mapping[str, str]) -> MirrorDifference:
    return MirrorDifference(
        missing=tuple(sorted(truth.keys() - mirror.keys())),
        stale=tuple(sorted(id for id in truth.keys() & mirror.keys() if truth[id] != mirror[id])),
        orphaned=tuple(sorted(mirror.keys() - truth.keys())),
    )


def diagnose(
    graph: GraphStore,
    vectors: VectorStore,
    mirror: Mirror,
    *,
    fix: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Compare the two stores row by row; with `fix`, rebuild what differs from the graph.

    Args:
        graph, vectors, mirror: The two stores, and the mirror that rebuilds rows.
        fix: Rebuild missing and stale rows, remove orphaned ones.
        progress: Called while rows are rebuilt.
    """
    with mirror.one_writer:
        mirror.tidy()
        if not fix:
            return compare_stores(graph, vectors)[0]
        mirror.drain()
        _, chunks, entities = compare_stores(graph, vectors)
        repaired = rebuild(mirror, vectors, chunks, entities, progress)
        if repaired:
            vectors.maintain(force=True)
        after, _, _ = compare_stores(graph, vectors)
    return replace(after, repaired=repaired)


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


def compare_stores(
    graph: GraphStore, vectors: VectorStore
) -> tuple[Diagnosis, MirrorDifference, MirrorDifference]:
    """Compare every row; return the diagnosis, and where chunks and entities differ."""
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
    chunks, entities = _compare(chunk_truth, chunk_mirror), _compare(entity_truth, entity_mirror)
    pending = sum(len(row.chunks) + len(row.entities) for row in graph.outbox())
    problems = _problems(chunks, entities, pending)
    diagnosis = Diagnosis(
        healthy=not problems,
        chunks_in_graph=len(chunk_truth),
        chunks_in_vectors=len(chunk_mirror),
        entities_in_graph=entities_in_graph,
        entities_in_vectors=len(entity_mirror),
        missing=len(chunks.missing) + len(entities.missing),
        stale=len(chunks.stale) + len(entities.stale),
        orphaned=len(chunks.orphaned) + len(entities.orphaned),
        pending=pending,
        problems=problems,
    )
    return diagnosis, chunks, entities


def _expected_chunk_hash(chunk: Chunk, *, lacks_vector: bool) -> str:
    # No row has the empty hash, so a row that lacks its vector counts as stale. A chunk whose vector is
    # still pending is right without one.
    return "" if lacks_vector and chunk.vector_state == "ready" else chunk_mirror_hash(chunk)


def rebuild(
    mirror: Mirror,
    vectors: VectorStore,
    chunks: MirrorDifference,
    entities: MirrorDifference,
    progress: Progress | None,
    *,
    size: int = BATCH,
) -> int:
    """Copy rows that differ from the graph; return how many.

    Args:
        vectors: Where to; maintained on the way.
        progress: Called with rows rebuilt and rows to rebuild.
        size: Rows rebuilt at once.
    """
    total, done = len(chunks.ids) + len(entities.ids), 0
    for refresh, ids in ((mirror.refresh_chunks, chunks.ids), (mirror.refresh_entities, entities.ids)):
        for batch in batches(ids, size):
            refresh(batch)
            vectors.maintain()
            done += len(batch)
            if progress is not None:
                progress(done, total)
    return done


def _problems(chunks: MirrorDifference, entities: MirrorDifference, pending: int) -> tuple[str, ...]:
    counted = {
        "are missing from the vectors": (len(chunks.missing), len(entities.missing)),
        "are out of date in the vectors": (len(chunks.stale), len(entities.stale)),
        "are in the vectors only": (len(chunks.orphaned), len(entities.orphaned)),
    }
    problems = [
        f"{of_chunks} chunks and {of_entities} entities {what}; `hydramem doctor --fix` rebuilds them"
        for what, (of_chunks, of_entities) in counted.items()
        if of_chunks or of_entities
    ]
    if pending:
        problems.append(f"{pending} rows wait in the outbox; opening the store delivers them")
    return tuple(problems)
