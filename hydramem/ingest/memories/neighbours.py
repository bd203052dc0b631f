"""What is stored near a new memory: its nearest neighbours, and those that it may change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk
from hydramem.ingest.memories.consolidate.duplicate_or_update import search_terms
from hydramem.ingest.memories.memory_input import MEMORIES, STEADY
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Scored, Vector, VectorStore

# Nearest memories that are looked at; those of scopes below the new one's are among them.
_NEAREST = 32

_NEIGHBOURS = 8
_BY_COSINE = 10
_BY_WORDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What is near a new memory, best first.

    Attributes:
        scored: Nearest memories in its scope and below, with their cosines.
        rows: Those of them that were read, by id, as they are stored.
    """

    scored: tuple[Scored, ...] = ()
    rows: Mapping[str, Chunk]

    @property
    def nearest(self) -> tuple[NearbyChunk, ...]:
        """The nearest memories, from which classification learns how such things are filed."""
        near = self.scored[:_NEIGHBOURS]
        return tuple(
            NearbyChunk(chunk=self.rows[one.id], cosine=one.score) for one in near if one.id in self.rows
        )


NO_NEIGHBOURS = Neighbours(rows={})


def find_neighbours(
    vector: Vector,
    *,
    scope: str,
    target: Target,
    vectors: VectorStore | None,
    read_rows: bool,
    stored: Chunk | None = None,
) -> Neighbours:
    """Find what is near a new memory.

    Args:
        vector: The new memory's.
        scope: Where it belongs, or the path that its scope will be at or under.
        vectors: Where vectors are; None where they cannot be read.
        read_rows: Whether the rows of the nearest are read, however far they are.
        stored: Its row where it is stored already: it is no neighbour of itself.
    """
    if vectors is None:
        return NO_NEIGHBOURS
    where = ChunkFilter(projects=(target.project,), kinds=MEMORIES, scope=None if scope == "/" else scope)
    scored = vectors.nearest(vector, where, _NEAREST)
    if stored is not None:
        scored = tuple(one for one in scored if one.id != stored.id)
    rows = target.graph.chunks([one.id for one in scored[:_NEIGHBOURS]]) if read_rows else ()
    return Neighbours(scored=scored, rows={row.id: row for row in rows})


def candidates(
    new: Chunk,
    neighbours: Neighbours,
    *,
    target: Target,
    vectors: VectorStore | None,
    settings: MemoryConfig,
    at: datetime,
    stored: Chunk | None = None,
) -> tuple[NearbyChunk, ...]:
    """Return the memories that a new one may change.

    They are near by cosine, or share the words of what it states; they have its scope, are current, and of a
    kind that says how something is.

    Args:
        new: The new memory, its scope found.
        neighbours: What is near it.
        vectors: Where full text is searched; None where it cannot be.
        settings: From which cosine a memory is near.
        stored: Its row where it is stored already: only older memories may be changed.
    """
    cosines = {one.id: one.score for one in neighbours.scored}
    near = [one.id for one in neighbours.scored if one.score >= settings.consolidation_threshold]
    ids = list(dict.fromkeys((*near[:_BY_COSINE], *_found_by_words(new, target.project, vectors))))
    rows = dict(neighbours.rows) | _read([id for id in ids if id not in neighbours.rows], target.graph)
    return tuple(
        NearbyChunk(chunk=rows[id], cosine=cosines.get(id))
        for id in ids
        if id in rows
        and _may_be_changed(rows[id], new, target.project, at)
        and (stored is None or rows[id].times.recorded_at < stored.times.recorded_at)
    )


def _found_by_words(new: Chunk, project: str, vectors: VectorStore | None) -> list[str]:
    terms = search_terms(new)
    query = " ".join(filter(None, (terms.query, *terms.slots)))
    if vectors is None or not query:
        return []
    scope = None if new.scope == "/" else new.scope
    where = ChunkFilter(projects=(project,), kinds=STEADY, scope=scope)
    return [one.id for one in vectors.matching(query, where, _BY_WORDS)]


def _read(ids: Sequence[str], graph: GraphStore) -> dict[str, Chunk]:
    return {row.id: row for row in graph.chunks(ids)} if ids else {}


def _may_be_changed(row: Chunk, new: Chunk, project: str, at: datetime) -> bool:
    # What the vector store finds may be a moment old: the row decides.
    return (
        row.state == "active"
        and row.project == project
        and row.kind in STEADY
        and row.scope == new.scope
        and covers(None, row.expires_at, at)
    )
