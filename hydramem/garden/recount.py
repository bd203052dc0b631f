"""How often a thing is mentioned follows from which memories are active, and is counted again with them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hydramem.core.row_types import Chunk, Entity
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write


def recounted(write: Write, before: Mapping[str, Chunk], graph: GraphStore) -> tuple[Entity, ...]:
    """Return the entities that chunks of a write mention for the last time, or again, counted anew.

    Entities that the write puts in itself, or takes out, are left to it.

    Args:
        write: What is about to be written.
        before: Its chunks by id, and those that it takes out, as they are stored; new ones are not in it.
        graph: Where mentions are read; the writer lock is held.
    """
    after = {row.id: row.state == "active" for row in write.chunks} | dict.fromkeys(
        write.removed.chunks, False
    )
    moved = {id: active - (before[id].state == "active") for id, active in after.items() if id in before}
    return _moved({id: by for id, by in moved.items() if by}, write, graph)


def _moved(by: Mapping[str, int], write: Write, graph: GraphStore) -> tuple[Entity, ...]:
    own = {row.id for row in write.entities} | set(write.removed.entities)
    gained: Counter[str] = Counter()
    for mention in graph.mentions(sorted(by)) if by else ():
        gained[mention.entity] += by[mention.chunk]
    wanted = sorted(id for id, count in gained.items() if count and id not in own)
    return tuple(
        replace(row, mention_count=max(0, row.mention_count + gained[row.id]))
        for row in (graph.entities(wanted) if wanted else ())
    )
