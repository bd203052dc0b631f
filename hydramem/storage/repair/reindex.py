"""Reindex: fill new vectors from the graph while the old ones serve, then switch between two writes.

The new vectors are complete before they serve, and the switch is one write to the graph. A process that dies
before it leaves the old vectors serving, and the new rows so far, which the next run does not make again; one
that dies after it leaves the old folder, which the next opening removes.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from hydramem.core.ids import content_hash
from hydramem.storage.outbox import Embed, Mirror
from hydramem.storage.repair.compare_stores import compare_stores
from hydramem.storage.repair.doctor import Progress, rebuild
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore
from hydramem.storage.write_validation import batches

EMBEDDER, DIMENSION = "embedder", "dimension"
FOLDER = "vectors"
"""Key in the store's metadata: the folder of the vectors that serve."""
TARGET = "reindex"
"""Key in the store's metadata: the fingerprint that an unfinished reindex moves to, or empty."""
RETIRED = "retired_vectors"
"""Key in the store's metadata: since when vectors are retired that others may still read, as JSON by name."""
FIRST_FOLDER = "vectors"
_BATCH = 64

# Rows that may be left for the switch, while writers wait.
_FEW = 16
_MOST_ROUNDS = 20


def folder_name(fingerprint: str) -> str:
    """Return the folder that the vectors of an embedder are moved to."""
    return f"{FIRST_FOLDER}-{content_hash(fingerprint)[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexedVectors:
    """The result of a reindex.

    Attributes:
        chunks, entities: Rows that the new vectors hold.
        made: Rows made by this run.
        resumed: Rows that an earlier run had made.
    """

    chunks: int
    entities: int
    made: int
    resumed: int


def move(
    graph: GraphStore,
    vectors: VectorStore,
    embed: Embed,
    *,
    mirror: Mirror,
    switch: Callable[[], None],
    progress: Progress | None = None,
) -> ReindexedVectors:
    """Fill new vectors from the graph, and switch to them while there are no open writers.

    Args:
        graph: The authoritative store.
        vectors: The new vectors, which may already hold rows.
        mirror: Commits the writes of others meanwhile; their rows are copied too.
        switch: Puts the new vectors into service; called under the writer lock.
        progress: Called with rows done and rows to do.

    Raises:
        ModelError: The embedder failed; the old vectors go on serving.
        StorageError: A store failed; the same.
    """
    follower = Mirror(graph, lambda: vectors, embed, lambda write: None)

    def copy(chunks: Sequence[str], entities: Sequence[str], *, missed: bool) -> None:
        if missed:
            _fill(graph, vectors, follower, None)
        _catch_up(follower, chunks, entities)

    def finish() -> None:
        with mirror.one_writer:
            missed = written.missed
            copy(*written.take(), missed=missed)
            switch()

    with mirror.watching() as written:
        moved = _fill(graph, vectors, follower, progress)
        vectors.maintain(force=True)
        for _ in range(_MOST_ROUNDS):
            if len(written) <= _FEW and not written.missed:
                break
            with mirror.one_writer:  # no write is in progress: the ids taken are in the graph
                missed, taken = written.missed, written.take()
            copy(*taken, missed=missed)
        # Ctrl-C reaches the main thread alone: another thread completes the switch of store and process.
        with ThreadPoolExecutor(1, thread_name_prefix="hydramem-switch") as executor:
            executor.submit(finish).result()
    return moved


def _fill(
    graph: GraphStore, vectors: VectorStore, follower: Mirror, progress: Progress | None
) -> ReindexedVectors:
    found = compare_stores(graph, vectors)
    chunks, entities = found.chunks, found.entities
    of_entities = found.entities_in_vectors + len(entities.missing) - len(entities.orphaned)
    total = found.chunks_in_graph + of_entities
    resumed = total - sum(len(part.missing) + len(part.stale) for part in (chunks, entities))

    def report(done: int, _: int) -> None:
        if progress is not None:
            progress(min(total, resumed + done), total)

    report(0, total)
    made = rebuild(follower, vectors, chunks, entities, report, size=_BATCH)
    return ReindexedVectors(chunks=found.chunks_in_graph, entities=of_entities, made=made, resumed=resumed)


def _catch_up(follower: Mirror, chunks: Sequence[str], entities: Sequence[str]) -> None:
    for batch in batches(chunks, _BATCH):
        follower.refresh_chunks(batch)
    for batch in batches(entities, _BATCH):
        follower.refresh_entities(batch)
