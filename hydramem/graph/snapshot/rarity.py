"""How rare each entity is, and which entities are hubs: those that say nothing about what they join.

Inverse document frequency: Spärck Jones, "A statistical interpretation of term specificity and its
application in retrieval" (1972). A hub gets none at all: a walk through what half of a project mentions leads
everywhere. A chunk that names very many things (a list, an index) says little about each: the way to it
counts less by their number, as each node of a path is damped by its degree in Himmelstein and Baranzini,
"Heterogeneous Network Edge Prediction" (2015).
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.adjacency import Adjacency, Mask
from hydramem.graph.snapshot.columns import Array, buffer_of

HUB_SHARE = 0.5
"""Share of the chunks, or of the sources, from which an entity that they mention is a hub."""

LEAST_MENTIONS = 8
"""Chunks, or sources, that must mention a hub: in fewer, what most of them mention is their topic."""

MANY_NAMED = 32
"""Things that a chunk may name before it counts less, or `TIMES_THE_MEAN` as many as the mean of all."""

TIMES_THE_MEAN = 3.0

ROLE_KEYS = ("user", "assistant", "the user", "the assistant")
"""Keys of entities that are hubs in any project: the two sides of every conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRarity:
    """How rare entities are among active chunks; arrays of shape (nodes,), read-only.

    Attributes:
        chunks: Chunks that mention each entity; 0 for a chunk.
        rarity: 1 for a chunk and for an entity that one chunk mentions at most, falling with the logarithm
            of their number; 0 for a hub.
        hubs: Entities that walks may start from or end at, but not pass.
        named: Entities that each active chunk mentions; 0 for an entity.
        focus: 1 for an entity and for a chunk that names few things, falling with their number where it names
            very many.
    """

    chunks: NDArray[np.int64]
    rarity: NDArray[np.float32]
    hubs: Mask
    named: NDArray[np.int64]
    focus: NDArray[np.float32]

    def among(self, starts: Array) -> NDArray[np.float32]:
        """Return the rarities for a walk from these nodes: where it starts, it may leave a hub."""
        rarity = self.rarity.copy()
        rarity[starts[self.hubs[starts]]] = 1.0
        return rarity


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionColumns:
    """The columns of a snapshot that rarity follows from.

    Attributes:
        is_mention: The code of mentions in `kind`; `is_active`: that of active chunks in `state`.
        kind, chunk, entity: Kind and ends of each edge, shape (edges,).
        is_chunk, state, document: Columns of nodes, shape (nodes,); a document is a code, -1 for none.
    """

    is_mention: int
    is_active: int
    kind: Array
    chunk: Array
    entity: Array
    is_chunk: Mask
    state: Array
    document: Array


@dataclass(frozen=True, slots=True)
class _Counted:
    """Mentions of the first edges, which stay right while the columns are in the same memory."""

    columns: tuple[Array, ...]
    rarity: EntityRarity
    roles: tuple[int, ...]

    def fits(self, columns: tuple[Array, ...]) -> bool:
        """Say whether the counts are right for the first edges: the columns have only grown since."""
        return all(
            buffer_of(mine) is buffer_of(given) and len(mine) <= len(given)
            for mine, given in zip(self.columns, columns, strict=True)
        )

    def is_current(self, columns: tuple[Array, ...], roles: tuple[int, ...]) -> bool:
        """Say whether nothing came since."""
        return self.roles == roles and all(
            len(mine) == len(given) for mine, given in zip(self.columns, columns, strict=True)
        )


class RarityCache:
    """The rarity computed last; shared by the snapshots of one project, safe from several threads.

    New edges are added to the counts of before: a write costs no count of the whole graph.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: _Counted | None = None

    def of(self, mentions: MentionColumns, adjacency: Adjacency, roles: Sequence[int]) -> EntityRarity:
        """Return the rarity of the entities of a graph.

        Args:
            roles: Nodes of entities that are hubs whoever mentions them.
        """
        columns = mentions.kind, mentions.chunk, mentions.entity, mentions.state, mentions.document
        roles = tuple(roles)
        with self._lock:
            known = self._known
        if known is None or not known.fits(columns):
            known = None
        elif known.is_current(columns, roles):
            return known.rarity
        rarity = _rarity(mentions, *_counts(mentions, known), adjacency, roles)
        with self._lock:
            self._known = _Counted(columns, rarity, roles)
        return rarity


def _counts(mentions: MentionColumns, known: _Counted | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the active chunks that mention each entity, and the entities that each of those mentions.

    Args:
        known: What counted the first edges.

    Returns:
        Two arrays of shape (nodes,).
    """
    first = 0 if known is None else len(known.columns[0])
    active = mentions.state == mentions.is_active
    rows = np.flatnonzero(mentions.kind[first:] == mentions.is_mention) + first
    rows = rows[active[mentions.chunk[rows]]]
    size = len(mentions.state)
    chunks: NDArray[np.int64] = np.bincount(mentions.entity[rows], minlength=size)
    named: NDArray[np.int64] = np.bincount(mentions.chunk[rows], minlength=size)
    if known is not None:
        chunks[: len(known.rarity.chunks)] += known.rarity.chunks
        named[: len(known.rarity.named)] += known.rarity.named
    return chunks, named


def _rarity(
    mentions: MentionColumns,
    chunks: NDArray[np.int64],
    named: NDArray[np.int64],
    adjacency: Adjacency,
    roles: tuple[int, ...],
) -> EntityRarity:
    active = mentions.is_chunk & (mentions.state == mentions.is_active)
    total = int(active.sum())
    hubs = chunks >= max(LEAST_MENTIONS, HUB_SHARE * total)
    hubs[_hubs_by_source(mentions, np.where(hubs, 0, chunks), active, adjacency)] = True
    hubs[list(roles)] = True
    by_count = 1 - np.log(np.maximum(np.arange(chunks.max(initial=0) + 1), 1)) / np.log(1 + max(total, 2))
    rarity = np.maximum(by_count, 0).astype(np.float32)[chunks]
    rarity[hubs] = 0
    focus = _focus(named)
    for each in (chunks, rarity, hubs, named, focus):
        each.flags.writeable = False
    return EntityRarity(chunks=chunks, rarity=rarity, hubs=hubs, named=named, focus=focus)


def _focus(named: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return how much the way to each chunk counts, by the things that it names; shape (nodes,)."""
    total = int(np.count_nonzero(named))
    mean = float(named.sum()) / total if total else 0.0
    many = max(float(MANY_NAMED), TIMES_THE_MEAN * mean)
    focus: NDArray[np.float32] = np.minimum(1.0, many / np.maximum(named, 1)).astype(np.float32)
    return focus


def _hubs_by_source(
    mentions: MentionColumns, chunks: NDArray[np.int64], active: Mask, adjacency: Adjacency
) -> Array:
    """Return the entities that half of the sources mention: documents, and chunks that are in none."""
    documents = mentions.document[active]
    alone = int((documents < 0).sum())
    sources = alone + np.count_nonzero(np.bincount(documents[documents >= 0]))
    least = max(LEAST_MENTIONS, HUB_SHARE * sources)
    # An entity is mentioned by at least as many chunks as sources: few are left to look at.
    maybe = np.flatnonzero(chunks >= least)
    out = adjacency.expand(maybe)
    named = (mentions.kind[out.halves >> 1] == mentions.is_mention) & active[out.neighbors]
    places, document = out.origins[named], mentions.document[out.neighbors[named]]
    # At most two cells for each mention: as many entities as reach the bound, by twice the bound.
    mentioned = np.zeros((len(maybe), int(documents.max(initial=-1)) + 1), dtype=np.bool_)
    mentioned[places[document >= 0], document[document >= 0]] = True
    counts = mentioned.sum(axis=1) + np.bincount(places[document < 0], minlength=len(maybe))
    found: Array = maybe[counts >= least]
    return found
