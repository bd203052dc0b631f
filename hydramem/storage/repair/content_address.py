"""Compute ids again from what rows say: an id is a content address, so a damaged row does not fit its own."""

from itertools import count, islice

from hydramem.core.ids import document_id, entity_id, memory_id, passage_id
from hydramem.core.row_types import Chunk, Document, Entity
from hydramem.text.normalize import entity_key

_GENERATIONS = 64
"""How often a memory can have been withdrawn and asserted again, and still be recognised."""
_MEMORIES = ("note", "fact", "event")


def chunk_fits_id(chunk: Chunk) -> bool | None:
    """Say whether a chunk's words fit its id; None where its id does not depend on them.

    The ids of turns are of their place in a session, and those of earlier versions of a row are of that row.
    """
    if chunk.kind == "passage" and chunk.document is not None:
        return _passage_fits(chunk, chunk.document)
    if chunk.kind in _MEMORIES and chunk.document is None:
        return _memory_fits(chunk)
    return None


def _passage_fits(chunk: Chunk, document: str) -> bool:
    # A text that stands several times in a document is numbered; one that an agent extracted names its kind.
    forms = [
        "\n".join((*chunk.heading_path, chunk.text)),
        "\n".join((chunk.kind, *chunk.heading_path, chunk.text)),
    ]
    numbers = range(max(chunk.position, 0) + 1)
    return any(passage_id(document, number, words) == chunk.id for number in numbers for words in forms)


def _memory_fits(chunk: Chunk) -> bool:
    when = chunk.happened_at or chunk.times.valid_from
    ids = (
        memory_id(chunk.project, chunk.scope, chunk.kind, chunk.text, when, generation)
        for generation in islice(count(), _GENERATIONS)
    )
    return chunk.id in ids


def document_fits_id(document: Document) -> bool:
    """Say whether a document's project and source fit its id."""
    return document_id(document.project, document.source) == document.id


def entity_fits_key(entity: Entity) -> bool:
    """Say whether an entity's name fits its key, or its key the id."""
    return entity_key(entity.name) == entity.key or entity_id(entity.project, entity.key) == entity.id
