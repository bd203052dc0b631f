"""Ingest: read, chunk, extract, resolve, accept, embed and store, in batches of whole documents.

A document is stored in one commit. The chunks of one that is too large for that are stored first, archived
and marked as unfinished, and become active together in its last commit. After a run that stops before,
nothing of the document is recalled, and the next run does not embed the stored chunks again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from hydramem.core.config import IngestConfig
from hydramem.core.ids import document_id
from hydramem.core.inputs import Progress
from hydramem.core.results.write_results import Ingested, SkippedSource
from hydramem.core.row_types import Document, Session, Usage
from hydramem.core.time import now
from hydramem.ingest.documents.batches import DocumentBatches
from hydramem.ingest.documents.files import find, load, source_name
from hydramem.ingest.documents.read import SourceText, Transcript, parse
from hydramem.ingest.documents.source_rows import ChunkDifference, SourceRows, Work, compare, source_rows
from hydramem.ingest.extraction.extraction_prompt import enrich
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.store import GraphStore
from hydramem.storage.write_validation import batches as batches_of

# Sources whose documents are looked up together: one by one, that took 6 % of ingest without the model.
_SOURCES_LOOKED_UP = 64


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
        generator: Extracts in addition to the rules; None for rules alone.
        wait: Whether vectors are made, and the generator reads, before this returns; else jobs do that.
        progress: Called after each source that is read; `done` counts those that are stored or need not be.

    Raises:
        InvalidInputError: A path does not exist; nothing is written.
    """
    started = perf_counter()
    found = find(sources)
    skipped: list[SkippedSource] = []
    unchanged = 0
    reread = generator is not None and not wait
    with DocumentBatches(target=target, settings=settings, wait=wait, reread=reread) as batches:
        what = ""
        for read, (source, document) in enumerate(_with_documents(found, target), 1):
            work = _prepare(source, document, batches, generator if wait else None)
            if isinstance(work, SkippedSource):
                skipped.append(work)
            elif work is None:
                unchanged += 1
            else:
                batches.add(work)
            what = source.source if isinstance(source, SkippedSource) else source.name
            if progress is not None:
                progress(Progress(done=read - batches.unstored, total=len(found), what=what))
        if batches.unstored:
            batches.flush()
            if progress is not None:
                progress(Progress(done=len(found), total=len(found), what=what))
    pending = () if wait or not batches.done.documents else ("embed", "extract") if reread else ("embed",)
    return replace(
        batches.done,
        unchanged=unchanged,
        skipped=tuple(skipped),
        pending=pending,
        seconds=perf_counter() - started,
    )


def _with_documents(
    sources: Sequence[Path | SkippedSource], target: Target
) -> Iterator[tuple[Path | SkippedSource, Document | None]]:
    """Yield each source with the document that is stored of it; one read finds those of many sources."""
    for part in batches_of(sources, _SOURCES_LOOKED_UP):
        ids = {
            path: document_id(target.project, source_name(path)) for path in part if isinstance(path, Path)
        }
        stored = {row.id: row for row in target.graph.documents(list(ids.values()))}
        yield from ((each, stored.get(ids[each]) if isinstance(each, Path) else None) for each in part)


def _prepare(
    source: Path | SkippedSource,
    document: Document | None,
    batches: DocumentBatches,
    generator: Generator | None,
) -> Work | SkippedSource | None:
    """Read one source and compare it with the document that is stored of it; None where it is unchanged."""
    limit = batches.settings.max_file_mb * 2**20
    raw = load(source, max_bytes=limit) if isinstance(source, Path) else source
    if isinstance(raw, SkippedSource):
        return raw
    if document is not None and document.state == "active" and document.content_hash == raw.content_hash:
        return None
    parsed = parse(raw, max_bytes=limit)
    if isinstance(parsed, SkippedSource):
        return parsed
    return compared(parsed, document, batches, generator)


def compared(
    parsed: SourceText | Transcript,
    document: Document | None,
    batches: DocumentBatches,
    generator: Generator | None = None,
) -> Work | SkippedSource:
    """Return what is to be stored of a source that was read; a source without words is skipped.

    Args:
        parsed: The source.
        document: Its document as stored; None where it is new.
        batches: Where it goes.
        generator: Extracts in addition to the rules; None for rules alone.
    """
    at, target, settings = now(), batches.target, batches.settings
    rows = source_rows(parsed, project=target.project, settings=settings, owner=batches.owner_of, at=at)
    rows.sessions = _with_stored_metadata(rows.sessions, target.graph)
    work = compare(rows, document, target.graph)
    if not rows.chunks and not work.stored:
        return SkippedSource(source=parsed.source, reason="empty")
    # Nothing is extracted from a turn that gives orders, even a stored one, unless a person has revived it.
    quarantined = {row.id for row in work.difference.write if row.state == "quarantined"}
    wanted = work.difference.read - quarantined
    found = {id: each for id, each in rows.extracted(settings.parser).items() if id in wanted}
    if generator is not None and found:
        texts = {row.id: row.text for row in rows.chunks if row.id in found}
        enriched = enrich(found, texts, generator=generator, batch=settings.llm_chunks)
        found = enriched.found
        batches.done = replace(batches.done, usage=batches.done.usage + enriched.usage)
    return replace(work, found=found)


def _with_stored_metadata(sessions: Sequence[Session], graph: GraphStore) -> list[Session]:
    """Return a transcript's sessions with what the store knows of them besides, such as what they asked."""
    stored = {row.id: row.metadata for row in graph.sessions([row.id for row in sessions])}
    return [replace(row, metadata={**stored.get(row.id, {}), **row.metadata}) for row in sessions]


def extract_again(document: str, *, target: Target, settings: IngestConfig, generator: Generator) -> Usage:
    """Add to the graph what a model finds in a stored document; its chunks stay as they are.

    Returns what the model cost.

    Args:
        document: Its id; a document that is gone or not active is left as it is.
        settings: Sizes of batches.
        generator: Reads it; where a call fails, only the rules extract, as in `ingest`.
    """
    row = next(iter(target.graph.documents([document])), None)
    if row is None or row.state != "active":
        return Usage()
    chunks = [each for each in document_chunks(document, target.graph) if each.state == "active"]
    title = None if row.source_type == "transcript" else row.title or None
    rows = SourceRows(document=row, chunks=chunks, title=title)
    texts = {each.id: each.text for each in chunks}
    enriched = enrich(rows.extracted(settings.parser), texts, generator=generator, batch=settings.llm_chunks)
    ids = frozenset(texts)
    same = ChunkDifference(write=tuple(chunks), read=ids)
    with DocumentBatches(target=target, settings=settings) as batches:
        batches.add(
            Work(rows=rows, document=row, difference=same, stored=ids, found=enriched.found, at=now())
        )
        batches.flush()
    return enriched.usage
