"""A project's graph at one moment, as arrays: what walks, names and filters read.

Nodes are entities and chunks; edges are relations, mentions, links, and synonyms: entities whose names
differ in spelling alone. No store holds those; they follow from the names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import NotFoundError
from hydramem.core.results.graph_views import PathStep
from hydramem.core.row_types import MAY_BE, EdgeKind, Layer, State
from hydramem.graph.snapshot.adjacency import Adjacency, Mask, ragged
from hydramem.graph.snapshot.columns import Array, microseconds
from hydramem.graph.snapshot.masks import Interval, Masks
from hydramem.graph.snapshot.name_index import Names
from hydramem.graph.snapshot.rarity import ROLE_KEYS, EntityRarity, MentionColumns, RarityCache
from hydramem.text.normalize import entity_key

Nodes = NDArray[np.int32]
LAYERS: tuple[str, ...] = get_args(Layer)
STATES: tuple[str, ...] = get_args(State)
RELATION, MENTION, LINK, SYNONYM = range(4)
MENTIONS = "mentions"
"""What a mention is called where other edges have a type."""
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeColumns:
    """What is known of each node; arrays of shape (nodes,). Lists may run on past the last node.

    Attributes:
        ids: Ids of entities and chunks.
        labels: Names of entities; None for chunks.
        index: Node by id; may hold later nodes too.
        type: Codes into `types`: the entity's type or the chunk's kind.
        layer, state: Places in `LAYERS` and `STATES`; -1 for an entity's.
        author: Codes that `authors` gives; -1 where nobody is known to have said it.
        document: Codes that `documents` gives; -1 for entities and for chunks of no document.
        tokens: Length of a chunk; 0 for entities.
        asks: Whether a chunk's text ends as a question.
    """

    ids: Sequence[str]
    labels: Sequence[str | None]
    index: Mapping[str, int]
    types: Sequence[str]
    authors: Mapping[str, int]
    documents: Mapping[str, int]
    is_chunk: Mask
    type: NDArray[np.int32]
    layer: NDArray[np.int8]
    state: NDArray[np.int8]
    author: NDArray[np.int32]
    document: NDArray[np.int32]
    tokens: NDArray[np.int32]
    asks: Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeColumns:
    """What is known of each edge; arrays of shape (edges,).

    Attributes:
        source, target: Nodes.
        kind: A place in `EDGE_KINDS`.
        type: Codes into `types`; -1 for mentions.
        weight: The relation's weight in walks, the mention's count, the link's weight, or 1 for a synonym.
        supposed: Whether nothing states a relation: it was inferred, and what depends on it is a guess.
        layer, state: Places in `LAYERS` and `STATES`; -1 where an edge has none.
        valid_from, valid_to, recorded_at, retired_at: Microseconds since 1970, or `BEGINNING` and `END`.
        ids: Ids of relations and links as bytes; empty for the others.
    """

    types: Sequence[str]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.int8]
    type: NDArray[np.int32]
    weight: NDArray[np.float32]
    bidirectional: Mask
    supposed: Mask
    layer: NDArray[np.int8]
    state: NDArray[np.int8]
    valid_from: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    recorded_at: NDArray[np.int64]
    retired_at: NDArray[np.int64]
    ids: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Turns in the order they were said; `keys` is session code << 32 plus position, ascending."""

    keys: NDArray[np.int64]
    nodes: Nodes

    def around(
        self, keys: NDArray[np.int64], window: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Nodes]:
        """Find the turns at most `window` positions from others of their session, but not those.

        Returns:
            For each turn found: the place in `keys` of its neighbour, how many positions after
            that it is, and its node.
        """
        lows = np.maximum(keys - window, (keys >> 32) << 32)
        begins = np.searchsorted(self.keys, lows)
        ends = np.searchsorted(self.keys, np.minimum(keys + window, keys | 0xFFFF_FFFF), side="right")
        origins, places = ragged(begins, ends)
        offsets = self.keys[places] - keys[origins]
        other = offsets != 0
        return origins[other], offsets[other], self.nodes[places[other]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The graph of one project at one moment. Never changes; safe to read from any thread.

    Attributes:
        turn_keys: For each node its key in `turns`, -1 where it is no turn.
        masks, rarities: Remember what walks were allowed and how rare entities are; the parts that change,
            and say the same.
    """

    project: str
    size: int
    nodes: NodeColumns
    edges: EdgeColumns
    adjacency: Adjacency
    names: Names
    turns: Turns
    turn_keys: NDArray[np.int64]
    masks: Masks
    rarities: RarityCache

    def node(self, id: str) -> int | None:
        """Return the node of an entity or chunk id."""
        node = self.nodes.index.get(id)
        return node if node is not None and node < self.size else None

    def find(self, key: str) -> int | None:
        """Return the node of the entity with this key, or this alias's key."""
        return self.names.find(key)

    def entity_named(self, name: str) -> int:
        """Return the node of the entity that has this name, alias or id; a name goes before an id.

        Raises:
            NotFoundError: None has.
        """
        node = self.find(entity_key(name))
        if node is None:
            node = self.node(name)
        if node is None or self.nodes.is_chunk[node]:
            raise NotFoundError(
                f"{name[:80]!r}: no entity of project {self.project!r} has this name, alias or id"
            )
        return node

    def edge_mask(
        self,
        *,
        at: datetime | None = None,
        known_at: datetime | None = None,
        layers: Sequence[str] = (),
        states: Sequence[str] = ("active",),
        kinds: Sequence[int] = (),
    ) -> Mask:
        """Say for each edge whether a walk may use it, read-only; mentions have no layer, state or times.

        Args:
            at: The moment that must be within valid time; None does not look.
            known_at: The moment that must be within recorded time; None does not look.
            layers, states, kinds: What to admit; empty admits all.
        """
        edges = self.edges
        columns: tuple[Array, ...] = (edges.state, edges.layer, edges.kind)

        def admits(first: int) -> Mask:
            mask = _one_of(edges.state[first:], STATES, states) & _one_of(edges.layer[first:], LAYERS, layers)
            return mask & np.isin(edges.kind[first:], kinds) if kinds else mask

        intervals = []
        if at is not None:
            intervals.append(_interval(edges.valid_from, edges.valid_to, at))
        if known_at is not None:
            intervals.append(_interval(edges.recorded_at, edges.retired_at, known_at))
        name = ("edges", at is None, known_at is None, tuple(layers), tuple(states), tuple(kinds))
        return self.masks.of(name, columns, intervals, admits)

    def node_mask(self, *, states: Sequence[str] = ("active",)) -> Mask:
        """Say for each node whether a walk may pass it; entities have no state and always may."""
        column = self.nodes.state
        name = ("nodes", tuple(states))
        return self.masks.of(name, (column,), (), lambda first: _one_of(column[first:], STATES, states))

    def rarity(self) -> EntityRarity:
        """Return how rare entities are among active chunks, and which of them no walk passes."""
        nodes, edges = self.nodes, self.edges
        columns = MentionColumns(
            is_mention=MENTION,
            is_active=STATES.index("active"),
            kind=edges.kind,
            chunk=edges.source,
            entity=edges.target,
            is_chunk=nodes.is_chunk,
            state=nodes.state,
            document=nodes.document,
        )
        roles = {node for key in ROLE_KEYS if (node := self.find(key)) is not None}
        return self.rarities.of(columns, self.adjacency, sorted(roles))

    def believed(self) -> Mask:
        """Say for each edge whether a walk follows it: not a relation without weight, which is doubted."""
        followed: Mask = (self.edges.kind != RELATION) | (self.edges.weight > 0)
        return followed

    def of_types(self, types: Sequence[str]) -> Mask:
        """Say for each edge whether it is of one of these types; synonyms are, no types admit all.

        Args:
            types: Types of relations and links, and `mentions` for mentions.
        """
        edges = self.edges
        if not types:
            return np.ones(len(edges.type), dtype=np.bool_)
        codes = [code for code, type in enumerate(edges.types) if type in types]
        named: Mask = np.isin(edges.type, codes) | (edges.kind == SYNONYM)
        return named | (edges.kind == MENTION) if MENTIONS in types else named

    def is_likely_same(self, rows: NDArray[np.integer] | slice) -> Mask:
        """Say for some edges whether they join two names that are likely of one thing: such state nothing.

        What somebody states with a type of that name is theirs.
        """
        kinds = self.edges.kind[rows]
        codes = [code for code, type in enumerate(self.edges.types) if type == MAY_BE]
        if not codes:  # as in most memories; every walk asks it of all edges
            return np.zeros(kinds.shape, dtype=bool)
        found: Mask = (kinds == RELATION) & self.edges.supposed[rows] & np.isin(self.edges.type[rows], codes)
        return found

    def label(self, node: int) -> str:
        """Return an entity's name, or a chunk's id."""
        return self.nodes.labels[node] or self.nodes.ids[node]

    def step(self, half: int) -> PathStep:
        """Describe a half-edge as a walk along it reads."""
        row, backward = half >> 1, bool(half & 1)
        source, target = int(self.edges.source[row]), int(self.edges.target[row])
        code = int(self.edges.type[row])
        return PathStep(
            source=self.label(target if backward else source),
            label=self.edges.types[code] if code >= 0 else MENTIONS,
            target=self.label(source if backward else target),
            forward=not backward,
            inferred=bool(self.edges.supposed[row]),
        )


def _one_of(codes: NDArray[np.int8], values: Sequence[str], admitted: Sequence[str]) -> Mask:
    if not admitted:
        return np.ones(len(codes), dtype=np.bool_)
    # The last place answers for -1: what has no layer or state is always admitted.
    table = np.array([value in admitted for value in values] + [True])
    return table[codes]


def _interval(starts: NDArray[np.int64], ends: NDArray[np.int64], moment: datetime) -> Interval:
    return Interval(starts=starts, ends=ends, stamp=microseconds(moment, 0))
