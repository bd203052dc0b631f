"""What several new memories are compared with is read by few statements for all, and once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import entity_id
from hydramem.ingest.extraction.name_spans import key_of
from hydramem.ingest.memories.compare.neighbours import read_near
from hydramem.ingest.memories.memory_input import ValidatedMemory
from hydramem.ingest.write_target import Target
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.storage.write_validation import batches
from hydramem.storage.writing.pending_stores import PendingGraph, PendingVectors

_ENTITIES_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAhead:
    """The stores as they are while the writer lock is held, with the writes that wait for a common commit.

    Attributes:
        target: Where to write, its reads those of `graph`.
        graph: What is committed, and what is added to it.
        vectors: The same of the project's vectors; None where they cannot be read.
    """

    target: Target
    graph: PendingGraph
    vectors: PendingVectors | None

    @property
    def space(self) -> VectorStore | None:
        """The vectors, as what they stand for."""
        return None if self.vectors is None else self.vectors.as_vectors


def read_ahead(
    memories: Sequence[ValidatedMemory],
    vectors: Sequence[Vector],
    *,
    target: Target,
    space: VectorStore | None,
    settings: MemoryConfig,
) -> ReadAhead:
    """Return the stores for a write of some memories, what they need read already; the writer lock is held.

    Args:
        memories, vectors: What is stored, and the vector of each.
        target: Where.
        space: The project's vectors; None where they cannot be read.
        settings: How memories are encoded.
    """
    graph = PendingGraph(target.graph)
    ahead = ReadAhead(
        target=replace(target, graph=graph.as_graph, known=graph.known(target.known)),
        graph=graph,
        vectors=None if space is None else PendingVectors(space, graph),
    )
    if len(memories) > 1:
        compared = [
            (vector, memory.searched_within)
            for memory, vector in zip(memories, vectors, strict=True)
            if memory.is_encoded(settings)
        ]
        read_near(compared, target=ahead.target, vectors=ahead.space)
        _read_named(memories, ahead.target)
    return ahead


def _read_named(memories: Sequence[ValidatedMemory], target: Target) -> None:
    """Read the entities that memories name, those that may be new too."""
    keys = dict.fromkeys(key_of(name.name) for memory in memories for name in memory.found.names)
    known = target.known(list(keys))
    for some in batches(keys, _ENTITIES_AT_ONCE):
        target.graph.entities([known.get(key) or entity_id(target.project, key) for key in some])
