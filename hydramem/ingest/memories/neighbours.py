"""What is stored around a new memory: its nearest neighbours, and those that it may touch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.ingest.memories.classify.classify_rules import NearbyChunk
from hydramem.ingest.memories.consolidate.consolidate import CandidateMemory, Telling, telling_of, wanted
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import GraphStore, Scored, VectorStore
from hydramem.storage.vector_rows import Vector

MEMORIES: tuple[ChunkKind, ...] = ("note", "fact", "event", "turn")

STEADY: tuple[ChunkKind, ...] = ("note", "fact")
"""Kinds that say how something is: another may take their place, while what happened stays."""

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
    def neighbours(self) -> tuple[NearbyChunk, ...]:
        """The nearest memories, for what they tell of how such things are filed."""
        cosines = {one.id: one.score for one in self.scored[:_NEIGHBOURS]}
        return tuple(
            NearbyChunk(chunk=self.rows[id], cosine=cosines[id]) for id in cosines if id in self.rows
        )


def find_neighbours(
    vector: Vector,
    *,
    scope: str,
    target: Target,
    vectors: VectorStore | None,
    neighbours: bool,
    stored: Chunk | None = None,
) -> Neighbours:
    """Read what is near a new memory.

    Args:
        vector: The new memory's.
        scope: Where it belongs, or what it is to be filed under.
        target: The project.
        vectors: Where vectors are; None where they cannot be had.
        neighbours: Whether the nearest are wanted, however far they are.
        stored: Its row where it is stored already: it is no neighbour of itself.
    """
    if vectors is None:
        return Neighbours(rows={})
    where = ChunkFilter(projects=(target.project,), kinds=MEMORIES, scope=None if scope == "/" else scope)
    scored = vectors.nearest(vector, where, _NEAREST)
    if stored is not None:
        scored = tuple(one for one in scored if one.id != stored.id)
    rows = target.graph.chunks([one.id for one in scored[:_NEIGHBOURS]]) if neighbours else ()
    return Neighbours(scored=scored, rows={row.id: row for row in rows})


def candidates(
    new: Telling,
    around: Neighbours,
    *,
    target: Target,
    vectors: VectorStore | None,
    settings: MemoryConfig,
    at: datetime,
    stored: Chunk | None = None,
) -> tuple[tuple[CandidateMemory, ...], dict[str, Chunk]]:
    """Return the memories that a new one may touch, and their rows.

    They are near by cosine, or speak of the same in other words; of the same scope, current, and of a
    kind that says how something is.

    Args:
        new: The new memory, its scope found.
        around: What is near it.
        target: The project.
        vectors: Where words are looked for; None where they cannot be had.
        settings: From which cosine a memory is near.
        at: Now.
        stored: Its row where it is stored already: only what is older may be touched.
    """
    cosines = {one.id: one.score for one in around.scored}
    near = [one.id for one in around.scored if one.score >= settings.consolidation_threshold][:_BY_COSINE]
    said = _by_words(new, target.project, vectors)
    ids = list(dict.fromkeys((*near, *said)))
    held = dict(around.rows) | _read([id for id in ids if id not in around.rows], target.graph)
    rows = {
        id: held[id]
        for id in ids
        if id in held
        and _may_be_touched(held[id], new, target.project, at)
        and (stored is None or held[id].times.recorded_at < stored.times.recorded_at)
    }
    found = tuple(
        CandidateMemory(id=id, telling=telling_of(row), cosine=cosines.get(id)) for id, row in rows.items()
    )
    return found, rows


def _by_words(new: Telling, project: str, vectors: VectorStore | None) -> list[str]:
    looked_for = wanted(new)
    query = " ".join(filter(None, (looked_for.query, *looked_for.slots)))
    if vectors is None or not query:
        return []
    scope = None if new.scope == "/" else new.scope
    where = ChunkFilter(projects=(project,), kinds=STEADY, scope=scope)
    return [one.id for one in vectors.matching(query, where, _BY_WORDS)]


def _read(ids: Sequence[str], graph: GraphStore) -> dict[str, Chunk]:
    return {row.id: row for row in graph.chunks(ids)} if ids else {}


def _may_be_touched(row: Chunk, new: Telling, project: str, at: datetime) -> bool:
    # What the vector store finds may be a moment old: the row decides.
    return (
        row.state == "active"
        and row.project == project
        and row.kind in STEADY
        and row.scope == new.scope
        and covers(None, row.expires_at, at)
    )
