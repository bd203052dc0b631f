"""The writer behind a project's snapshots: columns loaded from the store's tables, grown by each write.

New rows are appended and changed rows copy their column, so that earlier snapshots do not change. Adjacency
of new edges is an overlay, merged into the base once it exceeds a share of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hydramem.core.row_types import Chunk, Entity, Times
from hydramem.graph.snapshot import adjacency
from hydramem.graph.snapshot.columns import (
    BEGINNING,
    END,
    Array,
    GrowingColumn,
    coded,
    id_bytes,
    microseconds,
    numbers,
    places_in,
    timestamps,
)
from hydramem.graph.snapshot.masks import Masks
from hydramem.graph.snapshot.name_index import NameIndex, Names, Spellings
from hydramem.graph.snapshot.rarity import RarityCache
from hydramem.graph.snapshot.snapshot import (
    EDGE_KINDS,
    LAYERS,
    LINK,
    MENTION,
    RELATION,
    STATES,
    SYNONYM,
    EdgeColumns,
    NodeColumns,
    Snapshot,
    Turns,
)
from hydramem.storage.schema import QUESTION_MARKS
from hydramem.storage.write import Write

if TYPE_CHECKING:
    import pyarrow as pa

SPELLED_LIKE = "spelled_like"
"""The type of synonym edges."""
_LAST_POSITION = _LONGEST = 2**31 - 1
_MERGE_SHARE = 0.05
_MERGE_ROWS = 2000
_INTERVALS = {"valid_from": BEGINNING, "valid_to": END, "recorded_at": BEGINNING, "retired_at": END}


def load(project: str, nodes: "pa.Table", edges: "pa.Table") -> Snapshot:
    """Build a snapshot from a graph store's tables (columns: `storage.schema`)."""
    return SnapshotWriter(project, nodes, edges).snapshot()


class SnapshotWriter:
    """One project's columns, and the last snapshot of them. Not safe from several threads."""

    def __init__(self, project: str, nodes: "pa.Table", edges: "pa.Table") -> None:
        self._project = project
        self._nodes = _NodeColumnsWriter(nodes)
        self._edges = _EdgeColumnsWriter(edges, self._nodes.ids)
        self._edges.join(*self._nodes.spellings.pairs())
        self._adjacency = self._base_adjacency()
        self._masks = Masks()
        self._rarities = RarityCache()
        self._snapshot: Snapshot | None = None

    def apply(self, write: Write) -> None:
        """Add a committed write's rows; rows that exist are replaced."""
        for chunk in write.chunks:
            if chunk.project == self._project:
                self._nodes.put_chunk(chunk)
        for entity in write.entities:
            if entity.project == self._project:
                self._put_entity(entity)
        self._apply_edges(write)
        self._snapshot = None

    def _put_entity(self, entity: Entity) -> None:
        other = self._nodes.put_entity(entity)
        if other is not None:
            node = self._nodes.index[entity.id]
            self._edges.put(self._adjacency, SYNONYM, node, other, weight=1, type=SPELLED_LIKE)

    def _apply_edges(self, write: Write) -> None:
        for mention in write.mentions:
            self._put(MENTION, mention.chunk, mention.entity, weight=mention.count)
        for relation in write.relations:
            self._put(
                RELATION,
                relation.subject,
                relation.object,
                weight=relation.weight,
                id=relation.id,
                type=relation.type,
                bidirectional=relation.bidirectional,
                supposed=relation.supposed,
                layer=LAYERS.index(relation.layer),
                state=STATES.index(relation.state),
                times=relation.times,
            )
        for link in write.links:
            self._put(
                LINK,
                link.source,
                link.target,
                weight=link.weight,
                id=link.id,
                type=link.type,
                state=STATES.index(link.state),
                times=link.times,
            )

    def _put(self, kind: int, source: str, target: str, **values: Any) -> None:
        ends = self._nodes.index.get(source), self._nodes.index.get(target)
        if ends[0] is not None and ends[1] is not None:
            self._edges.put(self._adjacency, kind, ends[0], ends[1], **values)

    def snapshot(self) -> Snapshot:
        """Return everything applied so far as a value that later writes do not touch."""
        if self._snapshot is None:
            self._snapshot = self._take_snapshot()
        return self._snapshot

    def _take_snapshot(self) -> Snapshot:
        base = len(self._adjacency.halves) // 2
        if len(self._edges) - base > max(_MERGE_ROWS, _MERGE_SHARE * base):
            self._adjacency = self._base_adjacency()
            self._edges.recent.clear()
        edges = self._edges.view()
        nodes = self._nodes
        return Snapshot(
            project=self._project,
            size=len(nodes),
            nodes=nodes.view(),
            edges=edges,
            adjacency=adjacency.overlay(self._adjacency, len(nodes), edges.source, edges.target),
            names=Names(index=nodes.names, ids=nodes.ids, size=len(nodes), spellings=nodes.spellings),
            turns=nodes.turns(),
            turn_keys=nodes.columns["turn_key"].view(),
            masks=self._masks,
            rarities=self._rarities,
        )

    def _base_adjacency(self) -> adjacency.Adjacency:
        edges = self._edges.view()
        return adjacency.build(len(self._nodes), edges.source, edges.target)


class _NodeColumnsWriter:
    """Columns of nodes, their names, and the order of turns in sessions."""

    def __init__(self, table: "pa.Table") -> None:
        self.ids: list[str] = table["id"].to_pylist()
        self.index = {id: node for node, id in enumerate(self.ids)}
        self.labels: list[str | None] = table["name"].to_pylist()
        types, self._types = coded(table["type"])
        sessions, self._sessions = coded(table["session"])
        authors, self._authors = coded(table["author"])
        documents, self._documents = coded(table["document"])
        self.columns = {
            "is_chunk": GrowingColumn(numbers(table["is_chunk"], np.bool_, False)),
            "type": GrowingColumn(types),
            "layer": GrowingColumn(places_in(table["layer"], LAYERS)),
            "state": GrowingColumn(places_in(table["state"], STATES)),
            "author": GrowingColumn(authors),
            "document": GrowingColumn(documents),
            "tokens": GrowingColumn(numbers(table["tokens"], np.int32, 0)),
            "asks": GrowingColumn(numbers(table["asks"], np.bool_, False)),
            "turn_key": GrowingColumn(_turn_keys(sessions, table)),
        }
        self.names = _name_index(table)
        self.spellings = Spellings(self.labels)
        self._keys_seen = self.columns["turn_key"].view()
        self._turns = _turns_in_order(self._keys_seen, 0)

    def __len__(self) -> int:
        return len(self.columns["is_chunk"])

    def put_entity(self, entity: Entity) -> int | None:
        """Add or replace an entity; return the node of another whose name is spelled like its name."""
        node = self._row(entity.id)
        self.labels[node] = entity.name
        self._set(
            node,
            is_chunk=False,
            type=self._types.of(entity.type),
            layer=-1,
            state=-1,
            author=-1,
            document=-1,
            tokens=0,
            asks=False,
            turn_key=-1,
        )
        self.names.add(node, entity.key, entity.aliases)
        return self.spellings.add(node, entity.name)

    def put_chunk(self, chunk: Chunk) -> None:
        """Add or replace a chunk."""
        self._set(
            self._row(chunk.id),
            is_chunk=True,
            type=self._types.of(chunk.kind),
            layer=LAYERS.index(chunk.layer),
            state=STATES.index(chunk.state),
            author=self._authors.of(chunk.author),
            document=self._documents.of(chunk.document),
            tokens=min(chunk.tokens, _LONGEST),
            asks=chunk.text.endswith(QUESTION_MARKS),
            turn_key=self._turn_key(chunk),
        )

    def _turn_key(self, chunk: Chunk) -> int:
        if chunk.kind != "turn" or chunk.session is None:
            return -1
        return (self._sessions.of(chunk.session) << 32) + min(max(chunk.position, 0), _LAST_POSITION)

    def _row(self, id: str) -> int:
        node = self.index.get(id)
        if node is None:
            node = self.index[id] = len(self.ids)
            self.ids.append(id)
            self.labels.append(None)
        return node

    def _set(self, node: int, **values: object) -> None:
        for name, value in values.items():
            self.columns[name].set(node, value)

    def turns(self) -> Turns:
        """Return the turns in order, new ones sorted in."""
        seen = len(self._keys_seen)
        keys = self.columns["turn_key"].view()
        if len(keys) > seen:
            late = _turns_in_order(keys[seen:], seen)
            places = np.searchsorted(self._turns.keys, late.keys)
            self._turns = Turns(
                keys=np.insert(self._turns.keys, places, late.keys),
                nodes=np.insert(self._turns.nodes, places, late.nodes),
            )
        self._keys_seen = keys
        return self._turns

    def view(self) -> NodeColumns:
        """Return the columns as they are now."""
        shown = {name: column.view() for name, column in self.columns.items() if name != "turn_key"}
        return NodeColumns(
            ids=self.ids,
            labels=self.labels,
            index=self.index,
            types=self._types.values,
            authors=self._authors.codes,
            documents=self._documents.codes,
            **shown,
        )


def _turn_keys(sessions: Array, table: "pa.Table") -> Array:
    import pyarrow.compute as pc

    positions = np.clip(numbers(table["position"], np.int64, 0), 0, _LAST_POSITION)
    is_turn = numbers(pc.equal(table["type"], "turn"), np.bool_, False)
    is_chunk = numbers(table["is_chunk"], np.bool_, False)
    return np.where(is_turn & is_chunk & (sessions >= 0), (sessions.astype(np.int64) << 32) + positions, -1)


def _turns_in_order(keys: Array, first: int) -> Turns:
    nodes = np.flatnonzero(keys >= 0)
    order = nodes[np.argsort(keys[nodes], kind="stable")]
    return Turns(keys=keys[order], nodes=(order + first).astype(np.int32))


def _name_index(table: "pa.Table") -> NameIndex:
    keys, aliases = table["key"].to_pylist(), table["aliases"].to_pylist()
    names = NameIndex({key: node for node, key in enumerate(keys) if key is not None})
    for node, known in enumerate(aliases):
        if known:
            names.add(node, keys[node], known)
    return names


class _EdgeColumnsWriter:
    """Columns of edges; `recent` finds the rows that the base adjacency does not hold yet."""

    def __init__(self, table: "pa.Table", ids: list[str]) -> None:
        source, target = _ends(table["source"], ids), _ends(table["target"], ids)
        whole = (source >= 0) & (target >= 0)
        if not whole.all():  # a node was removed after the edges were read
            table, source, target = table.filter(whole), source[whole], target[whole]
        types, self._types = coded(table["type"])
        self.recent: dict[tuple[int, int, int, bytes], int] = {}
        self.columns = {
            "source": GrowingColumn(source),
            "target": GrowingColumn(target),
            "kind": GrowingColumn(places_in(table["kind"], EDGE_KINDS)),
            "type": GrowingColumn(types),
            "weight": GrowingColumn(numbers(table["weight"], np.float32, 1)),
            "bidirectional": GrowingColumn(numbers(table["bidirectional"], np.bool_, False)),
            "supposed": GrowingColumn(numbers(table["supposed"], np.bool_, False)),
            "layer": GrowingColumn(places_in(table["layer"], LAYERS)),
            "state": GrowingColumn(places_in(table["state"], STATES)),
            "ids": GrowingColumn(id_bytes(table["id"])),
        } | {name: GrowingColumn(timestamps(table[name], default)) for name, default in _INTERVALS.items()}

    def __len__(self) -> int:
        return len(self.columns["source"])

    def join(self, sources: Array, targets: Array) -> None:
        """Add synonym edges."""
        if len(sources) == 0:
            return
        values = {
            "source": sources,
            "target": targets,
            "kind": SYNONYM,
            "type": self._types.of(SPELLED_LIKE),
            "weight": 1,
            "layer": -1,
            "state": -1,
            "valid_to": END,
            "retired_at": END,
            "valid_from": BEGINNING,
            "recorded_at": BEGINNING,
        }
        for name, column in self.columns.items():
            column.extend(np.full(len(sources), values.get(name, 0)))

    def put(
        self,
        base: adjacency.Adjacency,
        kind: int,
        source: int,
        target: int,
        *,
        weight: float,
        id: str = "",
        type: str | None = None,
        bidirectional: bool = False,
        supposed: bool = False,
        layer: int = -1,
        state: int = -1,
        times: Times | None = None,
    ) -> None:
        """Add an edge, or change it where it exists; `base` is the base adjacency."""
        address = (kind, source, target, id.encode())
        row = self.recent.get(address)
        if row is None:
            row = self._in_base(base, *address)
        if row is None:
            row = self.recent[address] = len(self)
        values: Mapping[str, object] = {
            "source": source,
            "target": target,
            "kind": kind,
            "type": self._types.of(type),
            "weight": weight,
            "bidirectional": bidirectional,
            "supposed": supposed,
            "layer": layer,
            "state": state,
            "ids": address[3],
            **{
                name: microseconds(getattr(times, name, None), default)
                for name, default in _INTERVALS.items()
            },
        }
        for name, value in values.items():
            self.columns[name].set(row, value)

    def _in_base(
        self, base: adjacency.Adjacency, kind: int, source: int, target: int, id: bytes
    ) -> int | None:
        if max(source, target) >= base.size:
            return None
        # From the end with fewer edges: a hub is never scanned for a mention of it.
        ends = np.array([source, target])
        near, far = (source, target) if np.diff(base.degrees(ends))[0] >= 0 else (target, source)
        leaving = base.expand(np.array([near]))
        for half in leaving.halves[leaving.neighbors == far]:
            row = int(half) >> 1
            same_ends = self.columns["source"][row] == source and self.columns["kind"][row] == kind
            if same_ends and self.columns["ids"][row] == id:
                return row
        return None

    def view(self) -> EdgeColumns:
        """Return the columns as they are now."""
        return EdgeColumns(
            types=self._types.values, **{name: column.view() for name, column in self.columns.items()}
        )


def _ends(column: Any, ids: list[str]) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(column.combine_chunks(), value_set=pa.array(ids, pa.string()))
    return numbers(pa.chunked_array([places]), np.int32, -1)
