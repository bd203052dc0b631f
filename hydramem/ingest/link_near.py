"""What is near a memory: by its vector, and by the rare names that it shares with others."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import MENTION, Nodes, Snapshot
from hydramem.ingest.background import background, nearness
from hydramem.ingest.link_rules import Neighbour, nearest
from hydramem.ingest.target import Target
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import VectorStore
from hydramem.storage.vector_rows import Vector, indexed_text

MEMORIES: tuple[ChunkKind, ...] = ("note", "fact", "event", "turn")
"""The kinds that are linked."""

# Beside the neighbours that are wanted, so that some may be gone.
_SPARE = 5

# A name that more chunks than this mention is not rare in any project.
_COMMON = 20

_MOST_SHARING = 32


def around(
    rows: Sequence[Chunk], target: Target, vectors: VectorStore, snapshot: Snapshot, settings: MemoryConfig
) -> dict[str, tuple[Neighbour, ...]]:
    """Return the neighbours of each memory that are near enough for a link, the strongest first.

    Args:
        rows: The memories.
        target: Their project.
        vectors: Finds what is near.
        snapshot: The project's graph, for the names that memories share.
        settings: How near, and how many.
    """
    if not rows or settings.link_neighbors < 1:
        return {row.id: () for row in rows}
    unrelated = background(target.embed)
    where = ChunkFilter(projects=(target.project,), kinds=MEMORIES, at=now())
    count = settings.link_neighbors + _SPARE
    own = dict(vectors.vectors([row.id for row in rows]))
    own |= target.embed_by_id({row.id: indexed_text(row) for row in rows if row.id not in own})
    sharing = {row.id: _sharing(row.id, snapshot) for row in rows}
    cosines = {
        row.id: {one.id: one.score for one in vectors.nearest(own[row.id], where, count + 1)} for row in rows
    }
    _measure(cosines, sharing, own, vectors)
    wanted = {id for row in rows for id in cosines[row.id] if id != row.id}
    held = {row.id: row for row in target.graph.chunks(sorted(wanted)) if where.admits(row)}
    return {
        row.id: nearest(
            (
                _neighbour(held[id], nearness(cosine, unrelated), sharing[row.id].get(id, ()))
                for id, cosine in cosines[row.id].items()
                if id in held and id != row.id
            ),
            settings,
        )
        for row in rows
    }


_Shared = tuple[tuple[str, float], ...]
"""Names and their rarity, the rarest first."""


def _neighbour(chunk: Chunk, near: float, shared: _Shared) -> Neighbour:
    rarity = shared[0][1] if shared else 0.0
    return Neighbour(chunk=chunk, nearness=near, shared=tuple(name for name, _ in shared), rarity=rarity)


def _measure(
    cosines: Mapping[str, dict[str, float]],
    sharing: Mapping[str, Mapping[str, _Shared]],
    own: Mapping[str, Vector],
    vectors: VectorStore,
) -> None:
    """Add the cosines of the memories that share a rare name and are not among the nearest."""
    missing = {id for new, shared in sharing.items() for id in shared if id not in cosines[new]}
    held = vectors.vectors(sorted(missing)) if missing else {}
    for new, shared in sharing.items():
        for id in shared:
            if id in held and id not in cosines[new]:
                cosines[new][id] = float(np.dot(own[new], held[id]))


def _sharing(id: str, snapshot: Snapshot) -> dict[str, _Shared]:
    """Return the chunks that mention the same rare names, with those names."""
    node = snapshot.node(id)
    if node is None:
        return {}
    entities = _mentioned(node, snapshot)
    many = math.log(2 + max(int(snapshot.nodes.is_chunk.sum()), 1))
    found: dict[str, list[tuple[str, float]]] = {}
    for entity in entities.tolist():
        chunks = _mentioned(entity, snapshot)
        if 1 < len(chunks) <= _COMMON:
            rarity = max(0.0, 1 - math.log(len(chunks)) / many)
            for chunk in chunks.tolist():
                if chunk != node:
                    named = found.setdefault(snapshot.nodes.ids[chunk], [])
                    named.append((snapshot.label(entity), rarity))
    rarest = {
        other: tuple(sorted(names, key=lambda name: (-name[1], name[0]))) for other, names in found.items()
    }
    best = sorted(rarest, key=lambda other: (-rarest[other][0][1], other))[:_MOST_SHARING]
    return {other: rarest[other] for other in best}


def _mentioned(node: int, snapshot: Snapshot) -> Nodes:
    out = snapshot.adjacency.expand(np.array([node]))
    return np.unique(out.neighbors[snapshot.edges.kind[out.halves >> 1] == MENTION])
