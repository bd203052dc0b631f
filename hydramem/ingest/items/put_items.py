"""Put and delete items, in one transaction with the passages that hold their texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.results.item_results import ItemsPut
from hydramem.core.row_types import Change, Chunk, Item
from hydramem.core.time import clock, now
from hydramem.ingest.items.item_texts import ItemText, item_texts, placed
from hydramem.ingest.items.item_values import CheckedItem, expiry
from hydramem.ingest.knowledge.end_validity import corrected
from hydramem.ingest.knowledge.support import in_state
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run, record
from hydramem.storage.chunk_filter import covers
from hydramem.storage.schema import ITEM
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Removal, Write

PUT = "put_items"
"""Name of the operation in the history."""


@in_one_run()
def put_items(
    items: Sequence[CheckedItem], *, target: Target, settings: MemoryConfig, most_tokens: int
) -> ItemsPut:
    """Put and delete items.

    An item that is there keeps the time of its creation. Texts that stay the same keep their passages; those
    that are no longer in the value are archived, and the history has them.

    Args:
        items: What to put, each key once; a missing value deletes.
        target: Where to store them.
        settings: What is quarantined and masked.
        most_tokens: Tokens from which a text is cut into several passages.

    Raises:
        InvalidInputError: A text cannot be stored; nothing is written.
        ModelError: The embedder failed; nothing is written.
    """
    # The embedder works before the writer lock is taken: others write meanwhile.
    texts = item_texts(items, target=target, settings=settings, most_tokens=most_tokens)
    with target.one_writer:
        stored = {row.id: row for row in target.graph.nodes(ITEM, [item.id for item in items])}
        write = ItemWrite(operation=PUT, target=target)
        write.read(list(stored.values()))
        created = 0
        for item in items:
            old = stored.get(item.id)
            if item.value is None:
                if old is not None:
                    write.delete(old)
            else:
                created += old is None or not covers(None, old.expires_at, clock())
                write.put(item, old, texts.get(item.id, ()))
        write.commit()
    return ItemsPut(
        ids=tuple(item.id for item in items if item.value is not None),
        created=created,
        deleted=len(write.removed),
        quarantined=sum(text.row.state != "active" for each in texts.values() for text in each),
        run=current_run() if write.changes else None,
    )


@dataclass(slots=True, kw_only=True)
class ItemWrite:
    """Gathers the rows of one write of items, while the writer lock is held.

    Attributes:
        operation: Its name in the history.
        changes: The audit of the items; that of their passages comes with `commit`.
        removed: Ids of items that go.
    """

    operation: str
    target: Target
    at: datetime = field(default_factory=now)
    changes: list[Change] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    _rows: list[Item] = field(default_factory=list)
    _chunks: dict[str, Chunk] = field(default_factory=dict)
    _memories: MemoryWrite = field(init=False)

    def __post_init__(self) -> None:
        self._memories = MemoryWrite(operation=self.operation, target=self.target, at=self.at)

    def read(self, items: Sequence[Item]) -> None:
        """Read the passages of stored items, all at once."""
        rows = self.target.graph.chunks([id for item in items for id in item.chunks])
        self._chunks = {row.id: row for row in rows if row.state in ("active", "quarantined")}

    def put(self, item: CheckedItem, old: Item | None, texts: Sequence[ItemText]) -> None:
        """Add an item, or replace the stored one."""
        expires_at = expiry(item.ttl, clock())
        known = old if old is not None and covers(None, old.expires_at, clock()) else None
        row = Item(
            id=item.id,
            project=self.target.project,
            namespace=item.namespace,
            key=item.key,
            value=item.value or "",
            chunks=self._put_texts(old, texts, expires_at),
            ttl=item.ttl,
            created_at=self.at if known is None else known.created_at,
            updated_at=self.at,
            expires_at=expires_at,
        )
        self._rows.append(row)
        self._record(row.id, old, row)

    def _put_texts(
        self, old: Item | None, texts: Sequence[ItemText], expires_at: datetime | None
    ) -> tuple[str, ...]:
        """Add the passages of an item and archive those that it no longer has; return their ids in order."""
        before = {
            chunk.text: chunk
            for id in (() if old is None else old.chunks)
            if (chunk := self._chunks.get(id)) is not None
        }
        ids: list[str] = []
        for text in texts:
            kept = before.pop(text.row.text, None)
            if kept is None:
                row = placed(text, at=self.at, expires_at=expires_at)
                self._memories.insert(row, text.found, text.vector)
                ids.append(row.id)
            else:
                ids.append(kept.id)
                if kept.expires_at != expires_at:
                    self._memories.change(kept, replace(kept, expires_at=expires_at))
        for chunk in before.values():
            self._end(chunk, by=ids[0] if ids else None)
        return tuple(ids)

    def delete(self, item: Item) -> None:
        """Remove an item and archive its passages; the history has both."""
        for id in item.chunks:
            if (chunk := self._chunks.get(id)) is not None:
                self._end(chunk, by=None)
        self.removed.append(item.id)
        self._record(item.id, item, None)

    def _end(self, chunk: Chunk, *, by: str | None) -> None:
        ended = in_state(chunk, "archived", self.at) if by is None else corrected(chunk, at=self.at, by=by)
        self._memories.withdraw(chunk, ended, reason="")

    def _record(self, id: str, before: Item | None, after: Item | None) -> None:
        self.changes.append(
            record(self.operation, project=self.target.project, target=id, before=before, after=after)
        )

    def commit(self) -> None:
        """Commit the items with their passages, and what the texts add to the graph."""
        if not self.changes:
            return
        ready = self._memories.prepare()
        write = Write(changes=()) if ready is None else ready.write
        vectors: Mapping[str, Vector] = {}
        if ready is not None:
            vectors = {**ready.vectors, **self.target.embed_by_id(ready.names_to_embed)}
        self.target.commit(
            replace(
                write,
                changes=(*self.changes, *write.changes),
                items=tuple(self._rows),
                removed=Removal(items=tuple(self.removed)),
            ),
            vectors,
        )
