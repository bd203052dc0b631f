"""Links at recall: what a good match is linked to gains with it, and every hit shows what it is linked to.

A linked memory may share no word with the question. It is weighed among the direct matches before the
hits are cut to their number: added behind them it would never be seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from hydramem.core.results.recalled import LinkedChunk, LinkView
from hydramem.core.types import Chunk, Link, State
from hydramem.graph.snapshot import LINK, Snapshot
from hydramem.search.fuse import Fused, ranked
from hydramem.search.stitch import surroundings
from hydramem.search.walk import Way
from hydramem.storage.store import ChunkFilter, GraphStore, holds

# The best candidates lend score; of one memory so many links are shown, each with the beginning of the other.
_LENDING = 20
_SHOWN = 5
_TEXT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """Candidates with what links lend them.

    Attributes:
        ways: By candidate, the link that lent it most, where that is most of its score.
    """

    found: tuple[Fused, ...]
    ways: Mapping[str, Way] = field(default_factory=dict)


def along_links(
    found: Sequence[Fused], snapshots: Sequence[Snapshot], where: ChunkFilter, weight: float
) -> Lent:
    """Lend what the best candidates are linked to a share of their score; of several links the most.

    Args:
        found: Candidates, best first.
        snapshots: The graph of each project.
        where: Moments and states that links and memories must be of.
        weight: Share of its score that a candidate lends along a link of weight 1.
    """
    gains: dict[str, float] = {}
    ways: dict[str, Way] = {}
    for snapshot in snapshots if weight > 0 else ():
        for id, gain, way in _lent(found[:_LENDING], snapshot, where, weight):
            if gain > gains.get(id, 0.0):
                gains[id], ways[id] = gain, way
    if not gains:
        return Lent(found=tuple(found))
    parts = {one.id: one.parts for one in found}
    for id, gain in gains.items():
        parts[id] = {**parts.get(id, {}), "links": gain}
    order = ranked(parts)
    led = {one.id for one in order if one.parts.get("links", 0.0) >= one.score / 2}
    return Lent(found=order, ways={id: way for id, way in ways.items() if id in led})


def _lent(
    best: Sequence[Fused], snapshot: Snapshot, where: ChunkFilter, weight: float
) -> list[tuple[str, float, Way]]:
    known = [(node, one) for one in best if (node := snapshot.node(one.id)) is not None]
    if not known:
        return []
    out = snapshot.adjacency.expand(np.array([node for node, _ in known], dtype=np.int32))
    rows = out.halves >> 1
    links = np.flatnonzero(snapshot.edges.kind[rows] == LINK)
    if not len(links):
        return []
    edges = snapshot.edge_mask(at=where.at, known_at=where.known_at, states=where.states)
    nodes = snapshot.node_mask(states=where.states)
    lent = []
    for place in links[edges[rows[links]] & nodes[out.neighbors[links]]].tolist():
        lender = known[int(out.origins[place])][1]
        strength = min(max(float(snapshot.edges.weight[rows[place]]), 0.0), 1.0)
        way = Way(steps=(snapshot.step(int(out.halves[place])),), chunks=(lender.id,))
        lent.append((snapshot.nodes.ids[out.neighbors[place]], weight * strength * lender.score, way))
    return lent


def links_of(
    chunks: Sequence[Chunk],
    *,
    where: ChunkFilter,
    graph: GraphStore,
    ends: tuple[State, ...] | None = None,
) -> Mapping[str, tuple[LinkView, ...]]:
    """Return the links of some memories by id, the strongest first, with what is at their other ends.

    Args:
        chunks: The memories.
        where: What the other ends must pass, but for what chooses a hit.
        graph: Where links are read, all in one call, and their other ends in another.
        ends: States that the other ends may be in; those of `where` where not given.
    """
    ids = [chunk.id for chunk in chunks]
    links = [
        link
        for link in (graph.links(ids) if ids else ())
        if link.state in where.states and holds(link.times, where.at, where.known_at)
    ]
    if not links:
        return {}
    seen = replace(surroundings(where), states=ends or where.states)
    named = {end for link in links for end in (link.source, link.target)}
    held = {chunk.id: chunk for chunk in chunks}
    held |= {chunk.id: chunk for chunk in graph.chunks(sorted(named - held.keys()))}
    views: dict[str, list[LinkView]] = {}
    for link in sorted(links, key=lambda link: (-link.weight, link.id)):
        for id in {link.source, link.target}.intersection(ids):
            view = _view(link, id, held)
            if view is not None and seen.admits(held[view.other]):
                views.setdefault(id, []).append(view)
    return {id: tuple(each[:_SHOWN]) for id, each in views.items()}


def with_links(chunk: Chunk, graph: GraphStore) -> LinkedChunk:
    """Return a chunk with its links, to what holds and to what it took the place of."""
    where = ChunkFilter(projects=(chunk.project,))
    found = links_of([chunk], where=where, graph=graph, ends=("active", "superseded"))
    row = {each.name: getattr(chunk, each.name) for each in fields(chunk)}
    return LinkedChunk(**row, links=found.get(chunk.id, ()))


def linked_among(ids: Sequence[str], snapshots: Sequence[Snapshot]) -> frozenset[str]:
    """Return those of some chunks that have a link of any state, as the arrays know it."""
    found = set[str]()
    for snapshot in snapshots:
        known = [(id, node) for id in ids if (node := snapshot.node(id)) is not None]
        if known:
            out = snapshot.adjacency.expand(np.array([node for _, node in known], dtype=np.int32))
            linked = out.origins[snapshot.edges.kind[out.halves >> 1] == LINK]
            found.update(known[place][0] for place in np.unique(linked).tolist())
    return frozenset(found)


def _view(link: Link, id: str, held: Mapping[str, Chunk]) -> LinkView | None:
    other = link.target if link.source == id else link.source
    if other not in held:
        return None
    text = " ".join(held[other].text.split())
    return LinkView(
        id=link.id,
        type=link.type,
        weight=link.weight,
        reason=link.reason,
        other=other,
        text=text if len(text) <= _TEXT else text[: _TEXT - 1] + "…",
        forward=link.source == id,
    )
