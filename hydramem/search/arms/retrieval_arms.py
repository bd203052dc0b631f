"""The arms of recall: the ways to find and score chunks before their scores are fused.

By meaning (nearest vectors), by words (full text by BM25), and by the graph: a walk from the query's
entities and from the best chunks. The walk is Personalized PageRank seeded by rare entities and, lightly, by
what the other arms found, after HippoRAG (Gutierrez et al., 2024); or plain breadth-first distance. Entries
of curated files, which no store has, are scored by each arm beside the chunks.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.graph_views import PathStep
from hydramem.core.row_types import Chunk, Traversal
from hydramem.graph.pagerank import personalized_pagerank
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import MENTION, MENTIONS, RELATION, Snapshot
from hydramem.graph.walks import Reached, bfs, trail
from hydramem.search.candidate_scores import ArmScores, FusedScore, GraphPath, normalised
from hydramem.search.conversation.turn_scores import at_turns_length
from hydramem.search.query_plan import Named, RecallPlan
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import Vector, VectorStore, best_first, searched_text

# The best chunks restart the walk more often than the entities, and by a high power of their score:
# a clear winner then keeps its place, while an even field leaves the order to the graph.
_SEEDS = 100
_SEED_MASS = 4.0
_SEED_POWER = 12

# How far, and over how many nodes, the paths that hits show may lead.
_PATH_STEPS = 4
_PATH_NODES = 4000
_BFS_DECAY = 0.5

# Curated entries that are searched for the names of a query: the best, about a millisecond each.
_MOST_READ_FOR_NAMES = 5


def vector_arm(
    vector: Vector,
    where: ChunkFilter,
    vectors: VectorStore,
    *,
    limit: int,
    weight: float,
    curated: Mapping[str, float],
) -> ArmScores:
    """Find the chunks and curated entries whose meaning is nearest; the entries' cosines are given by id."""
    cosines = {**{one.id: one.score for one in vectors.nearest(vector, where, limit)}, **curated}
    found = best_first(cosines, cosines.values(), limit)
    return ArmScores(
        name="vector",
        weight=weight,
        scores=normalised({one.id: one.score for one in found}),
        cosines={one.id: one.score for one in found},
    )


def text_arm(
    query: str,
    where: ChunkFilter,
    vectors: VectorStore,
    snapshots: Sequence[Snapshot],
    *,
    limit: int,
    weight: float,
    curated: Collection[Chunk] = (),
) -> ArmScores:
    """Find the chunks that best match the query's words; the snapshots know which of them are turns."""
    scores = {one.id: one.score for one in vectors.matching(query, where, limit)}
    if curated:
        of_curated = vectors.text_scores(query, [searched_text(one) for one in curated])
        scores |= {one.id: score for one, score in zip(curated, of_curated, strict=True) if score > 0}
        scores = {one.id: one.score for one in best_first(scores, scores.values(), limit)}
    for snapshot in snapshots:
        scores = at_turns_length(scores, snapshot)
    # The floor is no match at all, so that the weakest match keeps something.
    return ArmScores(name="text", weight=weight, scores=normalised(scores, floor=0.0))


def graph_arm(walks: Sequence["Walk"], weight: float) -> ArmScores:
    """Join the projects' walks into one arm: each counts as far as its project's names can be trusted."""
    most = max((one.plan.trust for one in walks if one.scores), default=0.0)
    scores = {
        id: score * one.plan.trust / most for one in walks if most > 0 for id, score in one.scores.items()
    }
    return ArmScores(name="graph", weight=weight * most, scores=scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The chunks of one project that a walk reached.

    Attributes:
        scores: By chunk id, 0 to 1.
        reached: How the query's entities lead to nodes; None where nothing was walked.
        places: Place in `reached` by node.
        named: The rarest entity of the query that a curated entry names, by the entry's id.
    """

    plan: RecallPlan
    scores: Mapping[str, float] = field(default_factory=dict)
    reached: Reached | None = None
    places: Mapping[int, int] = field(default_factory=dict)
    named: Mapping[str, Named] = field(default_factory=dict)

    def path(self, id: str) -> GraphPath | None:
        """Return the shortest path from an entity of the query to a chunk or entry that the walk reached."""
        if (entity := self.named.get(id)) is not None:
            step = PathStep(source=entity.name, label=MENTIONS, target=id, forward=False)
            return GraphPath(steps=(step,), chunks=())
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
    found: Sequence[FusedScore],
    *,
    where: ChunkFilter,
    traversal: Traversal,
    damping: float,
    limit: int,
) -> Walk:
    """Walk from the entities of a query; without any, or with `none`, nothing is walked.

    Args:
        plan: The query's entities and the snapshot they are in.
        found: What the other arms found, best first; the best are weak seeds.
        where: Moments and states that edges and chunks must be of.
        damping: Probability that the walk goes on rather than restarts.
    """
    if traversal == "none" or not plan.entities:
        return Walk(plan=plan)
    snapshot = plan.snapshot
    # Links count later (`search.linked_memories`): in the walk, likeness drowns what names lead to.
    edges = snapshot.edge_mask(
        at=where.at,
        known_at=where.known_at,
        layers=where.layers,
        states=where.states,
        kinds=(RELATION, MENTION),
    )
    edges = edges & snapshot.believed()
    nodes = snapshot.node_mask(states=where.states)
    named = _not_hubs(plan.entities)
    starts = np.array([entity.node for entity in named], dtype=np.int32)
    reached = bfs(
        snapshot.adjacency,
        starts,
        depth=_PATH_STEPS,
        edges=edges,
        nodes=nodes,
        ends=snapshot.rarity().hubs,
        limit=_PATH_NODES,
    )
    methods: list[dict[str, float]] = []
    if traversal != "bfs":
        methods.append(_pagerank_scores(plan, found, edges, nodes, damping, limit))
    if traversal != "ppr":
        closeness = _BFS_DECAY ** (reached.distances.astype(np.float32) - 1)
        methods.append(_best_chunks(snapshot, reached.nodes, closeness, limit))
    scores = {id: max(each.get(id, 0.0) for each in methods) for each in methods for id in each}
    places = {node: place for place, node in enumerate(reached.nodes.tolist())}
    return Walk(plan=plan, scores=scores, reached=reached, places=places)


def with_curated(walk: Walk, found: Sequence[FusedScore], curated: Mapping[str, Chunk]) -> Walk:
    """Add to a walk the curated entries that name entities of the query: no snapshot has an entry.

    A walk starts from the query's entities, the rare ones above all, and from what the other arms found: an
    entry gets the share of its own score that the entities have, by rarity, that it names.

    Args:
        walk: The walk of one project.
        found: What the other arms found, best first.
        curated: The entries by id.
    """
    plan = walk.plan
    total = sum(each.rarity for each in plan.entities)
    own = [one for one in found if one.id in curated and curated[one.id].project == plan.snapshot.project]
    scores: dict[str, float] = {}
    rarest: dict[str, Named] = {}
    for one in own[:_MOST_READ_FOR_NAMES] if walk.scores and total > 0 else ():
        nodes = {match.node for match in plan.snapshot.names.matching(curated[one.id].text)}
        named = [each for each in plan.entities if each.node in nodes and each.rarity > 0]
        if named:
            scores[one.id] = one.score * sum(each.rarity for each in named) / total
            rarest[one.id] = max(named, key=lambda each: each.rarity)
    return replace(walk, scores={**walk.scores, **scores}, named=rarest) if rarest else walk


def _not_hubs(entities: Sequence[Named]) -> Sequence[Named]:
    """Return the entities that a walk starts from: from a hub only where there is nothing else."""
    return [entity for entity in entities if entity.rarity > 0] or entities


def _pagerank_scores(
    plan: RecallPlan, found: Sequence[FusedScore], edges: Mask, nodes: Mask, damping: float, limit: int
) -> dict[str, float]:
    snapshot = plan.snapshot
    seeds, mass = _seeds(plan, found)
    # Likely-same links count later (`search.likely_names`): a walk brings up all that is said of a thing.
    edges = edges & ~snapshot.is_likely_same(slice(len(edges)))
    # The seeds are weighted by rarity. To weight each step too loses passages that only a common name joins:
    # a hub has no weight, any other entity its full one. A list of very many things is near to all of them.
    rarity = snapshot.rarity()
    node_weights = np.ceil(rarity.among(seeds)) * rarity.focus
    ranked = personalized_pagerank(
        snapshot.adjacency,
        seeds,
        mass,
        weights=snapshot.edges.weight,
        damping=damping,
        edges=edges,
        nodes=nodes,
        rarity=node_weights,
    )
    # Probability falls off by orders of magnitude; its root is in the range of the other arms' scores.
    return _best_chunks(snapshot, ranked.nodes, np.sqrt(ranked.probability), limit)


def _seeds(plan: RecallPlan, found: Sequence[FusedScore]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Entities by rarity, sharing 1; the best chunks by a power of their score, sharing `_SEED_MASS`."""
    named = _not_hubs(plan.entities)
    entities = np.array([1 / max(entity.chunks, 1) for entity in named])
    chunks = [(plan.snapshot.node(candidate.id), candidate.score) for candidate in found[:_SEEDS]]
    known = [(node, score) for node, score in chunks if node is not None]
    scores = np.array([score for _, score in known], dtype=np.float64) ** _SEED_POWER
    total = scores.sum()
    mass = [entities / entities.sum(), _SEED_MASS * scores / total if total > 0 else scores]
    nodes = [*(entity.node for entity in named), *(node for node, _ in known)]
    return np.array(nodes, dtype=np.int32), np.concatenate(mass).astype(np.float32)


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
