"""The graph arm: chunks that a walk from the query's entities and from the best chunks arrives at.

Personalized PageRank seeded by rare entities and, lightly, by what the other arms found, after
HippoRAG (Gutierrez et al., 2024); or plain breadth-first distance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Traversal
from hydramem.graph.pagerank import personalized_pagerank
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import MENTION, RELATION, Snapshot
from hydramem.graph.walks import Reached, bfs, trail
from hydramem.search.fusion import Fused, GraphPath, normalised
from hydramem.search.plan import RecallPlan
from hydramem.storage.chunk_filter import ChunkFilter

# The best chunks restart the walk more often than the entities, and by a high power of their score:
# a clear winner then keeps its place, while an even field leaves the order to the graph.
_SEEDS = 100
_SEED_MASS = 4.0
_SEED_POWER = 12

# How far, and over how many nodes, hits are told how the graph leads to them.
_REACH = 4
_WAYS = 4000
_BFS_DECAY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What the walk arrived at.

    Attributes:
        scores: By chunk id, 0 to 1.
        reached: How the query's entities lead to nodes; None where nothing was walked.
        places: Place in `reached` by node.
    """

    plan: RecallPlan
    scores: Mapping[str, float] = field(default_factory=dict)
    reached: Reached | None = None
    places: Mapping[int, int] = field(default_factory=dict)

    def way(self, id: str) -> GraphPath | None:
        """Return the shortest way from an entity of the query to a chunk that the walk arrived at."""
        snapshot = self.plan.snapshot
        node = snapshot.node(id) if id in self.scores else None
        place = None if node is None else self.places.get(node)
        if self.reached is None or place is None:
            return None
        steps = tuple(snapshot.step(half) for half in trail(self.reached, place))
        chunks: list[str] = []
        while (place := int(self.reached.parents[place])) >= 0:
            passed = int(self.reached.nodes[place])
            if snapshot.nodes.is_chunk[passed]:
                chunks.append(snapshot.nodes.ids[passed])
        return GraphPath(steps=steps, chunks=tuple(chunks))


def walk(
    plan: RecallPlan,
    found: Sequence[Fused],
    *,
    where: ChunkFilter,
    traversal: Traversal,
    damping: float,
    limit: int,
) -> Walk:
    """Walk from the query's entities; without any, or with `none`, nothing is walked.

    Args:
        plan: The query's entities and the snapshot they are in.
        found: What the other arms found, best first; the best are weak seeds.
        where: Moments and states that edges and chunks must be of.
        traversal: How to walk.
        damping: Probability that the walk goes on rather than restarts.
        limit: Most chunks to return.
    """
    if traversal == "none" or not plan.entities:
        return Walk(plan=plan)
    snapshot = plan.snapshot
    # Links have an arm of their own (`search.linked`): walked too, likeness drowns what names lead to.
    edges = snapshot.edge_mask(
        at=where.at,
        known_at=where.known_at,
        layers=where.layers,
        states=where.states,
        kinds=(RELATION, MENTION),
    )
    nodes = snapshot.node_mask(states=where.states)
    starts = np.array([entity.node for entity in plan.entities], dtype=np.int32)
    reached = bfs(snapshot.adjacency, starts, depth=_REACH, edges=edges, nodes=nodes, limit=_WAYS)
    arms: list[dict[str, float]] = []
    if traversal != "bfs":
        arms.append(_pagerank(plan, found, edges, nodes, damping, limit))
    if traversal != "ppr":
        arms.append(_distances(snapshot, reached, limit))
    scores = {id: max(arm.get(id, 0.0) for arm in arms) for arm in arms for id in arm}
    places = {node: place for place, node in enumerate(reached.nodes.tolist())}
    return Walk(plan=plan, scores=scores, reached=reached, places=places)


def _pagerank(
    plan: RecallPlan, found: Sequence[Fused], edges: Mask, nodes: Mask, damping: float, limit: int
) -> dict[str, float]:
    snapshot = plan.snapshot
    seeds, mass = _seeds(plan, found)
    ranked = personalized_pagerank(
        snapshot.adjacency,
        seeds,
        mass,
        weights=snapshot.edges.weight,
        damping=damping,
        edges=edges,
        nodes=nodes,
    )
    # Probability falls off by orders of magnitude; its root lies in the range of the other arms' scores.
    return _best_chunks(snapshot, ranked.nodes, np.sqrt(ranked.probability), limit)


def _seeds(plan: RecallPlan, found: Sequence[Fused]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Entities by rarity, sharing 1; the best chunks by a power of their score, sharing `_SEED_MASS`."""
    entities = np.array([1 / max(entity.chunks, 1) for entity in plan.entities])
    chunks = [(plan.snapshot.node(candidate.id), candidate.score) for candidate in found[:_SEEDS]]
    known = [(node, score) for node, score in chunks if node is not None]
    scores = np.array([score for _, score in known], dtype=np.float64) ** _SEED_POWER
    total = scores.sum()
    mass = [entities / entities.sum(), _SEED_MASS * scores / total if total > 0 else scores]
    nodes = [*(entity.node for entity in plan.entities), *(node for node, _ in known)]
    return np.array(nodes, dtype=np.int32), np.concatenate(mass).astype(np.float32)


def _distances(snapshot: Snapshot, reached: Reached, limit: int) -> dict[str, float]:
    closeness = _BFS_DECAY ** (reached.distances.astype(np.float32) - 1)
    return _best_chunks(snapshot, reached.nodes, closeness, limit)


def _best_chunks(
    snapshot: Snapshot, nodes: NDArray[np.int32], scores: NDArray[np.float32], limit: int
) -> dict[str, float]:
    chunks = np.flatnonzero(snapshot.nodes.is_chunk[nodes] & (scores > 0))
    if len(chunks) > limit:
        # Only the best are worth sorting; equal ones at the limit are sorted with them.
        least = np.partition(scores[chunks], len(chunks) - limit)[len(chunks) - limit]
        chunks = chunks[scores[chunks] >= least]
    best = chunks[np.argsort(-scores[chunks], kind="stable")[:limit]]
    by_id = {snapshot.nodes.ids[nodes[place]]: float(scores[place]) for place in best}
    return normalised(by_id, floor=0.0)
