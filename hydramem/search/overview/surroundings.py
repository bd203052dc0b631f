"""Around one thing in the graph: its neighbours, its surroundings, the paths between two entities."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.graph_views import (
    Neighbor,
    Path,
    PathStep,
    ReachedChunk,
    ReachedEntity,
    Surroundings,
)
from hydramem.core.row_types import Chunk
from hydramem.graph.pagerank import personalized_pagerank, strengths
from hydramem.graph.paths import best_paths
from hydramem.graph.snapshot.snapshot import RELATION, Nodes, Snapshot
from hydramem.graph.walks import Reached, bfs, trail
from hydramem.search.pack_hits import renamed, shared_fields, snippet
from hydramem.search.visible.visible_graph import View, checked, find_start
from hydramem.storage.store import GraphStore

SNIPPET = 80
_REACHED = 5000


def neighbors(entity: str, *, depth: int, limit: int, seen: View) -> tuple[Neighbor, ...]:
    """Return the entities that relations join to one, nearest first, with the steps that lead to each.

    Of equally near ones the most probable come first. No step leads on from a hub, or over a doubted
    relation.

    Raises:
        NotFoundError: No entity has that name.
    """
    snapshot = seen.snapshot
    start = snapshot.entity_named(entity)
    reached = bfs(
        snapshot.adjacency,
        np.array([start], dtype=np.int32),
        depth=depth,
        edges=seen.believed & (snapshot.edges.kind == RELATION),
        ends=seen.hubs,
        limit=limit + 1,
        weights=snapshot.edges.weight,
    )
    return tuple(
        Neighbor(
            entity=snapshot.label(int(reached.nodes[place])),
            type=_type(snapshot, reached.nodes[place]),
            distance=int(reached.distances[place]),
            via=_via(snapshot, reached, place),
        )
        for place in range(1, len(reached.nodes))
    )


def path(start: str, end: str, *, max_steps: int, count: int, graph: GraphStore, seen: View) -> Path:
    """Return the shortest paths between two entities, over relations, mentions and links, past no hub.

    No path leads over a doubted relation.

    A chunk on a path is shown by the beginning of its text.

    Raises:
        NotFoundError: No entity has one of the names.
    """
    snapshot = seen.snapshot
    ends = snapshot.entity_named(start), snapshot.entity_named(end)
    names = snapshot.label(ends[0]), snapshot.label(ends[1])

    def look(seen: View) -> tuple[tuple[tuple[int, ...], ...], Nodes]:
        paths = best_paths(
            snapshot.adjacency, *ends, count=count, depth=max_steps, edges=seen.believed, nodes=seen.passable
        )
        return paths, passed_by(snapshot, [half for path in paths for half in path])

    paths, chunks = checked(seen, look, graph)
    if not paths:
        return Path(start=names[0], end=names[1], found=False)
    walked = (tuple(snapshot.step(half) for half in path) for path in paths)
    steps, *others = (readable(each, chunks) for each in walked)
    return Path(start=names[0], end=names[1], found=True, steps=steps, others=tuple(others))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """What a walk found: places in `reached` of the best entities and chunks, and the score of each place."""

    reached: Reached
    scores: NDArray[np.float32]
    entities: tuple[int, ...]
    chunks: tuple[int, ...]


def expand(
    starts: Sequence[str], *, depth: int, limit: int, max_tokens: int, graph: GraphStore, seen: View
) -> Surroundings:
    """Return the surroundings of entities and chunks, best first, with the steps that lead there.

    Searches outward to the depth, then ranks what it reached by Personalized PageRank from the starts:
    what many paths lead to ranks above what is merely near.

    Args:
        starts: Names of entities and ids of chunks.
        limit: Most entities, and most chunks, to return.
        max_tokens: Most tokens of the chunks' texts; a chunk that does not fit any more is left out.
        graph, seen: Where chunks are read, and what may be seen.

    Raises:
        NotFoundError: A start is not in the project.
    """
    snapshot = seen.snapshot
    nodes = np.array([find_start(snapshot, start) for start in starts], dtype=np.int32)

    def look(seen: View) -> tuple[_Surroundings, Nodes]:
        around = _around(seen, nodes, depth, limit)
        ways = [trail(around.reached, place) for place in (*around.entities, *around.chunks)]
        return around, passed_by(snapshot, [half for way in ways for half in way])

    around, read = checked(seen, look, graph, starts=frozenset(nodes.tolist()))
    reached = around.reached
    shown = tuple(_within(around.chunks, reached, snapshot, read, max_tokens))
    found = len(reached.nodes) - len(set(nodes.tolist()))
    return Surroundings(
        starts=tuple(dict.fromkeys(snapshot.label(node) for node in nodes.tolist())),
        entities=tuple(_entity(snapshot, around, place, read) for place in around.entities),
        chunks=tuple(_chunk(snapshot, around, place, read) for place in shown),
        tokens=sum(read[snapshot.nodes.ids[reached.nodes[place]]].tokens for place in shown),
        left_out=found - len(around.entities) - len(shown),
    )


def _around(seen: View, starts: Nodes, depth: int, limit: int) -> _Surroundings:
    snapshot = seen.snapshot
    graph = snapshot.adjacency
    weights, edges = snapshot.edges.weight, seen.believed
    reached = bfs(
        graph,
        starts,
        depth=depth,
        edges=edges,
        nodes=seen.nodes,
        ends=seen.hubs,
        limit=_REACHED,
        weights=strengths(weights),
    )
    inside = np.zeros(snapshot.size, dtype=np.bool_)
    inside[reached.nodes] = True
    ranked = personalized_pagerank(
        graph,
        starts,
        np.ones(len(starts), dtype=np.float32),
        weights=weights,
        edges=edges,
        nodes=inside,
        rarity=snapshot.rarity().among(starts),
    )
    by_node = np.zeros(snapshot.size, dtype=np.float32)
    by_node[ranked.nodes] = ranked.probability
    scores = by_node[reached.nodes]
    places = np.flatnonzero(reached.distances > 0).tolist()
    ids = [snapshot.nodes.ids[node] for node in reached.nodes.tolist()]
    places.sort(key=lambda place: (-scores[place], reached.distances[place], ids[place]))
    is_chunk = snapshot.nodes.is_chunk[reached.nodes]
    return _Surroundings(
        reached=reached,
        scores=scores / (scores[places].max(initial=0.0) or 1.0),
        entities=tuple(place for place in places if not is_chunk[place])[:limit],
        chunks=tuple(place for place in places if is_chunk[place])[:limit],
    )


def _within(
    places: Sequence[int], reached: Reached, snapshot: Snapshot, read: Mapping[str, Chunk], most: int
) -> Iterator[int]:
    """Keep the chunks whose texts fit a budget of tokens; a long one does not keep a short one out."""
    for place in places:
        tokens = read[snapshot.nodes.ids[reached.nodes[place]]].tokens
        if tokens <= most:
            most -= tokens
            yield place


def _entity(
    snapshot: Snapshot, around: _Surroundings, place: int, read: Mapping[str, Chunk]
) -> ReachedEntity:
    node = around.reached.nodes[place]
    return ReachedEntity(
        entity=snapshot.label(int(node)),
        type=_type(snapshot, node),
        distance=int(around.reached.distances[place]),
        score=float(around.scores[place]),
        via=readable(_via(snapshot, around.reached, place), read),
    )


def _chunk(snapshot: Snapshot, around: _Surroundings, place: int, read: Mapping[str, Chunk]) -> ReachedChunk:
    chunk = read[snapshot.nodes.ids[around.reached.nodes[place]]]
    return ReachedChunk(
        **shared_fields(chunk, ReachedChunk),
        distance=int(around.reached.distances[place]),
        score=float(around.scores[place]),
        via=readable(_via(snapshot, around.reached, place), read),
    )


def passed_by(snapshot: Snapshot, halves: Sequence[int]) -> Nodes:
    """Return the nodes at both ends of half-edges."""
    rows = np.unique(np.array(halves, dtype=np.int64) >> 1)
    ends: Nodes = np.unique(np.concatenate([snapshot.edges.source[rows], snapshot.edges.target[rows]]))
    return ends


def _via(snapshot: Snapshot, reached: Reached, place: int) -> tuple[PathStep, ...]:
    return tuple(snapshot.step(half) for half in trail(reached, place))


def _type(snapshot: Snapshot, node: np.int32) -> str:
    return snapshot.nodes.types[int(snapshot.nodes.type[node])]


def readable(steps: tuple[PathStep, ...], chunks: Mapping[str, Chunk]) -> tuple[PathStep, ...]:
    """Put the beginning of a chunk's text where a step names the chunk by its id."""
    ends = {end for step in steps for end in (step.source, step.target)}
    return renamed(steps, {end: snippet(chunks[end], SNIPPET) for end in ends if end in chunks})
