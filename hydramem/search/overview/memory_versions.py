"""The texts that one memory had: what it replaced, by a correction or a newer fact, and what replaced it."""

from collections.abc import Collection, Mapping

from hydramem.core.results.verdicts import MemoryVersion
from hydramem.core.row_types import Chunk
from hydramem.storage.store import GraphStore
from hydramem.text.shown_text import one_line

_MOST_VERSIONS = 50
_MOST_CHARACTERS = 2000


def memory_versions(chunk: Chunk, graph: GraphStore) -> tuple[MemoryVersion, ...]:
    """Return the versions of a memory, each after those that it replaced; none where it has one text only.

    Args:
        chunk: The memory.
        graph: Has the links between the versions, which are followed until `_MOST_VERSIONS` are found.
    """
    found: dict[str, Chunk] = {chunk.id: chunk}
    replaced: dict[str, set[str]] = {}
    open_ids = [chunk.id]
    while open_ids and len(found) < _MOST_VERSIONS:
        for link in graph.links(open_ids):
            if link.type == "supersedes" and link.state == "active":
                replaced.setdefault(link.source, set()).add(link.target)
        ends = set(replaced).union(*replaced.values()) - found.keys()
        new = graph.chunks(sorted(ends))
        found |= {row.id: row for row in new}
        open_ids = [row.id for row in new]
    if len(found) == 1:
        return ()
    # A row whose validity ended is recorded anew, so that its time does not tell the order.
    order = sorted(found.values(), key=lambda row: (len(_all_replaced(row.id, replaced)), row.id))
    return tuple(_version(row) for row in order[-_MOST_VERSIONS:])


def _all_replaced(id: str, replaced: Mapping[str, Collection[str]]) -> set[str]:
    """Return what a version replaced, and what that replaced, and so on."""
    seen: set[str] = set()
    open_ids = {id}
    while open_ids:
        open_ids = {older for each in open_ids for older in replaced.get(each, ())} - seen
        seen |= open_ids
    return seen


def _version(row: Chunk) -> MemoryVersion:
    return MemoryVersion(
        id=row.id,
        text=one_line(row.text, _MOST_CHARACTERS),
        state=row.state,
        recorded_at=row.times.recorded_at,
        ended_at=row.times.retired_at or row.times.valid_to,
    )
