"""The visible part of a project's graph: its snapshot, masks for a time, and a last check of chunks."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from hydramem.core.argument_checks import check_text
from hydramem.core.errors import NotFoundError
from hydramem.core.row_types import Chunk, State
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import Nodes, Snapshot
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore

_T = TypeVar("_T")
_LONGEST_NAME = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A project's graph as it was true and believed at some moments.

    Attributes:
        where: What a chunk must be, to be seen.
        edges, nodes: What a walk may use.
        hubs: Entities where a walk may begin or end, and that it does not pass.
    """

    snapshot: Snapshot
    where: ChunkFilter
    edges: Mask
    nodes: Mask
    hubs: Mask

    @property
    def believed(self) -> Mask:
        """The edges that a walk follows: of those that may be seen, all but doubted relations."""
        return self.edges & self.snapshot.believed()

    @property
    def passable(self) -> Mask:
        """The nodes that a walk may pass."""
        return self.nodes & ~self.hubs

    def without(self, nodes: Collection[int]) -> "View":
        """Return the view with some nodes out of reach."""
        fewer = self.nodes.copy()
        fewer[list(nodes)] = False
        return replace(self, nodes=fewer)


def view(
    snapshot: Snapshot,
    *,
    states: tuple[State, ...],
    at: datetime,
    known_at: datetime | None,
    include_private: bool = True,
    types: Sequence[str] = (),
    edge_states: Sequence[State] = (),
) -> View:
    """Look at a snapshot as of a moment, and as it was believed at another.

    Args:
        types: Types of edges that a walk may use; none admit all.
        edge_states: States of the relations and links that a walk may use, true at any time; by default those
            of `states` that are true at the moment.
    """
    where = ChunkFilter(
        projects=(snapshot.project,),
        states=states,
        at=at,
        known_at=known_at,
        include_private=include_private,
    )
    if edge_states:
        edges = snapshot.edge_mask(known_at=known_at, states=edge_states)
    else:
        edges = snapshot.edge_mask(at=at, known_at=known_at, states=states)
    return View(
        snapshot=snapshot,
        where=where,
        edges=edges & snapshot.of_types(types) if types else edges,
        nodes=snapshot.node_mask(states=states),
        hubs=snapshot.rarity().hubs,
    )


def checked(
    seen: View,
    look: Callable[[View], tuple[_T, Nodes]],
    graph: GraphStore,
    *,
    starts: Collection[int] = (),
) -> tuple[_T, Mapping[str, Chunk]]:
    """Look, read the chunks that the find needs, and look again without those that may not be seen.

    A snapshot holds no times or expiry of chunks: the graph store, which is authoritative, decides.

    Args:
        look: Finds something, and says which nodes it shows or passes.
        starts: Nodes that were asked for by id or name, whatever they are.

    Returns:
        What was found, and every chunk that it shows or passes, by id.
    """
    snapshot = seen.snapshot
    while True:
        found, passed = look(seen)
        ids = {snapshot.nodes.ids[node]: node for node in passed.tolist() if snapshot.nodes.is_chunk[node]}
        chunks = {chunk.id: chunk for chunk in graph.chunks(tuple(ids))}
        refused = [
            node
            for id, node in ids.items()
            if node not in starts and not (id in chunks and seen.where.admits(chunks[id]))
        ]
        if not refused:
            return found, chunks
        seen = seen.without(refused)


def find_start(snapshot: Snapshot, start: str) -> int:
    """Return the node of a chunk id, or of an entity's name, alias or id.

    Raises:
        InvalidInputError: It is blank, too long or no text.
        NotFoundError: There is none in this project.
    """
    name = check_text(start, name="starts", most=_LONGEST_NAME)
    node = snapshot.node(name)
    if node is not None and snapshot.nodes.is_chunk[node]:
        return node
    try:
        return snapshot.entity_named(name)
    except NotFoundError as error:
        raise NotFoundError(
            f"{name[:80]!r}: no entity of project {snapshot.project!r} has this name, alias or "
            "id, and no chunk this id"
        ) from error
