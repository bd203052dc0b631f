"""What is stored near a new memory: its nearest neighbours, and those that it may change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import Chunk
from hydramem.ingest.knowledge.end_validity import said_at
from hydramem.ingest.memories.memory_input import MEMORIES, SCOPE_FOUND, STEADY
from hydramem.ingest.memories.similarity import NearbyChunk, background, nearness
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Scored, Vector, VectorStore
from hydramem.storage.write_validation import batches

# Nearest memories that are looked at; those of other scopes and kinds are among them.
_NEAREST = 32

_NEIGHBOURS = 8
_CANDIDATES = 10

# Of the near ones, so many are read at once: nearly always there are candidates enough among them.
_READ_AT_ONCE = 12

# Rows of one statement.
_ROWS_AT_ONCE = 500

# Of texts that change each other, ninety-nine in a hundred are nearer than this.
LEAST_NEAR = 0.3


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
    target: Target,
    vectors: VectorStore | None,
    within: str = "/",
    stored: Chunk | None = None,
) -> Neighbours:
    """Find what is near a new memory.

    Args:
        vector: The new memory's.
        vectors: Where vectors are; None where they cannot be read.
        within: The path that its scope, which is still to be found, is at or under.
        stored: Its row where it is stored already: it is no neighbour of itself.
    """
    if vectors is None:
        return NO_NEIGHBOURS
    scored = vectors.nearest(vector, _searched(target.project, within), _NEAREST)
    if stored is not None:
        scored = tuple(one for one in scored if one.id != stored.id)
    rows = target.graph.chunks([one.id for one in scored[:_NEIGHBOURS]]) if scored else ()
    return Neighbours(scored=scored, rows={row.id: row for row in rows})


def read_near(searched: Sequence[tuple[Vector, str]], *, target: Target, vectors: VectorStore | None) -> None:
    """Read the rows near several new memories with one statement, for stores that keep what was read.

    Args:
        searched: Of each memory its vector, and the path at or under which its neighbours are.
    """
    if vectors is None:
        return
    least = background(target.embed)
    ids: dict[str, None] = {}
    for vector, within in searched:
        scored = vectors.nearest(vector, _searched(target.project, within), _NEAREST)
        near = [one.id for one in scored if nearness(one.score, least) >= LEAST_NEAR]
        ids.update(dict.fromkeys((*(one.id for one in scored[:_NEIGHBOURS]), *near[:_READ_AT_ONCE])))
    for some in batches(ids, _ROWS_AT_ONCE):
        target.graph.chunks(some)


def _searched(project: str, within: str) -> ChunkFilter:
    return ChunkFilter(projects=(project,), kinds=MEMORIES, scope=None if within == "/" else within)


def candidates(
    new: Chunk, neighbours: Neighbours, *, target: Target, at: datetime, before: datetime | None = None
) -> tuple[NearbyChunk, ...]:
    """Return the memories that a new one may change, nearest first.

    They are near by meaning, current, of a scope that does not part them, and of a kind that says how
    something is.

    Args:
        new: The new memory, its scope found.
        neighbours: What is near it.
        before: Only memories said before this time may be changed; None for all.
    """
    least = background(target.embed)
    near = [one for one in neighbours.scored if nearness(one.score, least) >= LEAST_NEAR]
    rows, found = dict(neighbours.rows), list[NearbyChunk]()
    for batch in batches(near, _READ_AT_ONCE):
        rows |= _read([one.id for one in batch if one.id not in rows], target.graph)
        found += (
            NearbyChunk(chunk=rows[one.id], cosine=one.score)
            for one in batch
            if one.id in rows
            and _may_be_changed(rows[one.id], new, target.project, at)
            and (before is None or said_at(rows[one.id]) < before)
        )
        if len(found) >= _CANDIDATES:
            break
    return tuple(found[:_CANDIDATES])


def is_near(one: NearbyChunk, target: Target) -> bool:
    """Say whether a memory is near enough to be changed."""
    return one.cosine is not None and nearness(one.cosine, background(target.embed)) >= LEAST_NEAR


def _read(ids: Sequence[str], graph: GraphStore) -> dict[str, Chunk]:
    return {row.id: row for row in graph.chunks(ids)} if ids else {}


def _may_be_changed(row: Chunk, new: Chunk, project: str, at: datetime) -> bool:
    # What the vector store finds may be a moment old: the row decides.
    return (
        row.state == "active"
        and row.project == project
        and row.kind in STEADY
        and compatible_scopes(new, row)
        and covers(None, row.expires_at, at)
    )


def compatible_scopes(one: Chunk, other: Chunk) -> bool:
    """Say whether two memories may be about one thing: only scopes that callers gave part them."""
    return one.scope == other.scope or _scope_was_found(one) or _scope_was_found(other)


def _scope_was_found(row: Chunk) -> bool:
    return bool(row.metadata.get(SCOPE_FOUND, row.scope == "/"))
