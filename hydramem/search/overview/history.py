"""The history of one thing: every change of it, oldest first, with who made it and why.

A memory, an asserted relation and whatever is forgotten or changed later has a Change of its own. What an
ingest stored has none: its document's Changes list it when it is stored and when it is retired.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hydramem.core.errors import NotFoundError
from hydramem.core.results.verdicts import FieldChange, History, HistoryEntry
from hydramem.core.row_types import Change, Chunk, Document, Entity, Relation
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import VERSION_OF, is_version
from hydramem.ingest.knowledge.support import find_changed_relation
from hydramem.search.overview.memory_versions import memory_versions
from hydramem.search.visible.listings import named, relation_subject
from hydramem.storage.store import GraphStore

_MOST_SOURCES = 8
_MOST_MENTIONS = 1000
_LISTED = 3
_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """The thing whose history is asked for.

    Attributes:
        sources: Ids of the documents and memories whose Changes may list it.
        first_recorded: When it was first recorded, by its own row.
        chunk: Its row, where it is a memory or passage.
    """

    id: str
    kind: str
    text: str
    sources: tuple[str, ...] = ()
    first_recorded: datetime | None = None
    chunk: Chunk | None = None


def history(id: str, *, graph: GraphStore, snapshot: Callable[[], Snapshot]) -> History:
    """Return every change of a chunk, document, entity or relation, oldest first.

    Args:
        graph: Where rows and changes are.
        snapshot: The project's graph, in which a relation is looked for by its id alone.

    Raises:
        NotFoundError: Nothing has, or had, that id.
    """
    subject = _find(id, graph, snapshot)
    own = graph.changes(target=subject.id if subject else id)
    if subject is None:
        if not own:
            raise NotFoundError(f"{id[:80]!r}: nothing has this id, and nothing had")
        subject = _Subject(id=id, kind=_KINDS.get(id[:1], "row"), text=_last_name(own[-1]))
    entries = [_entry(change) for change in own]
    for source in subject.sources[:_MOST_SOURCES]:
        entries.extend(_entries_of_source(graph.changes(target=source), subject.id))
    if subject.first_recorded is not None and not any(entry.created for entry in entries):
        entries.append(_first_entry(subject, subject.first_recorded, graph))
    entries.sort(key=lambda entry: entry.at)
    return History(
        id=subject.id,
        kind=subject.kind,
        text=subject.text,
        entries=tuple(entries),
        versions=() if subject.chunk is None else memory_versions(subject.chunk, graph),
    )


def _last_name(change: Change) -> str:
    """Return the name of a thing that only Changes know."""
    row = _row(change.before or change.after)
    return str(row.get("name") or row.get("text") or row.get("source") or "")


_KINDS: Mapping[str, str] = {"c": "chunk", "d": "document", "e": "entity", "r": "relation", "s": "session"}


def _find(id: str, graph: GraphStore, snapshot: Callable[[], Snapshot]) -> _Subject | None:
    rows = (*graph.chunks([id]), *graph.documents([id]), *graph.entities([id]))
    match next(iter(rows), None) or _relation(id, graph, snapshot):
        case Chunk() as chunk:
            return _Subject(
                id=id,
                kind=chunk.kind,
                text=chunk.text,
                sources=() if chunk.document is None else (chunk.document,),
                first_recorded=chunk.times.recorded_at,
                chunk=chunk,
            )
        case Document() as document:
            return _Subject(id=id, kind="document", text=document.source)
        case Entity() as entity:
            sources, seen = _first_mention(id, graph), entity.first_seen
            return _Subject(id=id, kind="entity", text=entity.name, sources=sources, first_recorded=seen)
        case Relation() as relation:
            return _of_relation(relation, graph)
    return None


def _relation(id: str, graph: GraphStore, snapshot: Callable[[], Snapshot]) -> Relation | None:
    """Look a relation up by its id alone: in the project's snapshot, else by the ends that a Change names."""
    if not id.startswith("r_"):
        return None
    if end := relation_subject(id, snapshot()):
        found = next((row for row in graph.relations([end]) if row.id == id), None)
    else:
        found = find_changed_relation(id, graph)
    if found is not None and is_version(found):  # an earlier version: its history is that of the current one
        return _relation(str(found.metadata[VERSION_OF]), graph, snapshot)
    return found


def _first_mention(entity: str, graph: GraphStore) -> tuple[str, ...]:
    """Return the document or memory that named an entity first."""
    chunks = graph.chunks([mention.chunk for mention in graph.mentioned([entity])[:_MOST_MENTIONS]])
    first = min(chunks, key=lambda chunk: chunk.times.recorded_at, default=None)
    return () if first is None else (first.document or first.id,)


def _of_relation(relation: Relation, graph: GraphStore) -> _Subject:
    (view,) = named([relation], graph)
    chunks = graph.chunks(relation.evidence)
    return _Subject(
        id=relation.id,
        kind="relation",
        text=f"{view.subject} -[{view.type}]-> {view.object}",
        sources=tuple(dict.fromkeys(chunk.document or chunk.id for chunk in chunks)),
        first_recorded=relation.times.recorded_at,
    )


def _entry(change: Change) -> HistoryEntry:
    fields = tuple(_differences(_row(change.before), _row(change.after)))
    return _entry_of(change, created=change.before is None, fields=fields, run=change.run)


def _entry_of(change: Change, **values: Any) -> HistoryEntry:
    return HistoryEntry(
        at=change.at, actor=change.actor, operation=change.operation, reason=change.reason, **values
    )


def _row(text: str | None) -> dict[str, object]:
    row: dict[str, object] = json.loads(text) if text else {}
    times = row.pop("times", None)
    return row | times if isinstance(times, dict) else row


def _differences(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[FieldChange]:
    for name in dict.fromkeys((*before, *after)):
        old, new = _plain(before.get(name)), _plain(after.get(name))
        if old != new:
            yield FieldChange(field=name, before=old, after=new)


def _plain(value: object) -> str | None:
    """Write a value for a person; what is empty is as if it were not there."""
    match value:
        case None | "" | []:
            return None
        case dict() if not value:  # a pattern {} would be any mapping
            return None
        case list() | dict() if len(value) > _LISTED:
            return f"{len(value)} items"
        case str():
            return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
        case _:
            return json.dumps(value, ensure_ascii=False)


# Where a document's Change lists its rows: side, key, whether it stores them, and what it changes.
_LISTS: Sequence[tuple[str, str, bool, FieldChange]] = (
    ("after", "chunks", True, FieldChange(field="state", before=None, after="active")),
    ("after", "relations", True, FieldChange(field="state", before=None, after="active")),
    ("after", "relations_refused", False, FieldChange(field="verdict", before=None, after="rejected")),
    ("before", "chunks_retired", False, FieldChange(field="state", before="active", after="superseded")),
    ("before", "relations_retired", False, FieldChange(field="state", before="active", after="archived")),
)


def _entries_of_source(changes: Sequence[Change], id: str) -> Iterator[HistoryEntry]:
    """Yield what the Changes of a document say of one of its rows."""
    stored = False
    for change in changes:
        sides = {"before": _row(change.before), "after": _row(change.after)}
        for side, key, stores, field in _LISTS:
            listed = sides[side].get(key)
            if isinstance(listed, list) and id in listed:
                again = stores and stored
                yield _entry_of(
                    change,
                    created=stores and not stored,
                    fields=() if again else (field,),
                    through=change.target,
                )
                stored = stored or stores


def _first_entry(subject: _Subject, at: datetime, graph: GraphStore) -> HistoryEntry:
    """Return the first entry of what no Change lists: by the Change of its source, or by its row alone."""
    changes = [
        change for source in subject.sources[:_MOST_SOURCES] for change in graph.changes(target=source)
    ]
    first = min((each for each in changes if each.at >= at), key=lambda change: change.at, default=None)
    state = (FieldChange(field="state", before=None, after="active"),)
    if first is None:
        return HistoryEntry(at=at, actor="", operation="", created=True, fields=state)
    return replace(_entry_of(first, created=True, fields=state, through=first.target), at=at)
