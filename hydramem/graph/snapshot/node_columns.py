"""The growing columns of a snapshot's nodes, with their names and the order of turns in sessions."""

from typing import TYPE_CHECKING

import numpy as np

from hydramem.core.row_types import Chunk, Entity
from hydramem.graph.snapshot.columns import Array, GrowingColumn, coded, numbers, places_in
from hydramem.graph.snapshot.name_index import NameIndex, Spellings
from hydramem.graph.snapshot.snapshot import LAYERS, STATES, NodeColumns, Turns
from hydramem.storage.schema import QUESTION_MARKS

if TYPE_CHECKING:
    import pyarrow as pa

_LAST_POSITION = _LONGEST = 2**31 - 1


class NodeColumnsWriter:
    """Columns of nodes, their names, and the order of turns in sessions."""

    def __init__(self, table: "pa.Table") -> None:
        self.ids: list[str] = table["id"].to_pylist()
        self.index = {id: node for node, id in enumerate(self.ids)}
        self.labels: list[str | None] = table["name"].to_pylist()
        types, self._types = coded(table["type"])
        sessions, self._sessions = coded(table["session"])
        authors, self._authors = coded(table["author"])
        self.columns = {
            "is_chunk": GrowingColumn(numbers(table["is_chunk"], np.bool_, False)),
            "type": GrowingColumn(types),
            "layer": GrowingColumn(places_in(table["layer"], LAYERS)),
            "state": GrowingColumn(places_in(table["state"], STATES)),
            "author": GrowingColumn(authors),
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
