"""Items that an erasure removes: those asked for, and those of which a text goes; with all of their texts."""

import json
from collections.abc import Iterable, Sequence

from hydramem.core.row_types import Chunk, Item
from hydramem.ingest.items.item_texts import ITEM_ID
from hydramem.storage.schema import ITEM
from hydramem.storage.store import GraphStore


def items_with(ids: Sequence[str], chunks: dict[str, Chunk], graph: GraphStore) -> dict[str, Item]:
    """Return the items that go, by id, and add their passages to the chunks that do.

    The value of an item holds the words of its passages, so it goes with any of them. A passage that an item
    had before it was put again goes with the item, and by itself leaves it.

    Args:
        ids: What was asked for.
        chunks: The chunks that go, by id.
        graph: The store.
    """
    asked = {row.id: row for row in graph.nodes(ITEM, ids)}
    of_chunks = [str(row.metadata[ITEM_ID]) for row in chunks.values() if ITEM_ID in row.metadata]
    found = {
        row.id: row
        for row in (*asked.values(), *graph.nodes(ITEM, of_chunks))
        if row.id in asked or not chunks.keys().isdisjoint(row.chunks)
    }
    # The audit names the passages of all values that an item had; it may be deleted by now.
    past = [id for item in dict.fromkeys((*ids, *found)) for id in _past_chunks(item, graph)]
    held = [id for row in found.values() for id in row.chunks]
    chunks.update((row.id, row) for row in graph.chunks([*held, *past]))
    return found


def _past_chunks(item: str, graph: GraphStore) -> Iterable[str]:
    """Yield the ids of the passages that the audit names for an item."""
    if not item.startswith("i_"):
        return
    for change in graph.changes(target=item):
        for side in (change.before, change.after):
            row = json.loads(side or "null")
            if isinstance(row, dict):
                yield from map(str, row.get("chunks") or ())
