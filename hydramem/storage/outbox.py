"""The mirror: every write is committed by the graph store and replicated to the vector store.

A write commits together with an outbox row that names the chunks and entities to replicate; the row is
deleted once the vector store has them. A process that dies in between leaves the row, and the next opening
replicates it. A deferred write is replicated with the next write or before the next search, many at once.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from hydramem.core.errors import (
    DiskFullError,
    HydraMemError,
    InvalidInputError,
    ReadOnlyError,
    StorageError,
)
from hydramem.core.row_types import Chunk, Entity
from hydramem.core.stages import stage
from hydramem.storage.bounded_graph import check_write
from hydramem.storage.changes import with_run
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import ChunkVector, EntityVector, Vector, VectorStore, indexed_text
from hydramem.storage.write import RequestRow, Write
from hydramem.storage.write_validation import batches
from hydramem.storage.writer_lock import Projects, ProjectsLock, WriterLock

log = logging.getLogger(__name__)
Embed = Callable[[Sequence[str]], Vector]
"""Turns texts into an array of shape (texts, dimension)."""
BATCH = 256


def worth_a_vector(mention_count: int) -> bool:
    """Say whether an entity's name is embedded; one that few chunks mention is found by their vectors.

    Names mentioned twice are as many as all that are mentioned more often: embedding them took 7 % of ingest.
    """
    return mention_count >= 3


class Written:
    """Ids of the rows written since the last `take`; only used under the writer lock.

    Attributes:
        missed: Whether another process wrote rows whose ids are not known.
    """

    def __init__(self) -> None:
        self._chunks: set[str] = set()
        self._entities: set[str] = set()
        self.missed = False

    def __len__(self) -> int:
        return len(self._chunks) + len(self._entities)

    def add(self, write: Write) -> None:
        """Note what a write is about to write."""
        self._chunks.update(chunk.id for chunk in write.chunks)
        self._chunks.update(write.removed.chunks)
        self._entities.update(entity.id for entity in write.entities)
        self._entities.update(write.removed.entities)
        self._chunks.update(write.embedded)

    def take(self) -> tuple[list[str], list[str]]:
        """Return the ids of chunks and entities, and forget them, and whether any were missed."""
        self.missed = False
        taken = sorted(self._chunks), sorted(self._entities)
        self._chunks.clear()
        self._entities.clear()
        return taken


class _Held(threading.local):
    """What a thread holds back: whether it does, and the write with its vectors."""

    wanted = False
    write: tuple[Write, Mapping[str, Vector]] | None = None


class Mirror:
    """The one way to write: the graph store commits, then the vector store follows.

    Args:
        graph: The authoritative store.
        vectors: The vector store; a callable, because a store can be open while its vectors are damaged.
        embed: Makes the vectors that a caller did not supply.
        committed: Called after each commit, in order, for other data derived from the graph.
        outcome_unknown: Called instead where the commit outcome is unknown: derived data is then checked.
    """

    def __init__(
        self,
        graph: GraphStore,
        vectors: Callable[[], VectorStore],
        embed: Embed,
        committed: Callable[[Write], None],
        outcome_unknown: Callable[[Write], None] = lambda write: None,
    ) -> None:
        self._graph = graph
        self._vectors = vectors
        self._embed = embed
        self._committed = committed
        self._outcome_unknown = outcome_unknown
        self._held = _Held()
        self._one_writer = WriterLock(self.commit_held, self._keep_others_out)
        self._catch_up_with_others: Callable[[], None] = lambda: None
        self._recorders: list[Written] = []
        # Whether the outbox may hold rows besides those of `_deferred`.
        self._behind = False
        # Writes that are to be replicated, by id of their outbox row.
        self._deferred: dict[str, Write] = {}
        # Whether a search must find one of them.
        self._needed_by_search = False
        # Whether the vector store may need upkeep. A write with jobs leaves it to them: they run later.
        self._needs_upkeep = False
        # Outbox rows that are replicated: the next write deletes them, which saves a transaction for each
        # write. A process that dies before that replicates them once more.
        self._replicated: tuple[str, ...] = ()
        self._writes = 0

    @property
    def writes(self) -> int:
        """How many writes there were: what was read is current as long as there are no more."""
        return self._writes

    @property
    def behind(self) -> bool:
        """Whether the vector store could not take all that it should have by now; it is tried again later."""
        return self._behind

    @property
    def is_replicated(self) -> bool:
        """Whether the vector store has all that was written."""
        return not (self._deferred or self._behind)

    @property
    def one_writer(self) -> WriterLock:
        """The writer lock; hold it where a write depends on what was just read."""
        return self._one_writer

    def follow(self, catch_up: Callable[[], None]) -> None:
        """Have a function called before each write, which follows the writes of other processes."""
        self._catch_up_with_others = catch_up

    def followed(self, write: Write | None) -> None:
        """Note that another process wrote: what was read may not be current. None: what, is not known."""
        for written in self._recorders:
            if write is None:
                written.missed = True
            else:
                written.add(write)
        self._writes += 1

    @contextmanager
    def _keep_others_out(self, projects: Projects) -> Iterator[None]:
        with self._graph.writing_alone(projects):
            self._catch_up_with_others()
            yield

    @property
    def is_watched(self) -> bool:
        """Whether the ids of what is written are collected."""
        return bool(self._recorders)

    @contextmanager
    def watching(self) -> Iterator[Written]:
        """Collect the ids of what is written while this lasts, by other processes too."""
        written = Written()
        with self._one_writer.of(()):
            self._recorders.append(written)
        try:
            yield written
        finally:
            with self._one_writer.of(()):
                self._recorders.remove(written)

    def commit(self, write: Write, vectors: Mapping[str, Vector] | None = None) -> None:
        """Commit a write and bring the vector store up to date with it.

        Args:
            vectors: Vectors by row id. A chunk without one keeps the vector it has, or is embedded here,
                or, where it is `pending`, has none until a later write says it is `embedded`.
                An entity with several mentions and without one here is taken to have one already.

        Where the vector store cannot take the write, or the embedder fails, the write stands all the same:
        the failure is logged, `behind` says so, and the next write or opening delivers it.

        Raises:
            InvalidInputError: The write is wrong; nothing is written.
            StorageError: The graph store refused; nothing is written.
        """
        check_write(write)
        if not write.verbatim:
            write = replace(write, changes=with_run(write.changes))
        self.commit_held()
        if self._held.wanted and not write.requests:
            self._one_writer.acquire(projects=self._projects_of(write))
            self._held.write = write, vectors or {}
            return
        with self.writing(write):
            self._store(write, vectors or {})
        self._maintain_after(write)

    def _projects_of(self, write: Write) -> Projects:
        """Return the projects that a write is for; where its rows do not say, those that this thread has."""
        projects = projects_written(write)
        return () if projects is None and self._one_writer.is_held_here else projects

    def writing(self, write: Write) -> ProjectsLock:
        """Return the writer lock for the projects of a write."""
        return self._one_writer.of(self._projects_of(write))

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold the last write of this thread back while this lasts, and the writer lock with it.

        `commit_held` commits it, with an answer that was not known before. It comes first where the thread
        commits again or takes the writer lock anew. What is held at the end is committed, also after an
        error. A write that has its `requests` is not held.
        """
        self._held.wanted = True
        try:
            yield
        finally:
            self._held.wanted = False
            self.commit_held()

    def commit_held(self, *requests: RequestRow) -> None:
        """Commit what this thread holds back, and the answers of requests in the same transaction.

        Raises:
            InvalidInputError, StorageError: As `commit`; the writer lock is free then, too.
        """
        held, self._held.write = self._held.write, None
        if held is None:
            if requests:
                with self._one_writer.of(()):
                    self._graph.write(Write(changes=(), requests=requests))  # no row that others read
            return
        write, vectors = held
        try:
            self._store(replace(write, requests=requests), vectors)
        finally:
            self._one_writer.release()
        self._maintain_after(write)

    def drop_requests(self, before: datetime) -> None:
        """Delete the answers of requests that were carried out before a moment."""
        with self._one_writer.of(()):
            self._graph.drop_requests(before)

    def _store(self, write: Write, vectors: Mapping[str, Vector]) -> None:
        """Commit a write and replicate it, unless it is deferred; the writer lock is held."""
        with stage("commit"):
            row = self._write(write, vectors)
        if row is not None:
            self._deferred[row] = write
            self._needed_by_search = self._needed_by_search or not write.gathered
        if row is not None and not write.deferred:
            with stage("replicate"):
                self._replicate_committed(vectors)
            self._needs_upkeep = True

    def _maintain_after(self, write: Write) -> None:
        # Without the writer lock: upkeep takes seconds.
        queued = any(job.state == "waiting" for job in write.jobs)
        if self._needs_upkeep and not (write.deferred or queued):
            self._maintain()

    def replicate_deferred(self) -> None:
        """Replicate deferred writes; a failure is logged."""
        if not self._deferred:
            return
        try:
            # An empty write lets the vector store load what it needs while others write.
            self._vectors().put()
            with self._one_writer.of(_projects_of_all(tuple(self._deferred.values()))):
                if self._deferred:
                    self._replicate({})
        except HydraMemError as error:
            log.warning("the vectors are behind until a later write or opening: %s", error)

    def replicate_for_search(self) -> None:
        """Replicate deferred writes before a search, where it must find one of them."""
        if self._needed_by_search:
            self.replicate_deferred()

    def tidy(self) -> None:
        """Delete replicated rows of the outbox now, instead of with the next write."""
        with self._one_writer.of(()):
            if self._replicated:
                self._graph.clear_outbox(self._replicated)
                self._replicated = ()

    def close(self) -> None:
        """Replicate all writes; a failure is logged, and the next opening replicates the rest."""
        self.replicate_deferred()
        if self._needs_upkeep:
            self._maintain()
        try:
            self.tidy()
        except StorageError as error:
            log.warning("%s", error)

    def _write(self, write: Write, vectors: Mapping[str, Vector]) -> str | None:
        for written in self._recorders:
            written.add(write)  # before it is tried: a write that fails may have happened
        try:
            row = self._write_rows(write, vectors)
            self._replicated = ()
            self._committed(write)
        except (InvalidInputError, DiskFullError, ReadOnlyError):
            raise  # refused, and nothing is written
        except BaseException:
            self._behind = True
            self._outcome_unknown(write)
            raise
        finally:
            self._writes += 1  # once others can see it, not before
        return row

    def _write_rows(self, write: Write, vectors: Mapping[str, Vector]) -> str | None:
        """Commit rows, with their vectors where one database has both; return the outbox row that is left."""
        whole = replace(write, replicated=self._replicated) if self._replicated else write
        if write.deferred or self._deferred or self._behind or not self._graph.has_vectors:
            return self._graph.write(whole)

        def put_vectors() -> None:
            with stage("replicate"):
                self._put_vectors([write], vectors)
            self._needs_upkeep = True

        row, error = self._graph.write_with(whole, put_vectors, last=self._one_writer.is_outermost)
        if error is not None:
            log.warning("the vectors are tried again after the write: %s", error)
        return row

    def _replicate_committed(self, vectors: Mapping[str, Vector]) -> None:
        """Replicate writes that the graph store has; a failure is logged: they were stored."""
        try:
            self._replicate(vectors)
        except HydraMemError as error:
            log.warning("stored, but the vectors are behind until a later write or opening: %s", error)

    def _replicate(self, vectors: Mapping[str, Vector]) -> None:
        if self._behind:
            self.catch_up(vectors)
        writes, self._deferred, self._needed_by_search = self._deferred, {}, False
        if not writes:
            return
        try:
            self._put_vectors(list(writes.values()), vectors)
            self._replicated = (*self._replicated, *writes)
        except BaseException:
            self._behind = True
            raise

    def _put_vectors(self, writes: Sequence[Write], vectors: Mapping[str, Vector]) -> None:
        """Bring the vector store up to date with writes, in their order."""
        store = self._vectors()
        entities = {row.id: row for write in writes for row in write.entities}
        vectors = {**vectors, **self._missing_entity_vectors(writes, vectors)}
        store.put(
            self._with_vectors(self._chunks_of(writes), vectors),
            [
                EntityVector(entity=entity, vector=vectors[entity.id])
                for entity in entities.values()
                if entity.id in vectors and worth_a_vector(entity.mention_count)
            ],
        )
        _remove(store, writes, unworthy=_unworthy(entities.values()))

    def _missing_entity_vectors(
        self, writes: Iterable[Write], given: Mapping[str, Vector]
    ) -> Mapping[str, Vector]:
        """Make the vectors of entities that became worth one by deferred writes."""
        names = {
            row.id: row.name
            for write in writes
            if write.deferred
            for row in write.entities
            if worth_a_vector(row.mention_count) and row.id not in given
        }
        held = self._vectors().entity_vectors(list(names)) if names else {}
        return self.embed_by_id({id: name for id, name in names.items() if id not in held})

    def _chunks_of(self, writes: Iterable[Write]) -> tuple[Chunk, ...]:
        """Return the chunks that some writes concern, each as the last of them left it."""
        rows: dict[str, Chunk] = {}
        embedded: dict[str, None] = {}
        for write in writes:
            rows.update((row.id, row) for row in write.chunks)
            embedded.update(dict.fromkeys(write.embedded))
        rows.update((row.id, row) for row in self._graph.chunks(list(embedded)))
        return tuple(rows.values())

    def maintain_after_bulk(self) -> None:
        """Prepare the vector store for searches after a bulk of writes."""
        with self._one_writer.of(()):
            self._maintain(after_bulk=True)

    def _maintain(self, *, after_bulk: bool = False) -> None:
        self._needs_upkeep = False
        try:
            self._vectors().maintain(after_bulk=after_bulk)
        except StorageError as error:
            # The write itself is done; the next upkeep tries again.
            log.warning("%s", error)

    def catch_up(self, vectors: Mapping[str, Vector] | None = None) -> None:
        """Replicate pending outbox rows; a failure is logged, and they stay in the outbox."""
        try:
            self.drain(vectors)
        except HydraMemError as error:
            self._behind = True
            log.warning("the vectors are behind until a later write or opening: %s", error)

    def drain(self, vectors: Mapping[str, Vector] | None = None) -> int:
        """Replicate every row of the outbox; return how many rows of the vector store that concerned.

        Args:
            vectors: Vectors by row id that need not be made.
        """
        with self._one_writer:
            self.tidy()
            rows = self._graph.outbox()
            chunks = list(dict.fromkeys(id for row in rows for id in row.chunks))
            entities = list(dict.fromkeys(id for row in rows for id in row.entities))
            for batch in batches(chunks, BATCH):
                self.refresh_chunks(batch, vectors)
            for batch in batches(entities, BATCH):
                self.refresh_entities(batch, vectors)
            self._graph.clear_outbox([row.id for row in rows])
            self._deferred, self._needed_by_search = {}, False
            self._behind = False
            return len(chunks) + len(entities)

    def refresh_chunks(self, ids: Sequence[str], vectors: Mapping[str, Vector] | None = None) -> None:
        """Copy these chunks from the graph to the vector store; delete those that the graph lacks."""
        chunks = self._graph.chunks(ids)
        store = self._vectors()
        # Not the stored vector: it may be of the text before the write that was not replicated.
        known = self._vectors_of(
            {row.id: indexed_text(row) for row in chunks if _wants_vector(row)}, vectors or {}
        )
        store.put([ChunkVector(chunk=chunk, vector=known.get(chunk.id)) for chunk in chunks])
        store.remove(chunks=sorted(set(ids) - {chunk.id for chunk in chunks}))

    def refresh_entities(self, ids: Sequence[str], vectors: Mapping[str, Vector] | None = None) -> None:
        """Copy these entities from the graph to the vector store; delete those not worth a vector."""
        entities = self._graph.entities(ids)
        store = self._vectors()
        names = {row.id: row.name for row in entities if worth_a_vector(row.mention_count)}
        known = self._vectors_of(names, vectors or {})
        held = [EntityVector(entity=row, vector=known[row.id]) for row in entities if row.id in known]
        store.put(entities=held)
        store.remove(entities=sorted(set(ids) - known.keys()))

    def _with_vectors(self, chunks: Sequence[Chunk], given: Mapping[str, Vector]) -> list[ChunkVector]:
        """Pair chunks with vectors: given, stored or made now; none where a job makes it later."""
        rest = [chunk for chunk in chunks if chunk.id not in given and _wants_vector(chunk)]
        held = self._vectors().vectors([chunk.id for chunk in rest]) if rest else {}
        made = self.embed_by_id({chunk.id: indexed_text(chunk) for chunk in rest if chunk.id not in held})
        known = {**held, **made, **given}
        return [ChunkVector(chunk=chunk, vector=known.get(chunk.id)) for chunk in chunks]

    def _vectors_of(self, texts: Mapping[str, str], given: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the vectors of texts by id of their row: given, or made now."""
        made = self.embed_by_id({id: text for id, text in texts.items() if id not in given})
        return {**made, **{id: given[id] for id in texts if id in given}}

    def embed_by_id(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Embed texts by the id of their row."""
        return dict(zip(texts, self._embed(list(texts.values())), strict=True)) if texts else {}


def projects_written(write: Write) -> Projects:
    """Return the projects of a write's rows; None where it has rows that do not say."""
    rows = (
        *(write.changes, write.documents, write.chunks, write.entities, write.relations),
        *(write.sessions, write.items, write.jobs),
    )
    if write.verbatim or not any(rows):
        return None
    return sorted({row.project for part in rows for row in part})


def _projects_of_all(writes: Iterable[Write]) -> Projects:
    """Return the projects of the rows of several writes; None where one has rows that do not say."""
    named = [projects_written(write) for write in writes]
    return None if None in named else sorted({project for some in named for project in some or ()})


def _wants_vector(chunk: Chunk) -> bool:
    """Say whether a chunk must have its vector now; a job makes that of another."""
    return chunk.vector_state == "ready"


def _unworthy(entities: Iterable[Entity]) -> set[str]:
    """Return the ids of the entities that are not worth a vector; the vector store may hold some."""
    return {row.id for row in entities if not worth_a_vector(row.mention_count)}


def _remove(store: VectorStore, writes: Iterable[Write], *, unworthy: set[str]) -> None:
    """Delete from the vector store what writes removed, and no later one of them wrote again.

    Args:
        store, writes: Where from, and the writes in their order.
        unworthy: Entities that the writes left without a claim to a vector.
    """
    chunks: set[str] = set()
    entities: set[str] = set()
    for write in writes:
        chunks = (chunks | set(write.removed.chunks)) - {row.id for row in write.chunks}
        entities = (entities | set(write.removed.entities)) - {row.id for row in write.entities}
    entities |= unworthy
    if chunks or entities:
        store.remove(chunks=sorted(chunks), entities=sorted(entities))
