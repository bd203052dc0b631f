"""The graph as a whole: its central entities, its communities, and a part of it to draw."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import NotFoundError
from hydramem.core.results.graph_views import CentralEntity, Community, GraphEdge, GraphNode, GraphView
from hydramem.core.row_types import Chunk, Measure
from hydramem.garden.phases.lasting_communities import LastingCommunity, lasting
from hydramem.graph.betweenness import betweenness
from hydramem.graph.centrality import Centrality, centrality, weight_matrix
from hydramem.graph.communities import communities as part
from hydramem.graph.snapshot.snapshot import EDGE_KINDS, MENTIONS, Nodes, Snapshot
from hydramem.graph.walks import bfs
from hydramem.search.overview.surroundings import SNIPPET
from hydramem.search.pack_hits import snippet
from hydramem.search.visible.listings import possible_document_ids
from hydramem.search.visible.visible_graph import View, checked, find_start
from hydramem.storage.store import GraphStore

_LEADERS = 3


def central(*, by: Measure, type: str | None, limit: int, seen: View) -> tuple[CentralEntity, ...]:
    """Return the central entities of the graph, most central first.

    Args:
        by: What to order by; ties go by PageRank, then by name.
        type: Only entities of this type.
        limit, seen: Most to return, and what may be seen.
    """
    snapshot = seen.snapshot
    measured = centrality(snapshot, edges=seen.edges, nodes=seen.nodes, hubs=seen.hubs)
    between = _betweenness(seen)
    rows = (_central(snapshot, measured, between, place) for place in range(len(measured.nodes)))
    return tuple(
        heapq.nsmallest(
            limit,
            (row for row in rows if type is None or row.type == type),
            key=lambda row: (-float(getattr(row, by)), -row.pagerank, row.entity),
        )
    )


def most_central(seen: View, limit: int) -> tuple[tuple[int, float], ...]:
    """Return the nodes of the entities with the largest PageRank, and it; ties go by name."""
    measured = centrality(seen.snapshot, edges=seen.edges, nodes=seen.nodes, hubs=seen.hubs)
    rows = zip(measured.nodes.tolist(), measured.pagerank.tolist(), strict=True)
    return tuple(heapq.nsmallest(limit, rows, key=lambda row: (-row[1], seen.snapshot.label(row[0]))))


def _betweenness(seen: View) -> NDArray[np.float64]:
    """Return the betweenness of each node, shape (nodes,)."""
    joined, matrix = weight_matrix(seen.snapshot, edges=seen.edges, nodes=seen.passable)
    by_node = np.zeros(seen.snapshot.size)
    by_node[joined] = betweenness(matrix, ~seen.snapshot.nodes.is_chunk[joined])
    return by_node


def _central(
    snapshot: Snapshot, measured: Centrality, between: NDArray[np.float64], place: int
) -> CentralEntity:
    node = int(measured.nodes[place])
    return CentralEntity(
        entity=snapshot.label(node),
        type=snapshot.nodes.types[int(snapshot.nodes.type[node])],
        pagerank=float(measured.pagerank[place]),
        betweenness=float(between[node]),
        relations=int(measured.relations[place]),
        chunks=int(measured.chunks[place]),
    )


def communities(
    *, limit: int, members: int, resolution: float, seen: View, before: Sequence[LastingCommunity] = ()
) -> tuple[Community, ...]:
    """Return the groups that entities and chunks fall into, most entities first.

    A group with fewer than two entities is none.

    Args:
        members: Most members to name in each.
        resolution: Above 1 for more and smaller communities, below 1 for fewer and larger.
        before: The groups of the gardener's last run; a group that continues one keeps its id and name.
    """
    snapshot = seen.snapshot
    measured = centrality(snapshot, edges=seen.edges, nodes=seen.nodes, hubs=seen.hubs)
    share = np.zeros(snapshot.size)
    share[measured.nodes] = measured.pagerank
    parted = [
        (group, entities)
        for group in part(snapshot, edges=seen.edges, nodes=seen.passable, resolution=resolution)
        if len(entities := _entities(snapshot, group, share)) > 1
    ]
    ids = snapshot.nodes.ids
    known = lasting(
        [[ids[node] for node in entities] for _, entities in parted],
        before,
        project=snapshot.project,
        label=lambda id: snapshot.label(snapshot.nodes.index[id]),
    )
    found = [
        _community(snapshot, entities, len(group), known_as, members)
        for (group, entities), known_as in zip(parted, known, strict=True)
    ]
    found.sort(key=lambda one: (-one.entities, -one.chunks, one.id))
    return tuple(found[:limit])


def _entities(snapshot: Snapshot, group: Nodes, share: NDArray[np.float64]) -> list[int]:
    """Return the entities of a group, most central first."""
    entities: list[int] = group[~snapshot.nodes.is_chunk[group]].tolist()
    ids = snapshot.nodes.ids
    return sorted(entities, key=lambda node: (-share[node], ids[node]))


def _community(
    snapshot: Snapshot, entities: Sequence[int], size: int, known_as: LastingCommunity, members: int
) -> Community:
    names = tuple(snapshot.label(node) for node in entities[: max(members, _LEADERS)])
    return Community(
        id=known_as.id,
        name=known_as.name,
        summary=known_as.summary,
        entities=len(entities),
        chunks=size - len(entities),
        central=names[:_LEADERS],
        members=names[:members],
    )


def graph_view(
    center: str | None,
    *,
    depth: int,
    limit: int,
    chunks: bool,
    graph: GraphStore,
    seen: View,
    groups: Sequence[LastingCommunity] = (),
) -> GraphView:
    """Return a part of the graph to draw: around something, or the best connected part of the project.

    Args:
        center: Name or alias of an entity, id of a chunk, or id or source of a document; None for the whole
            project.
        depth: Most steps from the centre, not past a hub.
        chunks: Whether chunks are shown, or the centre, entities and their relations alone.
        graph, seen: Where chunks are read, and what may be seen.
        groups: The groups of the gardener's last run.

    Raises:
        NotFoundError: Nothing in the project has this name, id or source.
    """
    snapshot = seen.snapshot
    home = {member: group.id for group in groups for member in group.members}
    start = None if center is None else _center(seen, center)
    if not chunks:
        seen = seen.without(np.flatnonzero(snapshot.nodes.is_chunk).tolist())

    def look(seen: View) -> tuple[tuple[Nodes, NDArray[np.int32] | None, int], Nodes]:
        nodes, distances = _connected(seen) if start is None else _ball(seen, start.nodes, depth)
        shown = None if distances is None else distances[:limit]
        return (nodes[:limit], shown, max(len(nodes) - limit, 0)), nodes[:limit]

    asked_for = frozenset[int]() if start is None else start.asked_for
    (nodes, distances, left_out), read = checked(seen, look, graph, starts=asked_for)
    return GraphView(
        center=None if start is None else start.name,
        nodes=tuple(
            _node(snapshot, node, None if distances is None else int(distances[place]), read, home)
            for place, node in enumerate(nodes.tolist())
        ),
        edges=_edges(seen, nodes),
        left_out=left_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Center:
    """The centre of a drawn graph.

    Attributes:
        name: Name of the entity, or id of the chunk or document.
        nodes: The nodes in the centre.
        asked_for: Those of them that are shown whatever they are: a chunk by its own id.
    """

    name: str
    nodes: Nodes
    asked_for: frozenset[int] = frozenset()


def _center(seen: View, center: str) -> _Center:
    """Find the entity, chunk or document that is meant.

    Raises:
        NotFoundError: There is none in the project, or no chunk of the document may be seen.
    """
    snapshot = seen.snapshot
    try:
        node = find_start(snapshot, center)
    except NotFoundError as error:
        codes = snapshot.nodes.documents
        ids = possible_document_ids(snapshot.project, center)
        id = next((id for id in ids if id in codes), None)
        chunks = np.flatnonzero((snapshot.nodes.document == codes.get(id or "", -2)) & seen.nodes)
        if id is None or not len(chunks):
            raise NotFoundError(f"{error}, and no document this id or source") from error
        return _Center(name=id, nodes=chunks.astype(np.int32))
    return _Center(
        name=snapshot.label(node), nodes=np.array([node], dtype=np.int32), asked_for=frozenset({node})
    )


def _ball(seen: View, starts: Nodes, depth: int) -> tuple[Nodes, NDArray[np.int32]]:
    """Return the nodes within a depth, nearest first, at each distance the best connected first."""
    reached = bfs(
        seen.snapshot.adjacency, starts, depth=depth, edges=seen.edges, nodes=seen.nodes, ends=seen.hubs
    )
    order = np.lexsort((-_degrees(seen)[reached.nodes], reached.distances))
    return reached.nodes[order], reached.distances[order]


def _connected(seen: View) -> tuple[Nodes, None]:
    """Return every node, the best connected first."""
    nodes = np.flatnonzero(seen.nodes).astype(np.int32)
    return nodes[np.argsort(-_degrees(seen)[nodes], kind="stable")], None


def _degrees(seen: View) -> NDArray[np.int64]:
    rows = np.flatnonzero(seen.edges)
    columns = seen.snapshot.edges
    ends = np.concatenate([columns.source[rows], columns.target[rows]])
    degrees: NDArray[np.int64] = np.bincount(ends, minlength=seen.snapshot.size)
    return degrees


def _node(
    snapshot: Snapshot,
    node: int,
    distance: int | None,
    read: Mapping[str, Chunk],
    home: Mapping[str, str],
) -> GraphNode:
    id = snapshot.nodes.ids[node]
    is_chunk = bool(snapshot.nodes.is_chunk[node])
    return GraphNode(
        id=id,
        name=snippet(read[id], SNIPPET) if is_chunk else snapshot.label(node),
        kind="chunk" if is_chunk else "entity",
        type=snapshot.nodes.types[int(snapshot.nodes.type[node])],
        distance=distance,
        community=home.get(id, ""),
    )


def _edges(seen: View, nodes: Nodes) -> tuple[GraphEdge, ...]:
    snapshot = seen.snapshot
    columns = snapshot.edges
    inside = np.zeros(snapshot.size, dtype=np.bool_)
    inside[nodes] = True
    rows = np.flatnonzero(seen.edges & inside[columns.source] & inside[columns.target])
    return tuple(_edge(snapshot, row) for row in rows.tolist())


def _edge(snapshot: Snapshot, row: int) -> GraphEdge:
    columns = snapshot.edges
    code = int(columns.type[row])
    return GraphEdge(
        source=snapshot.nodes.ids[columns.source[row]],
        target=snapshot.nodes.ids[columns.target[row]],
        kind=EDGE_KINDS[int(columns.kind[row])],
        type=columns.types[code] if code >= 0 else MENTIONS,
        weight=float(columns.weight[row]),
        id=columns.ids[row].decode(),
        inferred=bool(columns.supposed[row]),
    )
