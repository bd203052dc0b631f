"""What goes where a project holds more memories than `limits.memories`: the least important and recalled."""

from collections.abc import Collection, Iterable, Iterator
from heapq import nsmallest

from hydramem.core.row_types import Chunk
from hydramem.garden.ground import Ground
from hydramem.garden.protected import reused
from hydramem.garden.undone import Undone
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore

_MOST = 2000
"""Memories that go in a night; the next night takes up the rest."""


def over_quota(ground: Ground, undone: Undone, going: Collection[str]) -> list[Chunk]:
    """Return the memories over the limit; what is verified, reused, or was brought back stays.

    Args:
        ground: What is looked at.
        undone: What a person took back.
        going: Ids of memories that go tonight for another reason.
    """
    allowed = ground.settings.limits.memories
    if not allowed:
        return []
    held = sum(view.memories for view in ground.graph.projects() if view.name == ground.project)
    excess = held - len(going) - allowed
    if excess <= 0:
        return []
    may_go = (
        row for row in _memories(ground.graph, ground.project) if row.id not in going and row.id not in undone
    )
    return least_worth(may_go, ground.graph, most=min(excess, _MOST))


def least_worth(rows: Iterable[Chunk], graph: GraphStore, *, most: int) -> list[Chunk]:
    """Return the least important, least recalled and oldest of some memories, and none that is protected.

    Args:
        rows: Active memories.
        graph: Where recalls are.
        most: How many to return.
    """
    open_ = (row for row in rows if row.layer != "verified")
    # Of these some may be reused; what is recalled often comes late, so a few more are enough.
    lowest = nsmallest(2 * most + 100, open_, key=_worth)
    kept = reused([row.id for row in lowest if row.recall_count > 1], graph)
    return [row for row in lowest if row.id not in kept][:most]


def _worth(row: Chunk) -> tuple[float, int, float, str]:
    return row.importance, row.recall_count, row.times.recorded_at.timestamp(), row.id


def _memories(graph: GraphStore, project: str) -> Iterator[Chunk]:
    for batch in graph.scan(CHUNK):
        for row in batch:
            if row.project == project and row.state == "active" and row.kind != "passage":
                yield row
