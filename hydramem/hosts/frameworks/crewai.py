"""CrewAI: a storage backend of its unified memory.

CrewAI searches by vectors of its own embedder and gives no query text, so each record is an item with that
vector, and a search compares vectors as CrewAI's own stores do. Its text is a memory too: `recall` finds it,
by our embedder, in the scope `/crewai` and the record's scope. Records that are private to CrewAI are not.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.storage.factory import set_memory_storage_factory
from crewai.memory.types import MemoryRecord, ScopeInfo

from hydramem.core.argument_checks import check_scope
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import ItemInput
from hydramem.hosts.frameworks.given_memory import GivenMemory
from hydramem.hosts.frameworks.record_index import IndexedRecord, RecordIndex, unit, vector_in, with_vector
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, screen

if TYPE_CHECKING:
    from hydramem import Memory

SPEC = "hydramem:"
"""How the `storage` of CrewAI's memory begins that `register_storage` serves."""

_ROOT = "crewai"
_Found = list[tuple[MemoryRecord, float]]


class HydraMemStorage:
    """Keeps the records of one CrewAI memory, in one project and below one scope.

    Scopes compare by whole segments: /project/alpha is not /project/alphabet. Nothing outside `boundary` is
    found, listed, written or deleted, whatever scopes and ids a model proposes. A text that gives orders to
    its reader is kept, listed, and never found by a search; secrets are masked.
    """

    def __init__(
        self, memory: "Memory | str | Path", *, project: str | None = None, boundary: str = "/"
    ) -> None:
        """Keep records in a memory.

        Args:
            memory: What `hydramem.connect` returned, or a folder.
            project: Project of the records; that of the memory by default. Crews that must not see each other
                have projects of their own.
            boundary: Scope that all records are at or under, such as a crew's `root_scope`.
        """
        self._given = GivenMemory(memory, project=project)
        self._settings = self._given.memory.config.memory
        self._boundary = check_scope(boundary)
        self._index = RecordIndex(self._given.memory, (_ROOT,), project)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: a copy of a crew shares its memory."""
        return self

    def save(self, records: list[MemoryRecord]) -> None:
        """Save records, all or none; one whose id is there replaces it.

        Raises:
            InvalidInputError: A record is outside the boundary, or its text is blank or too long.
            EmbeddingDimensionMismatchError: Its vector is of another embedder than the stored ones.
        """
        size = self._dimensions()
        for record in records:
            if record.embedding:
                size = size or len(record.embedding)
                _check_dimensions(size, record.embedding)
        if records:
            self._index.write([self._item(record) for record in records])

    def update(self, record: MemoryRecord) -> None:
        """Replace the record of this id.

        CrewAI rebuilds a record that it consolidates without `source` and `private`: what is stored of these
        two stays, so no private record becomes public.
        """
        known = self.get_record(record.id)
        if known is not None:
            kept = {"source": record.source or known.source, "private": record.private or known.private}
            record = record.model_copy(update=kept)
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> _Found:
        """Return the nearest records and their scores, best first.

        The score is 1 / (1 + d²), d the distance of the vectors at length 1, from 0.2 to 1: as CrewAI's own
        stores have it, so that its thresholds mean the same. 0.85 is a cosine of 0.91.

        Raises:
            EmbeddingDimensionMismatchError: The vector is of another embedder than the stored ones.
        """
        vector = unit(query_embedding) if query_embedding else None
        rows = [
            row
            for row in self._rows(scope_prefix, categories, metadata_filter)
            if row.vector is not None and QUARANTINED_FOR not in row.value
        ]
        if vector is None or not rows:
            return []
        vectors = np.stack([row.vector for row in rows if row.vector is not None])
        _check_dimensions(vectors.shape[1], query_embedding)
        cosines = np.clip(vectors @ vector, -1.0, 1.0)
        scores = 1.0 / (3.0 - 2.0 * cosines)  # d² = 2 - 2 cos
        best = [int(place) for place in np.argsort(-scores, kind="stable") if scores[place] >= min_score]
        found: _Found = []
        for start in range(0, len(best), max(1, limit)):
            part = [rows[place] for place in best[start : start + limit]]
            stored = self._index.stored(part)  # another process may have erased one
            found += [
                (_record(stored[row.key].value), float(scores[place]))
                for row, place in zip(part, best[start:], strict=False)
                if row.key in stored
            ]
            if len(found) >= limit:
                break
        return found[:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete the records that match every given filter, and return their number.

        The history keeps them, and `undo` brings them back; `Memory.erase` removes them for good.
        """
        wanted = None if record_ids is None else set(record_ids)
        before = None if older_than is None else _naive_utc(older_than)
        keys = [
            row.key
            for row in self._rows(scope_prefix, categories, metadata_filter)
            if (wanted is None or row.key in wanted) and (before is None or _created(row) < before)
        ]
        self._index.write([], keys)
        return len(keys)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return a record by its id; None where it is not there, or outside the boundary."""
        row = self._index.record(record_id)
        if row is None or not _is_under(_scope(row), self._boundary):
            return None
        stored = self._index.stored([row])
        return _record(stored[record_id].value) if record_id in stored else None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return records at and under a scope, newest first, quarantined ones too; without their vectors."""
        rows = sorted(self._rows(scope_prefix), key=_created, reverse=True)
        return [_record(row.value) for row in rows[offset : offset + limit]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what is at and under a scope."""
        rows, path = self._rows(scope), check_scope(scope)
        created = [_created(row) for row in rows]
        return ScopeInfo(
            path=path,
            record_count=len(rows),
            categories=sorted({name for row in rows for name in row.value["categories"]}),
            oldest_record=min(created, default=None),
            newest_record=max(created, default=None),
            child_scopes=_children(rows, path),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below one.

        A parent with records of its own is listed first: CrewAI's deep recall searches only what is listed,
        and would miss them.
        """
        rows, path = self._rows(parent), check_scope(parent)
        children = _children(rows, path)
        return [path, *children] if children and any(_scope(row) == path for row in rows) else children

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records have each category."""
        return dict(Counter(name for row in self._rows(scope_prefix) for name in row.value["categories"]))

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records are at and under a scope."""
        return len(self._rows(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete all records at and under a scope."""
        self.delete(scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Save, in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], *filters: Any, **more: Any) -> _Found:
        """Search, in a thread."""
        return await asyncio.to_thread(self.search, query_embedding, *filters, **more)

    async def adelete(self, *filters: Any, **more: Any) -> int:
        """Delete, in a thread."""
        return await asyncio.to_thread(self.delete, *filters, **more)

    def close(self) -> None:
        """Close the memory if it was opened here; CrewAI's memory calls this."""
        self._given.close()

    def _rows(
        self,
        scope_prefix: str | None = None,
        categories: Sequence[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> list[IndexedRecord]:
        """Return the records within the boundary that match."""
        prefix = check_scope(scope_prefix or "/")
        return [
            row
            for row in self._index.rows()
            if _is_under(_scope(row), self._boundary)
            and _is_under(_scope(row), prefix)
            and (not categories or set(categories) & set(row.value["categories"]))
            and all(row.value["metadata"].get(name) == each for name, each in (metadata_filter or {}).items())
        ]

    def _dimensions(self) -> int | None:
        return next((len(row.vector) for row in self._index.rows() if row.vector is not None), None)

    def _item(self, record: MemoryRecord) -> ItemInput:
        scope = check_scope(record.scope)
        if not _is_under(scope, self._boundary):
            raise InvalidInputError(f"scope: {scope[:80]!r} is outside of {self._boundary!r}")
        screened = screen(record.content, self._settings, name="content")
        value = {
            **record.model_dump(mode="json", exclude={"created_at", "last_accessed"}),
            "content": screened.text,
            "scope": scope,
            "created_at": _naive_utc(record.created_at).isoformat(),
            "last_accessed": _naive_utc(record.last_accessed).isoformat(),
        }
        if screened.state == "quarantined":
            value[QUARANTINED_FOR] = list(screened.reasons)
        return ItemInput(
            namespace=(_ROOT, *_segments(scope)),
            key=record.id,
            value=with_vector(value, record.embedding),
            search_paths=() if record.private else ("content",),
        )


def register_storage(
    memory: "Memory | str | Path", *, otherwise: Callable[[str], StorageBackend | None] | None = None
) -> None:
    """Serve each `Memory(storage="hydramem:PROJECT")` of this process from a memory.

    Without a project, it is that of the memory. CrewAI asks for every text that names a storage; those that
    do not begin with `hydramem:` stay CrewAI's own.

    Args:
        memory: What `hydramem.connect` returned, or a folder.
        otherwise: Another factory, asked for all other names.
    """
    given = GivenMemory(memory).memory
    storages: dict[str, HydraMemStorage] = {}

    def storage(spec: str) -> StorageBackend | None:
        if not spec.startswith(SPEC):
            return None if otherwise is None else otherwise(spec)
        project = spec.removeprefix(SPEC)
        if project not in storages:
            storages[project] = HydraMemStorage(given, project=project or None)
        return storages[project]

    set_memory_storage_factory(storage)


def _record(value: Mapping[str, Any]) -> MemoryRecord:
    fields = {name: value[name] for name in MemoryRecord.model_fields if name in value}
    return MemoryRecord(**{**fields, "embedding": vector_in(value)})


def _scope(row: IndexedRecord) -> str:
    return str(row.value["scope"])


def _created(row: IndexedRecord) -> datetime:
    return datetime.fromisoformat(row.value["created_at"])


def _naive_utc(at: datetime) -> datetime:
    """Return a time as CrewAI has it: in UTC, without saying so."""
    return at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)


def _segments(scope: str) -> list[str]:
    return [segment for segment in scope.split("/") if segment]


def _is_under(scope: str, prefix: str) -> bool:
    """Say whether a scope is at or under a prefix, whole segments only."""
    held, wanted = _segments(scope), _segments(prefix)
    return held[: len(wanted)] == wanted


def _children(rows: Iterable[IndexedRecord], parent: str) -> list[str]:
    depth = len(_segments(parent))
    below = {tuple(_segments(_scope(row))[: depth + 1]) for row in rows}
    return sorted("/" + "/".join(labels) for labels in below if len(labels) > depth)


def _check_dimensions(stored: int, vector: Sequence[float]) -> None:
    if len(vector) != stored:
        raise EmbeddingDimensionMismatchError(stored_dim=stored, new_dim=len(vector))
