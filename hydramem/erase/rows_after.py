"""What becomes of each row: it goes, changes or stays. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hydramem.core.row_types import (
    Change,
    Chunk,
    Document,
    Entity,
    Item,
    Job,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
)
from hydramem.erase.erasure import Erasure
from hydramem.storage.changes import ERASE
from hydramem.storage.recall_log import QUERIES
from hydramem.storage.schema import CHUNK, RELATES

_CHUNKS = "chunks"
"""Key of a job's payload that lists chunks."""


def row_after(row: Any, erasure: Erasure) -> Any | None:
    """Return a row as an erasure leaves it; None where it goes."""
    if erasure.projects and getattr(row, "project", None) in erasure.projects:
        return row if isinstance(row, Change) and row.operation == ERASE else None
    return _AFTER[type(row)](row, erasure)


def _document(row: Document, erasure: Erasure) -> Document | None:
    if row.id in erasure.documents:
        return None
    # Ingesting it again must not find it unchanged.
    return replace(row, content_hash="") if row.id in erasure.reread else row


def _session(row: Session, erasure: Erasure) -> Session | None:
    if row.id in erasure.sessions:
        return None
    queries = row.metadata.get(QUERIES)
    if not isinstance(queries, list | tuple):
        return row
    moments = {moment.isoformat() for moment in erasure.recalls}
    kept = [
        query
        for query in queries
        if query.get("at") not in moments and not erasure.traces.in_text(str(query.get("text")))
    ]
    return row if len(kept) == len(queries) else replace(row, metadata={**row.metadata, QUERIES: kept})


def _entity(row: Entity, erasure: Erasure) -> Entity | None:
    return None if row.id in erasure.entities else erasure.entities_after.get(row.id, row)


def _chunk(row: Chunk, erasure: Erasure) -> Chunk | None:
    return None if row.id in erasure.chunks else erasure.chunks_after.get(row.id, row)


def _item(row: Item, erasure: Erasure) -> Item | None:
    return None if row.id in erasure.items else row


def _mention(row: Mention, erasure: Erasure) -> Mention | None:
    return None if row.chunk in erasure.chunks or row.entity in erasure.entities else row


def _relation(row: Relation, erasure: Erasure) -> Relation | None:
    if RELATES.key_of(row) in erasure.relations or not erasure.entities.isdisjoint((row.subject, row.object)):
        return None
    return erasure.relations_after.get(RELATES.key_of(row), row)


def _link(row: Link, erasure: Erasure) -> Link | None:
    if not erasure.chunks.isdisjoint((row.source, row.target)):
        return None
    return replace(row, reason="") if erasure.traces.in_text(row.reason) else row


def _recalled(row: Recalled, erasure: Erasure) -> Recalled | None:
    return None if row.chunk in erasure.chunks or row.session in erasure.sessions else row


def _change(row: Change, erasure: Erasure) -> Change | None:
    """Return a change without what it keeps of erased rows; one that says nothing then goes.

    The first change of a write has the image of all of it, which others may need.
    """
    if row.operation == ERASE:
        return row
    traces = erasure.traces
    image = traces.scrubbed_image(row.image)
    reason = None if row.reason and traces.in_text(row.reason) else row.reason
    before, after = traces.scrubbed(row.before), traces.scrubbed(row.after)
    if row.target in erasure.ids:
        before = after = reason = None
    elif row.operation == "link" and row.run in erasure.linked_in:
        # A model may have put words of the erased text into the keywords and summaries of others.
        image = _without_refinements(image)
        if "summary" in json.loads(row.after or "{}"):
            before = after = None
    if before is after is image is None and (row.before, row.after, row.image) != (None, None, None):
        return None
    return replace(row, before=before, after=after, image=image, reason=reason)


def _without_refinements(image: str | None) -> str | None:
    parts = json.loads(image or "{}")
    parts.get("set", {}).pop(CHUNK.name, None)
    left = {name: tables for name, tables in parts.items() if tables}
    return json.dumps(left, separators=(",", ":"), sort_keys=True) if left else None


def _job(row: Job, erasure: Erasure) -> Job | None:
    payload = json.loads(row.payload)
    if isinstance(listed := payload.get(_CHUNKS), list):
        left = [id for id in listed if id not in erasure.chunks]
        if listed and not left:
            return None
        payload = {**payload, _CHUNKS: left}
    if erasure.traces.in_value(payload):
        return None
    error = None if row.error and erasure.traces.in_text(row.error) else row.error
    return replace(row, payload=json.dumps(payload, ensure_ascii=True, sort_keys=True), error=error)


_AFTER: Mapping[type, Callable[[Any, Erasure], Any | None]] = {
    Document: _document,
    Session: _session,
    Entity: _entity,
    Chunk: _chunk,
    Item: _item,
    Mention: _mention,
    Relation: _relation,
    Link: _link,
    Recalled: _recalled,
    Change: _change,
    Job: _job,
}
