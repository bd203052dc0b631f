"""The graph as a whole: its central entities and its communities."""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.graph_views import CentralEntity, Community
from hydramem.core.row_types import Measure
from hydramem.garden.phases.lasting_communities import LastingCommunity, lasting
from hydramem.graph.betweenness import betweenness
from hydramem.graph.centrality import Centrality, centrality, weight_matrix
from hydramem.graph.communities import communities as part
from hydramem.graph.snapshot.snapshot import Nodes, Snapshot
from hydramem.search.visible.visible_graph import View

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
