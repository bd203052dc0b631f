"""The stores as they are once writes that wait for a common commit are stored: reads see their rows.

Such a view lives while the writer lock is held, so what it has read once is not read again.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.schema import CHUNK, ENTITY, KEYED_TABLES, EdgeTable, NodeTable
from hydramem.storage.store import End, GraphStore, entities_by_key
from hydramem.storage.vector_rows import Scored, Vector, VectorStore, best_first
from hydramem.storage.write import Write

Known = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps keys of names, aliases included, to ids of entities."""


class PendingGraph:
    """A graph store with the rows of pending writes.

    Reads by id, by the ends of edges and by name see pending rows; lists and counts see what is committed.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        # Rows by table and id, None where there is none.
        self._nodes: dict[str, dict[str, Any]] = defaultdict(dict)
        self._edges: dict[str, dict[Any, Any]] = defaultdict(dict)
        self._pending: dict[str, dict[str, Any]] = defaultdict(dict)

    chunks = GraphStore.chunks
    entities = GraphStore.entities
    sessions = GraphStore.sessions
    mentions = GraphStore.mentions
    mentioned = GraphStore.mentioned
    relations = GraphStore.relations
    links = GraphStore.links
    _edges_around = GraphStore._edges_around

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    @property
    def as_graph(self) -> GraphStore:
        """This view, as what it stands for."""
        return cast(GraphStore, self)

    @property
    def pending_chunks(self) -> Mapping[str, Chunk]:
        """The chunks of pending writes, by id."""
        return self._pending[CHUNK.name]

    def add(self, write: Write) -> None:
        """Let reads see the rows of a write; it removes none."""
        for table in KEYED_TABLES:
            for row in getattr(write, table.plural):
                if isinstance(table, EdgeTable):
                    self._edges[table.name][table.key_of(row)] = row
                else:
                    self._nodes[table.name][row.id] = row
                    self._pending[table.name][row.id] = row

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows of a node table by id."""
        held, wanted = self._nodes[table.name], dict.fromkeys(ids)
        if unread := [id for id in wanted if id not in held]:
            held.update(dict.fromkeys(unread))
            held.update((row.id, row) for row in self._graph.nodes(table, unread))
        return tuple(held[id] for id in wanted if held[id] is not None)

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end, in any order."""
        stored = self._graph.edges(table, ids, end=end)
        if not (pending := self._edges[table.name]):
            return stored
        name = table.ends[0 if end == "source" else 1]
        wanted = set(ids)
        new = {key: row for key, row in pending.items() if getattr(row, name) in wanted}
        return list(({table.key_of(row): row for row in stored} | new).values())

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        own = (row.position for row in self.pending_chunks.values() if row.session == session)
        return max(self._graph.last_position(session), *own, -1)

    def known(self, stored: Known) -> Known:
        """Return the look-up of entities by name, pending ones too.

        Args:
            stored: The look-up of those that are committed.
        """
        held: dict[str, str | None] = {}

        def known(keys: Sequence[str]) -> Mapping[str, str]:
            if unread := [key for key in keys if key not in held]:
                held.update({**dict.fromkeys(unread), **stored(unread)})
            pending = ((row.id, row.key, row.aliases) for row in self._pending[ENTITY.name].values())
            found = {key: id for key in keys if (id := held[key]) is not None}
            return {**entities_by_key(keys, pending), **found}

        return known


class PendingVectors:
    """A vector store with the chunks of pending writes.

    Args:
        vectors: What is committed.
        graph: The graph with the pending writes.
    """

    def __init__(self, vectors: VectorStore, graph: PendingGraph) -> None:
        self._vectors = vectors
        self._graph = graph
        self._added: dict[str, Vector] = {}
        self._nearest: dict[tuple[bytes, ChunkFilter, int], tuple[Scored, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vectors, name)

    @property
    def as_vectors(self) -> VectorStore:
        """This view, as what it stands for."""
        return cast(VectorStore, self)

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Let reads see the vectors of a write, which the graph was given before."""
        self._added.update(vectors)

    def nearest(self, vector: Vector, where: ChunkFilter, limit: int) -> tuple[Scored, ...]:
        """Return the chunks nearest by cosine among those that the filter admits, best first."""
        asked = (vector.tobytes(), where, limit)
        if asked not in self._nearest:
            self._nearest[asked] = self._vectors.nearest(vector, where, limit)
        if not self._added:
            return self._nearest[asked]
        pending = self._graph.pending_chunks
        found = {one.id: one.score for one in self._nearest[asked] if one.id not in pending}
        for id, own in self._added.items():
            if where.admits(pending[id]):
                found[id] = float(np.dot(own, vector))
        return best_first(found, found.values(), limit)

    def vectors(self, chunks: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks by id; those without one are left out."""
        unread = [id for id in chunks if id not in self._added]
        stored = self._vectors.vectors(unread) if unread else {}
        return {**stored, **{id: self._added[id] for id in chunks if id in self._added}}
