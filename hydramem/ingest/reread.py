"""Read again: what a model finds in a document that was stored by rules alone, so as not to wait for it."""

from hydramem.core.config import IngestConfig
from hydramem.core.row_types import Usage
from hydramem.core.time import now
from hydramem.ingest.compare import Difference
from hydramem.ingest.extract.model import enrich
from hydramem.ingest.extract.rules import extract
from hydramem.ingest.rows import Draft
from hydramem.ingest.storing import Storing, Work
from hydramem.ingest.target import Target
from hydramem.ingest.withdraw import document_chunks
from hydramem.llm.contracts import Generator


def reread(document: str, *, target: Target, settings: IngestConfig, generator: Generator) -> Usage:
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
    drafted = Draft(document=row, chunks=chunks, title=title)
    names = extract(drafted.passages(), title=title)
    ids = frozenset(each.id for each in chunks)
    enriched = enrich(
        {each.id: name for each, name in zip(chunks, names, strict=True)},
        {each.id: each.text for each in chunks},
        generator=generator,
        batch=settings.llm_chunks,
    )
    same = Difference(write=tuple(chunks), fresh=frozenset(), read=ids, embed=frozenset(), retire=())
    with Storing(target=target, settings=settings) as storing:
        storing.add(
            Work(draft=drafted, document=row, difference=same, found=enriched.found, stored=ids, at=now())
        )
        storing.flush()
    return enriched.usage
