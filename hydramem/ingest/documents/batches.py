"""Storing what ingest prepared: works are gathered into batches, and each batch is one commit.

While a batch is woven and committed, the model embeds the next one; commits keep the order of the works.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType

from hydramem.core.config import IngestConfig
from hydramem.core.row_types import Change, Chunk, Document, Entity, Job, Relation, Usage, VectorState
from hydramem.core.time import now
from hydramem.ingest.documents.embed_ahead import EmbeddingAhead, Vectors
from hydramem.ingest.documents.source_rows import ChunkDifference, SourceRows, unfinished
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.knowledge.graph_rows import (
    GraphRows,
    JudgedRelationRows,
    ResolvedClaim,
    graph_rows,
    relate,
)
from hydramem.ingest.knowledge.support import document_chunks, moved_relation, unsupported
from hydramem.ingest.pending_jobs import REREAD, embed_jobs
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.jobs import job
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

# A document with more chunks than so many batches is stored over several commits.
_BATCHES_IN_ONE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A source to store.

    Attributes:
        draft: Its rows.
        document: Its row as stored; None where it is new.
        difference: What changes.
        found: What its new chunks name and state, by chunk id.
        stored: Ids of its chunks that the store has, of every state.
        at: When it was compared with the store.
    """

    draft: SourceRows
    document: Document | None
    difference: ChunkDifference
    found: Mapping[str, Found]
    stored: frozenset[str]
    at: datetime


@dataclass(slots=True)
class StoredCounts:
    """What was stored so far, and what a model that read it cost."""

    documents: int = 0
    chunks: int = 0
    retired: int = 0
    entities: int = 0
    relations: int = 0
    quarantined: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True, kw_only=True)
class DocumentBatches:
    """Gathers works and commits them; holds what one run of ingest needs throughout.

    Attributes:
        wait: Whether vectors are made before a work is committed; else jobs that go with it make them.
        reread: Whether a model is to read each document later, by a job.
    """

    target: Target
    settings: IngestConfig
    wait: bool = True
    reread: bool = False
    counts: StoredCounts = field(default_factory=StoredCounts)
    _waiting: list[Work] = field(default_factory=list)
    _gathered: int = 0
    _owners: dict[str, str] = field(default_factory=dict)
    _begun: tuple[Sequence[Work], Future[Vectors]] | None = None
    _ahead: EmbeddingAhead = field(init=False)

    def __post_init__(self) -> None:
        self._ahead = EmbeddingAhead(self.target.embed_by_id)

    def __enter__(self) -> "DocumentBatches":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ahead.__exit__(kind, error, trace)

    def owner_of(self, session: str) -> str | None:
        """Return the document that wrote a session; empty where none did, None where there is no session."""
        if session in self._owners:
            return self._owners[session]
        rows = self.target.graph.sessions([session])
        return str(rows[0].metadata.get("document", "")) if rows else None

    def add(self, work: Work) -> None:
        """Take a work; where a batch is full, have it embedded and commit the one before."""
        for session in work.draft.sessions:
            self._owners[session.id] = work.draft.document.id
        if self._begun is not None and self._begun[1].done():
            self._finish_begun()  # what is ready waits for nothing: an interruption would lose it
        size = len(work.difference.write)
        if size > self.settings.batch_chunks * _BATCHES_IN_ONE:
            self.flush()
            self._store_ahead(work)
            return
        if self._gathered and self._gathered + size > self.settings.batch_chunks:
            self._begin()
        self._waiting.append(work)
        self._gathered += size

    def flush(self) -> None:
        """Commit what was gathered."""
        self._begin()
        self._finish_begun()

    def _begin(self) -> None:
        """Have what was gathered embedded; meanwhile, commit the batch before it."""
        if self._waiting:
            works, self._waiting, self._gathered = self._waiting, [], 0
            started = self._ahead.start(
                [row for work in works for row in self._embedded_here(work, work.difference.write)]
            )
            self._finish_begun()
            self._begun = works, started

    def _finish_begun(self) -> None:
        if self._begun is not None:
            (works, started), self._begun = self._begun, None
            self._store(works, started.result())

    def _store(self, works: Sequence[Work], vectors: Vectors) -> None:
        # The model has worked before the writer lock is taken: others write meanwhile.
        with self.target.one_writer:
            at = now()
            works = [self._current(work) for work in works]
            found = [item for work in works for item in work.found.items()]
            retired = [row.id for work in works for row in work.difference.retire]
            counted = [id for work in works for id in work.difference.read - work.difference.fresh]
            woven = self._weave(found, at, counted=counted, retired=retired)
            self._finish(
                works, woven.entities, woven, woven.stated, {**vectors, **self._entity_vectors(woven)}, at
            )

    def _current(self, work: Work) -> Work:
        """Leave out chunks that were forgotten since the work was prepared."""
        if work.document is None:
            return work
        chunks = document_chunks(work.document.id, self.target.graph)
        forgotten = {row.id for row in chunks if row.times.retired_at and row.times.retired_at > work.at}
        if not forgotten:
            return work
        found = {id: each for id, each in work.found.items() if id not in forgotten}
        return replace(work, difference=work.difference.without(forgotten), found=found)

    def _weave(
        self,
        found: Sequence[tuple[str, Found]],
        at: datetime,
        *,
        counted: Sequence[str],
        retired: Sequence[str] = (),
    ) -> GraphRows:
        return graph_rows(found, target=self.target, at=at, counted=counted, retired=retired)

    def _finish(
        self,
        works: Sequence[Work],
        entities: Sequence[Entity],
        woven: GraphRows,
        stated: Sequence[ResolvedClaim],
        vectors: Vectors,
        at: datetime,
    ) -> None:
        """Commit works as wholes: documents, active chunks, relations and what is retired."""
        related = relate(
            stated,
            target=self.target,
            before=woven.before,
            at=at,
            chunks={row.id: row for work in works for row in work.draft.chunks},
            entities=entities,
        )
        retired = [row.id for work in works for row in work.difference.retire]
        relations = related.kept
        stated_again = {relation.id for relation in relations}
        lost = [
            moved_relation(relation, "archived", at)
            for relation in (unsupported(retired, self.target.graph) if retired else ())
            if relation.id not in stated_again
        ]
        write = Write(
            changes=(
                *(_change(work, related, lost) for work in works),
                *(each.change("ingest") for each in related.refused),
            ),
            documents=tuple(_document(work, at) for work in works),
            sessions=tuple(session for work in works for session in work.draft.sessions),
            chunks=tuple(row for work in works for row in self._chunks(work)),
            entities=tuple(entities),
            mentions=woven.mentions,
            relations=(*relations, *lost),
            jobs=tuple(job for work in works for job in self._jobs(work)),
            deferred=not self.wait,
        )
        self.target.commit(write, vectors)
        self._count(works, entities, woven, relations)

    def _count(
        self,
        works: Sequence[Work],
        entities: Sequence[Entity],
        woven: GraphRows,
        relations: Sequence[Relation],
    ) -> None:
        self.counts.documents += len(works)
        self.counts.chunks += sum(len(work.difference.read) for work in works)
        held = [row for work in works for row in work.difference.write if row.state == "quarantined"]
        self.counts.quarantined += len(held)
        self.counts.retired += sum(len(work.difference.retire) for work in works)
        self.counts.entities += sum(1 for entity in entities if entity.id not in woven.before)
        self.counts.relations += sum(1 for relation in relations if relation.times.recorded_at >= woven.at)

    def _store_ahead(self, work: Work) -> None:
        """Store a large document: its chunks first, out of use, then all of it at once."""
        before: dict[str, int] = {}
        stated: list[ResolvedClaim] = []
        vectors: dict[str, Vector] = {}
        parts = (
            (rows, self._embedded_here(work, rows))
            for rows in _batches(work.difference.write, self.settings.batch_chunks)
        )
        for rows, part in self._ahead.each(parts):
            found = [(row.id, work.found[row.id]) for row in rows if row.id in work.found]
            counted = [id for id, _ in found if id not in work.difference.fresh]
            with self.target.one_writer:
                at = now()
                woven = self._weave(found, at, counted=counted)
                ahead = replace(_ahead(work, self._states(work, rows), woven, at), deferred=not self.wait)
                self.target.commit(ahead, {**part, **self._entity_vectors(woven)})
            self.counts.entities += sum(1 for entity in woven.entities if entity.id not in woven.before)
            before |= dict.fromkeys((entity.id for entity in woven.entities), 1) | woven.before
            stated.extend(woven.stated)
            vectors |= part
        with self.target.one_writer:
            at = now()
            woven = self._weave((), at, counted=(), retired=[row.id for row in work.difference.retire])
            closing = replace(woven, before=before | woven.before)
            self._finish([work], woven.entities, closing, stated, vectors, at)

    def _entity_vectors(self, woven: GraphRows) -> dict[str, Vector]:
        """Embed the entities that this write makes worth a vector, unless that can wait."""
        if not self.wait:
            return {}
        return self.target.embed_by_id({row.id: row.name for row in woven.crossing(worth_a_vector)})

    def _embedded_here(self, work: Work, rows: Sequence[Chunk]) -> list[Chunk]:
        """Return those of a work's rows that need a vector before they are committed."""
        return [row for row in rows if row.id in work.difference.embed] if self.wait else []

    def _states(self, work: Work, rows: Sequence[Chunk]) -> list[Chunk]:
        """Return a work's rows with the state that their vectors will have."""
        made: VectorState = "ready" if self.wait else "pending"
        return [replace(row, vector_state=made) if row.id in work.difference.embed else row for row in rows]

    def _chunks(self, work: Work) -> list[Chunk]:
        """Return a work's rows as its last commit stores them."""
        return [*self._states(work, work.difference.write), *work.difference.retire]

    def _jobs(self, work: Work) -> list[Job]:
        """Return what a work leaves for later."""
        project = work.draft.document.project
        asked = [job(REREAD, project=project, document=work.draft.document.id)] if self.reread else []
        if self.wait:
            return asked
        waiting = [row for row in work.difference.write if row.id in work.difference.embed]
        return [*embed_jobs(waiting, project=project), *asked]


def _batches(rows: Sequence[Chunk], size: int) -> Iterator[Sequence[Chunk]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _ahead(work: Work, rows: Sequence[Chunk], woven: GraphRows, at: datetime) -> Write:
    """Build the write of a part of a large document: new chunks out of use; what is stored stays as it is."""
    new = [row for row in rows if row.id not in work.stored]
    document = replace(work.draft.document, content_hash="", state="archived")
    held = {row.id for row in new} | work.stored
    return Write(
        changes=(
            record(
                "ingest",
                project=document.project,
                target=document.id,
                after={"unfinished": True, "chunks": [row.id for row in new]},
            ),
        ),
        documents=() if work.document is not None else (document,),
        sessions=tuple(work.draft.sessions),
        chunks=tuple(unfinished(row, at) for row in new),
        entities=woven.entities,
        mentions=tuple(mention for mention in woven.mentions if mention.chunk in held),
    )


def _document(work: Work, at: datetime) -> Document:
    """Return the document's row as it becomes; it was first recorded when it was first stored."""
    document = work.draft.document
    if work.document is None:
        return document
    return replace(document, times=replace(work.document.times, retired_at=None))


def _change(work: Work, related: JudgedRelationRows, lost: Sequence[Relation]) -> Change:
    """Summarise what one document's storing did, by the ids of its rows."""
    document, difference = work.draft.document, work.difference
    own = {row.id for row in (*difference.write, *difference.retire)}
    before = None
    if work.document is not None:
        before = {
            "content_hash": work.document.content_hash,
            "state": work.document.state,
            "chunks_retired": [row.id for row in difference.retire],
            "relations_retired": [row.id for row in lost if not own.isdisjoint(row.evidence)],
        }
    after = {
        "content_hash": document.content_hash,
        "source": document.source,
        "chunks": [row.id for row in difference.write],
        "relations": [row.id for row in related.kept if not own.isdisjoint(row.evidence)],
        "relations_refused": [
            each.relation.id for each in related.refused if not own.isdisjoint(each.relation.evidence)
        ],
    }
    return record("ingest", project=document.project, target=document.id, before=before, after=after)
