"""Compute ids again from what rows say: an id is a content address, so damaged words do not fit their own.

Only words that fit prove something. Some memories rightly do not fit any more: their scope was changed, which
was in the id that they were given.
"""

from itertools import product

from hydramem.core.ids import document_id, memory_id, passage_id, version_id
from hydramem.core.row_types import Chunk, Document

_GENERATIONS = range(64)
"""How often a memory can have been withdrawn and asserted again, and still be recognised."""
_MEMORIES = ("note", "fact", "event")
_VERSION_OF = "version_of"
"""The metadata of an earlier version of a memory; its id is made from that of the memory."""


def chunk_fits_id(chunk: Chunk) -> bool | None:
    """Say whether a chunk's words fit its id; None where its id does not depend on them.

    The ids of turns are of their place in a session, those of earlier versions of the memory and its time.
    """
    if _is_version(chunk):
        return None
    if chunk.kind == "passage" and chunk.document is not None:
        return _passage_fits(chunk, chunk.document)
    if chunk.kind in _MEMORIES and chunk.document is None:
        return _memory_fits(chunk)
    return None


def document_fits_id(document: Document) -> bool:
    """Say whether a document's project and source fit its id."""
    return document_id(document.project, document.source) == document.id


def _is_version(chunk: Chunk) -> bool:
    of = chunk.metadata.get(_VERSION_OF)
    return isinstance(of, str) and version_id(of, chunk.times.recorded_at, kind="c") == chunk.id


def _passage_fits(chunk: Chunk, document: str) -> bool:
    # A text that stands several times in a document is numbered; one that an agent extracted names its kind.
    forms = [
        "\n".join((*chunk.heading_path, chunk.text)),
        "\n".join((chunk.kind, *chunk.heading_path, chunk.text)),
    ]
    numbers = range(max(chunk.position, 0) + 1)
    return any(passage_id(document, number, words) == chunk.id for number, words in product(numbers, forms))


def _memory_fits(chunk: Chunk) -> bool:
    # What replaces another memory has the time from which it holds only after it has its id.
    moments = {chunk.happened_at or chunk.times.valid_from, chunk.happened_at, None}
    return any(
        memory_id(chunk.project, chunk.scope, chunk.kind, chunk.text, moment, generation) == chunk.id
        for generation, moment in product(_GENERATIONS, moments)
    )
