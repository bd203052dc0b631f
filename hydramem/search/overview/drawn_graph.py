"""A part of the graph to draw as nodes and edges: around something, or the best connected of a project."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import NotFoundError
from hydramem.core.results.graph_views import GraphEdge, GraphNode, GraphView
from hydramem.core.row_types import Chunk, Layer, State
from hydramem.garden.phases.lasting_communities import LastingCommunity
from hydramem.graph.snapshot.columns import moment_of
from hydramem.graph.snapshot.snapshot import EDGE_KINDS, MENTIONS, Nodes, Snapshot
from hydramem.graph.walks import bfs
from hydramem.search.overview.surroundings import SNIPPET
from hydramem.search.pack_hits import snippet
from hydramem.search.visible.listings import possible_document_ids
from hydramem.search.visible.visible_graph import View, checked, find_start
from hydramem.storage.store import GraphStore

_Name = TypeVar("_Name")
_LAYERS: tuple[Layer, ...] = get_args(Layer)
_STATES: tuple[State, ...] = get_args(State)


def graph_view(
    center: str | None,
    *,
    depth: int,
    limit: int,
    chunks: bool,
    graph: GraphStore,
    seen: View,
    also: Sequence[str] = (),
    groups: Sequence[LastingCommunity] = (),
) -> GraphView:
    """Return a part of the graph to draw: around something, or the best connected part of the project.

    Args:
        center: Name or alias of an entity, id of a chunk, or id or source of a document; None for the whole
            project.
        depth: Most steps from the centre, not past a hub.
        chunks: Whether chunks are shown, or the centre, entities and their relations alone.
        graph, seen: Where chunks are read, and what may be seen.
        also: Names or ids of further nodes to show, whatever their distance and beyond the limit; those that
            the project has no more, or that may not be seen, are left out.
        groups: The groups of the gardener's last run.

    Raises:
        NotFoundError: Nothing in the project has this name, id or source.
    """
    snapshot = seen.snapshot
    home = {member: group.id for group in groups for member in group.members}
    start = None if center is None else _center(seen, center)
    if not chunks:
        seen = seen.without(np.flatnonzero(snapshot.nodes.is_chunk).tolist())

    named = _present(snapshot, also)

    def look(seen: View) -> tuple[_Drawn, Nodes]:
        drawn = _draw(seen, None if start is None else start.nodes, depth, limit, named)
        return drawn, drawn.nodes

    asked_for = frozenset[int]() if start is None else start.asked_for
    drawn, read = checked(seen, look, graph, starts=asked_for)
    degrees = _degrees(seen)
    return GraphView(
        center=None if start is None else start.name,
        nodes=tuple(
            _node(snapshot, node, distance, read, home, int(degrees[node]))
            for node, distance in zip(drawn.nodes.tolist(), drawn.distances, strict=True)
        ),
        edges=_edges(seen, drawn.nodes),
        left_out=drawn.left_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """The nodes of a drawn graph, with the distance of each from the centre, None where it is unknown."""

    nodes: Nodes
    distances: tuple[int | None, ...]
    left_out: int


def _present(snapshot: Snapshot, names: Sequence[str]) -> Nodes:
    """Return the nodes of names and ids that the project has, each once."""
    found = []
    for name in names:
        with suppress(NotFoundError):  # a drawing may name what was merged or erased since
            found.append(find_start(snapshot, name))
    return np.array(list(dict.fromkeys(found)), dtype=np.int32)


def _draw(seen: View, starts: Nodes | None, depth: int, limit: int, named: Nodes) -> _Drawn:
    """Choose the nodes: the nearest or best connected up to a limit, then those that are named besides."""
    nodes, distances = _connected(seen) if starts is None else _ball(seen, starts, depth)
    further = named[seen.nodes[named] & ~np.isin(named, nodes[:limit])]
    far = dict(zip(nodes.tolist(), distances.tolist(), strict=True)) if distances is not None else {}
    shown = np.concatenate([nodes[:limit], further])
    return _Drawn(
        nodes=shown,
        distances=tuple(far.get(node) for node in shown.tolist()),
        left_out=len(nodes) - min(limit, len(nodes)) - int(np.isin(further, nodes).sum()),
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
    degree: int,
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
        degree=degree,
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
        layer=_named_in(_LAYERS, int(columns.layer[row])),
        state=_named_in(_STATES, int(columns.state[row])),
        valid_from=moment_of(int(columns.valid_from[row])),
        valid_to=moment_of(int(columns.valid_to[row])),
    )


def _named_in(names: tuple[_Name, ...], place: int) -> _Name | None:
    return names[place] if place >= 0 else None
