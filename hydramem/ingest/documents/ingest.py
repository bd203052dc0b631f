"""Ingest: read, chunk, extract, resolve, accept, embed and store, in batches of whole documents.

A document is in one commit. One too large for that is written ahead, its chunks archived and marked as
unfinished, and becomes active as a whole in its last commit; a run that dies before leaves nothing to be
recalled, and the next run finds the chunks there and embeds none of them again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from hydramem.core.config import IngestConfig
from hydramem.core.ids import document_id
from hydramem.core.results.write_results import Ingested, SkippedSource
from hydramem.core.row_types import Session, Usage
from hydramem.core.time import now
from hydramem.ingest.documents.batches import DocumentBatches, Work
from hydramem.ingest.documents.read import Raw, find, load, parse
from hydramem.ingest.documents.source_rows import ChunkDifference, SourceRows, compare, draft
from hydramem.ingest.extraction.extract import extract
from hydramem.ingest.extraction.extraction_prompt import enrich
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.store import GraphStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an ingest is: sources done of how many, and the one just done."""

    done: int
    total: int
    what: str


def ingest(
    sources: Sequence[str | Path],
    *,
    target: Target,
    settings: IngestConfig,
    generator: Generator | None = None,
    wait: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Ingested:
    """Store documents and transcripts; what is unchanged costs nothing, what cannot be read is skipped.

    Args:
        sources: Files and folders.
        target: Where to store.
        settings: Sizes of chunks and batches.
        generator: Extracts beside the rules where there is one.
        wait: Whether vectors are made, and the generator reads, before this returns; else jobs do that.
        progress: Called after each source.

    Raises:
        InvalidInputError: A path does not exist; nothing is written.
    """
    started = perf_counter()
    found = find(sources)
    skipped: list[SkippedSource] = []
    unchanged = 0
    reader = generator if wait else None
    reread = generator is not None and not wait
    with DocumentBatches(target=target, settings=settings, wait=wait, reread=reread) as storing:
        for done, source in enumerate(found, 1):
            work = source if isinstance(source, SkippedSource) else _prepare(source, storing, reader)
            if isinstance(work, SkippedSource):
                skipped.append(work)
            elif work is None:
                unchanged += 1
            else:
                storing.add(work)
            if progress is not None:
                what = source.source if isinstance(source, SkippedSource) else source.name
                progress(Progress(done=done, total=len(found), what=what))
        storing.flush()
    counts = storing.counts
    return Ingested(
        documents=counts.documents,
        unchanged=unchanged,
        chunks=counts.chunks,
        retired_chunks=counts.retired,
        entities=counts.entities,
        relations=counts.relations,
        quarantined=counts.quarantined,
        skipped=tuple(skipped),
        pending=_pending(counts.documents, wait, reread),
        seconds=perf_counter() - started,
        usage=counts.usage,
    )


def _pending(documents: int, wait: bool, reread: bool) -> tuple[str, ...]:
    if wait or not documents:
        return ()
    return ("embed", "extract") if reread else ("embed",)


def _prepare(
    path: Path, storing: DocumentBatches, generator: Generator | None
) -> Work | SkippedSource | None:
    """Read one source and compare it with what is stored of it; None where it is unchanged."""
    raw = load(path, max_bytes=storing.settings.max_file_mb * 2**20)
    if isinstance(raw, SkippedSource):
        return raw
    target = storing.target
    id = document_id(target.project, raw.source)
    document = next(iter(target.graph.documents([id])), None)
    if document is not None and document.state == "active" and document.content_hash == raw.content_hash:
        return None
    return _compared(raw, id, storing, generator)


def _compared(
    raw: Raw, id: str, storing: DocumentBatches, generator: Generator | None
) -> Work | SkippedSource:
    at, target = now(), storing.target
    document = next(iter(target.graph.documents([id])), None)
    drafted = draft(
        parse(raw), project=target.project, settings=storing.settings, owner=storing.owner_of, at=at
    )
    drafted.sessions = _with_what_was_learned(drafted.sessions, target.graph)
    stored = {row.id: row for row in document_chunks(id, target.graph)} if document is not None else {}
    if not drafted.chunks and not stored:
        return SkippedSource(source=raw.source, reason="empty")
    difference = compare(drafted.chunks, stored, document, at)
    # Stored, revived or not: nothing is made of a turn that gives orders unless a person has read it.
    held_back = {row.id for row in difference.write if row.state == "quarantined"}
    names = extract(drafted.passages(), title=drafted.title)
    found = {
        row.id: each
        for row, each in zip(drafted.chunks, names, strict=True)
        if row.id in difference.read and row.id not in held_back
    }
    if generator is not None and found:
        texts = {row.id: row.text for row in drafted.chunks if row.id in found}
        enriched = enrich(found, texts, generator=generator, batch=storing.settings.llm_chunks)
        found = enriched.found
        storing.counts.usage += enriched.usage
    return Work(
        draft=drafted, document=document, difference=difference, found=found, stored=frozenset(stored), at=at
    )


def _with_what_was_learned(sessions: Sequence[Session], graph: GraphStore) -> list[Session]:
    """Return a transcript's sessions with what the store knows of them besides, such as what they asked."""
    held = {row.id: row.metadata for row in graph.sessions([row.id for row in sessions])}
    return [replace(row, metadata={**held.get(row.id, {}), **row.metadata}) for row in sessions]


def extract_again(document: str, *, target: Target, settings: IngestConfig, generator: Generator) -> Usage:
    """Add to the graph what a model finds in a stored document; its chunks stay as they are.

    Returns what the model cost.

    Args:
        document: Its id; one that is gone, or not in use, is left alone.
        target: Where it is.
        settings: Sizes of batches.
        generator: Reads it; what fails is left to the rules, as when it is ingested.
    """
    row = next(iter(target.graph.documents([document])), None)
    if row is None or row.state != "active":
        return Usage()
    chunks = [each for each in document_chunks(document, target.graph) if each.state == "active"]
    title = None if row.source_type == "transcript" else row.title or None
    drafted = SourceRows(document=row, chunks=chunks, title=title)
    names = extract(drafted.passages(), title=title)
    ids = frozenset(each.id for each in chunks)
    enriched = enrich(
        {each.id: name for each, name in zip(chunks, names, strict=True)},
        {each.id: each.text for each in chunks},
        generator=generator,
        batch=settings.llm_chunks,
    )
    same = ChunkDifference(write=tuple(chunks), fresh=frozenset(), read=ids, embed=frozenset(), retire=())
    with DocumentBatches(target=target, settings=settings) as storing:
        storing.add(
            Work(draft=drafted, document=row, difference=same, found=enriched.found, stored=ids, at=now())
        )
        storing.flush()
    return enriched.usage
