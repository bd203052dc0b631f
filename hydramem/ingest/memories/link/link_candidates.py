"""Which memories are linked, and how strongly: by nearness and by the rare names that both mention. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import link_id
from hydramem.core.row_types import ANSWERS, Chunk, Link, LinkType, Times
from hydramem.core.time import clock
from hydramem.graph.snapshot.snapshot import MENTION, Nodes, Snapshot
from hydramem.ingest.memories.memory_input import MEMORIES
from hydramem.ingest.memories.similarity import background, nearness
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import Vector, VectorStore, indexed_text

# A rare name that both mention brings two memories nearer by so much, and lets them be so much farther apart.
_SHARED_GAIN = 0.25

_SHARED_NEAR = 0.5
_NAMED = 3

# A link that consolidation decided outranks one by similarity, whatever its weight.
_BY_SIMILARITY: tuple[LinkType, ...] = ("relates_to", "supports")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A memory near a new one.

    Attributes:
        nearness: 0 for unrelated, 1 for equal (`similarity.background`).
        shared: Names that both mention, the rarest first.
        rarity: Of the rarest of them: 0 where all mention it, 1 where only these do.
    """

    chunk: Chunk
    nearness: float
    shared: tuple[str, ...] = ()
    rarity: float = 0.0

    @property
    def strength(self) -> float:
        """How much speaks for a link, 0 to 1."""
        return min(1.0, self.nearness + _SHARED_GAIN * self.rarity)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkProposal:
    """A link that is proposed, from the new memory to one near it."""

    target: str
    type: LinkType
    weight: float
    reason: str


def nearest(neighbours: Iterable[Neighbour], settings: MemoryConfig) -> tuple[Neighbour, ...]:
    """Return the neighbours that are near enough for a link, the strongest first, no more than are wanted.

    One that shares a rare name need only be half as near.
    """
    bound = settings.link_threshold
    enough = [
        one
        for one in neighbours
        if one.nearness >= bound or (one.rarity > 0 and one.nearness >= _SHARED_NEAR * bound)
    ]
    enough.sort(key=lambda one: (-one.strength, one.chunk.id))
    return tuple(enough[: settings.link_neighbors])


def proposed(neighbours: Sequence[Neighbour]) -> tuple[LinkProposal, ...]:
    """Propose a link to each neighbour without a model: they relate, and why."""
    return tuple(
        LinkProposal(
            target=one.chunk.id, type="relates_to", weight=round(one.strength, 3), reason=_reason(one)
        )
        for one in neighbours
    )


def _reason(one: Neighbour) -> str:
    near = f"near in meaning ({one.nearness:.2f})"
    if not one.shared:
        return near
    return f"both mention {', '.join(one.shared[:_NAMED])}; {near}"


def link_of(project: str, source: str, proposal: LinkProposal, at: datetime) -> Link:
    """Return the link that a proposal asks for."""
    return Link(
        id=link_id(project, source, proposal.type, proposal.target),
        source=source,
        target=proposal.target,
        type=proposal.type,
        weight=proposal.weight,
        reason=proposal.reason,
        times=Times(recorded_at=at),
    )


def bounded(
    stored: Iterable[Link], new: Sequence[Link], most: int
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Keep each memory's links to so many: the weakest go first, new or old, the oldest of equals.

    Links to the questions that a memory answered are not among them: they join it to no other memory.

    Args:
        stored: The active links around the ends of the new ones.
        new: Links to add.
        most: Links of one memory.

    Returns:
        The new links that stay, and the stored ones that are replaced.
    """
    old = {link.id: link for link in stored if link.type != ANSWERS}
    alive = old | {link.id: link for link in new}
    for end in sorted({end for link in new for end in (link.source, link.target)}):
        around = [link for link in alive.values() if end in (link.source, link.target)]
        for link in sorted(around, key=_strength, reverse=True)[most:]:
            del alive[link.id]
    fresh = tuple(link for link in new if link.id in alive and link.id not in old)
    return fresh, tuple(link for link in old.values() if link.id not in alive)


def _strength(link: Link) -> tuple[bool, float, datetime, str]:
    return link.type not in _BY_SIMILARITY, link.weight, link.times.recorded_at, link.id


# In addition to the requested neighbours, since some may no longer exist.
_SPARE = 5

# A name that more chunks than this mention is not rare in any project.
_COMMON = 20

_MOST_SHARING = 32


def link_candidates(
    rows: Sequence[Chunk], target: Target, vectors: VectorStore, snapshot: Snapshot, settings: MemoryConfig
) -> dict[str, tuple[Neighbour, ...]]:
    """Return the neighbours of each memory that are near enough for a link, the strongest first.

    Args:
        target: Their project.
        vectors: Finds what is near.
        snapshot: The project's graph, for the names that memories share.
        settings: How near, and how many.
    """
    if not rows or settings.link_neighbors < 1:
        return {row.id: () for row in rows}
    unrelated = background(target.embed)
    where = ChunkFilter(projects=(target.project,), kinds=MEMORIES, at=clock())
    count = settings.link_neighbors + _SPARE
    own = dict(vectors.vectors([row.id for row in rows]))
    own |= target.embed_by_id({row.id: indexed_text(row) for row in rows if row.id not in own})
    sharing = {row.id: _rare_name_sharers(row.id, snapshot) for row in rows}
    cosines = {
        row.id: {one.id: one.score for one in vectors.nearest(own[row.id], where, count + 1)} for row in rows
    }
    _add_cosines(cosines, sharing, own, vectors)
    wanted = {id for row in rows for id in cosines[row.id] if id != row.id}
    found = {row.id: row for row in target.graph.chunks(sorted(wanted)) if where.admits(row)}
    return {
        row.id: nearest(
            (
                _neighbour(found[id], nearness(cosine, unrelated), sharing[row.id].get(id, ()))
                for id, cosine in cosines[row.id].items()
                if id in found and id != row.id
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


def _add_cosines(
    cosines: Mapping[str, dict[str, float]],
    sharing: Mapping[str, Mapping[str, _Shared]],
    own: Mapping[str, Vector],
    vectors: VectorStore,
) -> None:
    """Add the cosines of the memories that share a rare name and are not among the nearest."""
    missing = {id for new, shared in sharing.items() for id in shared if id not in cosines[new]}
    stored = vectors.vectors(sorted(missing)) if missing else {}
    for new, shared in sharing.items():
        for id in shared:
            if id in stored and id not in cosines[new]:
                cosines[new][id] = float(np.dot(own[new], stored[id]))


def _rare_name_sharers(id: str, snapshot: Snapshot) -> dict[str, _Shared]:
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
