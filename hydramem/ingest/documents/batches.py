"""Stores what ingest prepared: works are gathered into batches, and each batch is one commit.

While one batch is resolved and committed, the model embeds the next one; commits keep the order of the works.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from hydramem.core.config import IngestConfig
from hydramem.core.results.write_results import Ingested
from hydramem.core.row_types import Change, Chunk, Document, Job, Relation, VectorState
from hydramem.core.time import now
from hydramem.ingest.documents.embed_ahead import EmbeddingAhead, Vectors
from hydramem.ingest.documents.source_rows import UNFINISHED, Work
from hydramem.ingest.knowledge.graph_rows import (
    GraphRows,
    JudgedRelationRows,
    ResolvedClaim,
    graph_rows,
    relate,
    relation_change,
)
from hydramem.ingest.knowledge.support import ONE_SOURCE_LEFT, document_chunks, in_state, lowered, unsupported
from hydramem.ingest.pending_jobs import REREAD, embed_jobs
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.jobs import job
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

# A document with more chunks than so many batches is stored over several commits.
_BATCHES_IN_ONE = 4


@dataclass(slots=True, kw_only=True)
class DocumentBatches:
    """Gathers works and commits them in batches.

    Attributes:
        wait: Whether vectors are made before a work is committed; else jobs make them later.
        reread: Whether a model reads each document later, by a job.
        done: What is stored so far, and what a model that read it cost.
    """

    target: Target
    settings: IngestConfig
    wait: bool = True
    reread: bool = False
    done: Ingested = field(default_factory=Ingested)
    _waiting: list[Work] = field(default_factory=list)
    _gathered: int = 0
    _owners: dict[str, str] = field(default_factory=dict)
    _begun: tuple[Sequence[Work], Future[Vectors]] | None = None
    _ahead: EmbeddingAhead = field(init=False)

    def __post_init__(self) -> None:
        self._ahead = EmbeddingAhead(self.target.embed_by_id)

    def __enter__(self) -> "DocumentBatches":
        return self

    def __exit__(self, *raised: object) -> None:
        self._ahead.__exit__(*raised)

    def owner_of(self, session: str) -> str | None:
        """Return the document that wrote a session; empty where none did, None where there is no session."""
        if session in self._owners:
            return self._owners[session]
        rows = self.target.graph.sessions([session])
        return str(rows[0].metadata.get("document", "")) if rows else None

    def add(self, work: Work) -> None:
        """Add a work; where a batch is full, start to embed it and commit the one before."""
        for session in work.rows.sessions:
            self._owners[session.id] = work.rows.document.id
        if self._begun is not None and self._begun[1].done():
            self._finish_begun()  # at once: an interruption would lose it
        size = len(work.difference.write)
        if size > self.settings.batch_chunks * _BATCHES_IN_ONE:
            self.flush()
            self._store_in_parts(work)
            return
        if self._gathered and self._gathered + size > self.settings.batch_chunks:
            self._begin()
        self._waiting.append(work)
        self._gathered += size

    @property
    def unstored(self) -> int:
        """The number of works that were added and are not committed yet."""
        return len(self._waiting) + (0 if self._begun is None else len(self._begun[0]))

    def flush(self) -> None:
        """Commit all that is gathered."""
        self._begin()
        self._finish_begun()

    def _begin(self) -> None:
        """Start to embed what is gathered; meanwhile, commit the batch before it."""
        if self._waiting:
            works, self._waiting, self._gathered = self._waiting, [], 0
            started = self._ahead.start(
                [row for work in works for row in self._to_embed_now(work, work.difference.write)]
            )
            self._finish_begun()
            self._begun = works, started

    def _finish_begun(self) -> None:
        if self._begun is not None:
            (works, started), self._begun = self._begun, None
            self._store(works, started.result())

    def _store(self, works: Sequence[Work], vectors: Vectors) -> None:
        """Store whole works; the vectors are made before the writer lock is taken, so others can write."""
        with self.target.one_writer:
            at = now()
            works = [self._without_forgotten(work) for work in works]
            rows = graph_rows(
                [item for work in works for item in work.found.items()],
                target=self.target,
                at=at,
                counted=[id for work in works for id in work.difference.read - work.difference.fresh],
                retired=[row.id for work in works for row in work.difference.retire],
            )
            self._commit(works, rows, {**vectors, **self._entity_vectors(rows)})

    def _without_forgotten(self, work: Work) -> Work:
        """Leave out chunks that were forgotten since the work was prepared."""
        if work.document is None:
            return work
        chunks = document_chunks(work.document.id, self.target.graph)
        forgotten = {row.id for row in chunks if row.times.retired_at and row.times.retired_at > work.at}
        if not forgotten:
            return work
        found = {id: each for id, each in work.found.items() if id not in forgotten}
        return replace(work, difference=work.difference.without(forgotten), found=found)

    def _store_in_parts(self, work: Work) -> None:
        """Store a large document: its chunks first, unfinished, then all of it in one commit."""
        before: dict[str, int] = {}
        stated: list[ResolvedClaim] = []
        vectors: dict[str, Vector] = {}
        parts = (
            (rows, self._to_embed_now(work, rows))
            for rows in batches(work.difference.write, self.settings.batch_chunks)
        )
        for chunks, made in self._ahead.each(parts):
            found = [(row.id, work.found[row.id]) for row in chunks if row.id in work.found]
            counted = [id for id, _ in found if id not in work.difference.fresh]
            with self.target.one_writer:
                at = now()
                rows = graph_rows(found, target=self.target, at=at, counted=counted)
                write = _unfinished_part(work, self._with_vector_state(work, chunks), rows)
                write = replace(write, deferred=not self.wait)
                self.target.commit(write, {**made, **self._entity_vectors(rows)})
            self.done = replace(self.done, entities=self.done.entities + rows.created)
            before |= dict.fromkeys((entity.id for entity in rows.entities), 1) | rows.before
            stated.extend(rows.stated)
            vectors |= made
        with self.target.one_writer:
            retired = [row.id for row in work.difference.retire]
            rows = graph_rows((), target=self.target, at=now(), retired=retired)
            self._commit([work], replace(rows, stated=tuple(stated), before=before | rows.before), vectors)

    def _commit(self, works: Sequence[Work], rows: GraphRows, vectors: Vectors) -> None:
        """Commit works as wholes: documents, active chunks, relations and what is retired."""
        chunks = {row.id: row for work in works for row in work.rows.chunks}
        related = relate(rows, target=self.target, chunks=chunks)
        retired = [row.id for work in works for row in work.difference.retire]
        stated_again = {relation.id for relation in related.kept}
        lost = [
            in_state(relation, "archived", rows.at)
            for relation in (unsupported(retired, self.target.graph) if retired else ())
            if relation.id not in stated_again
        ]
        fallen = [
            pair
            for pair in (lowered(retired, self.target.graph) if retired else ())
            if pair[0].id not in stated_again
        ]
        write = Write(
            changes=(
                *(_change(work, related, lost) for work in works),
                *(relation_change("ingest", *pair, ONE_SOURCE_LEFT) for pair in fallen),
                *(each.change("ingest") for each in related.refused),
            ),
            documents=tuple(_document(work) for work in works),
            sessions=tuple(session for work in works for session in work.rows.sessions),
            chunks=tuple(
                row
                for work in works
                for row in (*self._with_vector_state(work, work.difference.write), *work.difference.retire)
            ),
            entities=rows.entities,
            mentions=rows.mentions,
            relations=(*related.kept, *lost, *(after for _, after in fallen)),
            jobs=tuple(job for work in works for job in self._jobs(work)),
            deferred=not self.wait,
        )
        self.target.commit(write, vectors)
        self._count(works, rows, related.kept)

    def _count(self, works: Sequence[Work], rows: GraphRows, relations: Sequence[Relation]) -> None:
        done, differences = self.done, [work.difference for work in works]
        quarantined = sum(row.state == "quarantined" for each in differences for row in each.write)
        self.done = replace(
            done,
            documents=done.documents + len(works),
            chunks=done.chunks + sum(len(each.read) for each in differences),
            quarantined=done.quarantined + quarantined,
            retired_chunks=done.retired_chunks + sum(len(each.retire) for each in differences),
            entities=done.entities + rows.created,
            relations=done.relations + sum(row.times.recorded_at >= rows.at for row in relations),
        )

    def _entity_vectors(self, rows: GraphRows) -> dict[str, Vector]:
        """Embed the entities that this write makes worth a vector, unless that can wait."""
        return self.target.embed_by_id(rows.names_to_embed) if self.wait else {}

    def _to_embed_now(self, work: Work, rows: Sequence[Chunk]) -> list[Chunk]:
        """Return those of a work's rows that need a vector before they are committed."""
        return [row for row in rows if row.id in work.difference.embed] if self.wait else []

    def _with_vector_state(self, work: Work, rows: Sequence[Chunk]) -> list[Chunk]:
        """Return a work's rows with the state that their vectors will have."""
        made: VectorState = "ready" if self.wait else "pending"
        return [replace(row, vector_state=made) if row.id in work.difference.embed else row for row in rows]

    def _jobs(self, work: Work) -> list[Job]:
        """Return the jobs that follow a work."""
        document = work.rows.document
        jobs = [job(REREAD, project=document.project, document=document.id)] if self.reread else []
        if not self.wait:
            waiting = [row for row in work.difference.write if row.id in work.difference.embed]
            jobs = [*embed_jobs(waiting, project=document.project), *jobs]
        return jobs


def _unfinished_part(work: Work, chunks: Sequence[Chunk], rows: GraphRows) -> Write:
    """Build the write of a part of a large document: new chunks, archived; stored ones stay as they are."""
    new = [row for row in chunks if row.id not in work.stored]
    document = replace(work.rows.document, content_hash="", state="archived")
    held = {row.id for row in new} | work.stored
    after = {"unfinished": True, "chunks": [row.id for row in new]}
    return Write(
        changes=(record("ingest", project=document.project, target=document.id, after=after),),
        documents=() if work.document is not None else (document,),
        sessions=tuple(work.rows.sessions),
        chunks=tuple(
            in_state(replace(row, metadata={**row.metadata, UNFINISHED: True}), "archived", rows.at)
            for row in new
        ),
        entities=rows.entities,
        mentions=tuple(mention for mention in rows.mentions if mention.chunk in held),
    )


def _document(work: Work) -> Document:
    """Return the document's row as it becomes; it was first recorded when it was first stored."""
    document = work.rows.document
    if work.document is None:
        return document
    return replace(document, times=replace(work.document.times, retired_at=None))


def _change(work: Work, related: JudgedRelationRows, lost: Sequence[Relation]) -> Change:
    """Record what storing one document did, by the ids of its rows."""
    document, difference = work.rows.document, work.difference
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
