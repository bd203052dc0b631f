"""Remove the items that have expired; reads leave them out before that."""

from collections.abc import Callable, Sequence

from hydramem.core.time import clock
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.ingest.items.put_items import ItemWrite
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import in_one_run
from hydramem.storage.chunk_filter import covers
from hydramem.storage.schema import ITEM
from hydramem.storage.store import GraphStore
from hydramem.storage.write_validation import batches

EXPIRE = "expire"
"""Name of the operation in the history."""
_BATCH = 500


@in_one_run()
def remove_expired_items(graph: GraphStore, index: ItemIndex, target: Callable[[str], Target]) -> int:
    """Remove the expired items of every project, with a Change each; return how many they were.

    Args:
        graph, index: Where items are.
        target: Returns where the items of a project are written.
    """
    removed = 0
    for ids in batches(index.expired(clock()), _BATCH):
        for project in sorted({row.project for row in graph.nodes(ITEM, ids)}):
            removed += _remove(ids, target(project))
    return removed


def _remove(ids: Sequence[str], target: Target) -> int:
    """Remove those items of a project that have expired by now; others may have been put meanwhile."""
    with target.one_writer:
        rows = [row for row in target.graph.nodes(ITEM, ids) if row.project == target.project]
        expired = [row for row in rows if not covers(None, row.expires_at, clock())]
        write = ItemWrite(operation=EXPIRE, target=target)
        write.read(expired)
        for row in expired:
            write.delete(row)
        write.commit()
    return len(expired)
