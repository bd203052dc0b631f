"""Links at recall: what a good match is linked to scores with it, and every hit shows its links.

A linked memory may share no word with the question. It is scored among the direct matches before the hits are
cut to their limit: appended after them it would never be returned.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from hydramem.core.results.hits import LinkedChunk, LinkView
from hydramem.core.row_types import ANSWERS, Chunk, Link, State
from hydramem.graph.snapshot.adjacency import Rows
from hydramem.graph.snapshot.snapshot import LINK, Snapshot
from hydramem.search.candidate_scores import FusedScore, GraphPath, ranked
from hydramem.search.passages import surroundings
from hydramem.storage.chunk_filter import ChunkFilter, holds
from hydramem.storage.store import GraphStore
from hydramem.text.shown_text import one_line

# Candidates whose links are followed.
_FOLLOWED = 20

# A link for likeness alone says little that the vectors have not: it counts this part of another link.
_LIKENESS = 0.4

# Two texts of one matter are both found by their words; a link between them adds nothing.
_SAME_MATTER = frozenset(("may_supersede", "duplicates"))

# Links that a hit shows, a few to spare, and characters of the memory at the other end.
_SHOWN, _SPARE, _TEXT = 5, 3, 200


def with_link_scores(
    found: Sequence[FusedScore], snapshots: Sequence[Snapshot], where: ChunkFilter, weight: float
) -> tuple[tuple[FusedScore, ...], dict[str, GraphPath]]:
    """Raise what the best are linked to to a share of their score; of several links the strongest counts.

    Args:
        found: Scores, best first.
        snapshots: The graph of each project.
        where: Moments and states that links and memories must be of.
        weight: Share of a score that counts along a link of weight 1.

    Returns:
        The scores, and by chunk the link that adds most, where that is at least half of its score.
    """
    gains: dict[str, float] = {}
    paths: dict[str, GraphPath] = {}
    for snapshot in snapshots if weight > 0 else ():
        for id, gain, path in _gains_by_link(found[:_FOLLOWED], snapshot, where, weight):
            if gain > gains.get(id, 0.0):
                gains[id], paths[id] = gain, path
    if not gains:
        return tuple(found), {}
    parts = {one.id: one.parts for one in found}
    own = {one.id: one.score for one in found}
    # A chunk that scores more by itself gains nothing: a match is no better for a link to another.
    for id, gain in gains.items():
        if gain > own.get(id, 0.0):
            parts[id] = {**parts.get(id, {}), "links": gain - own.get(id, 0.0)}
    order = ranked(parts)
    led = {one.id for one in order if one.parts.get("links", 0.0) >= one.score / 2}
    return order, {id: path for id, path in paths.items() if id in led}


def _gains_by_link(
    best: Sequence[FusedScore], snapshot: Snapshot, where: ChunkFilter, weight: float
) -> list[tuple[str, float, GraphPath]]:
    """Return what the best scores add to the chunks that they are linked to: id, gain and link."""
    known = [(node, one) for one in best if (node := snapshot.node(one.id)) is not None]
    if not known:
        return []
    gains = []
    for origin, row, half in zip(*_links_at([node for node, _ in known], snapshot, where), strict=True):
        match, step = known[int(origin)][1], snapshot.step(int(half))
        if step.label in _SAME_MATTER:
            continue
        strength = min(max(float(snapshot.edges.weight[row]), 0.0), 1.0)
        if step.label == "relates_to":
            strength *= _LIKENESS
        other = snapshot.edges.source[row] if half & 1 else snapshot.edges.target[row]
        path = GraphPath(steps=(step,), chunks=(match.id,))
        gains.append((snapshot.nodes.ids[int(other)], weight * strength * match.score, path))
    return gains


def links_of(
    chunks: Sequence[Chunk],
    *,
    where: ChunkFilter,
    graph: GraphStore,
    ends: tuple[State, ...] | None = None,
    among: Collection[str] | None = None,
) -> Mapping[str, tuple[LinkView, ...]]:
    """Return the links of some memories by id, the strongest first, with what is at their other ends.

    Args:
        where: What the other ends must pass, apart from what selects hits.
        graph: Where links are read, all in one call, and their other ends in another.
        ends: States of the other ends; those of `where` where not given.
        among: Ids of the links to return; None for all.
    """
    ids = [chunk.id for chunk in chunks]
    links = [
        link
        for link in (graph.links(ids) if ids else ())
        if link.type != ANSWERS and link.state in where.states
        if holds(link.times, where.at, where.known_at)
        if among is None or link.id in among
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


def shown_links(
    chunks: Sequence[Chunk], snapshots: Sequence[Snapshot], where: ChunkFilter, graph: GraphStore
) -> Mapping[str, tuple[LinkView, ...]]:
    """Return the strongest links of some memories by id; where the snapshots hold none, nothing is read."""
    best = strongest([chunk.id for chunk in chunks], snapshots, where)
    linked = [chunk for chunk in chunks if chunk.id in best]
    return links_of(linked, where=where, graph=graph, among={id for each in best.values() for id in each})


def with_links(chunk: Chunk, graph: GraphStore) -> LinkedChunk:
    """Return a chunk with its links, to active chunks and to those it superseded."""
    where = ChunkFilter(projects=(chunk.project,))
    found = links_of([chunk], where=where, graph=graph, ends=("active", "superseded"))
    row = {each.name: getattr(chunk, each.name) for each in fields(chunk)}
    return LinkedChunk(**row, links=found.get(chunk.id, ()))


def strongest(
    ids: Sequence[str], snapshots: Sequence[Snapshot], where: ChunkFilter
) -> Mapping[str, tuple[str, ...]]:
    """Return ids of the strongest links of some chunks, by the id of the chunk, from the snapshots.

    A few more than are shown, since a snapshot does not hold all that keeps a memory from being shown.
    """
    found: dict[str, tuple[str, ...]] = {}
    for snapshot in snapshots:
        known = [(id, node) for id in ids if (node := snapshot.node(id)) is not None]
        origins, rows, _ = _links_at([node for _, node in known], snapshot, where)
        order = np.lexsort((rows, -snapshot.edges.weight[rows], origins))
        for place in np.unique(origins).tolist():
            best = rows[order[origins[order] == place][: _SHOWN + _SPARE]]
            found[known[place][0]] = tuple(snapshot.edges.ids[row].decode() for row in best.tolist())
    return found


def _links_at(nodes: Sequence[int], snapshot: Snapshot, where: ChunkFilter) -> tuple[Rows, Rows, Rows]:
    """Return the links that leave some nodes and may be followed: whose, the edge's row, the half-edge.

    Those to questions that a memory answered lead to no other memory (`conversation.asked_before`).
    """
    out = snapshot.adjacency.expand(np.array(nodes, dtype=np.int32))
    rows = out.halves >> 1
    answers = np.array([name == ANSWERS for name in snapshot.edges.types] + [False])
    links = np.flatnonzero((snapshot.edges.kind[rows] == LINK) & ~answers[snapshot.edges.type[rows]])
    if len(links):
        edges = snapshot.edge_mask(at=where.at, known_at=where.known_at, states=where.states)
        ends = snapshot.node_mask(states=where.states)
        links = links[edges[rows[links]] & ends[out.neighbors[links]]]
    return out.origins[links], rows[links].astype(np.int64), out.halves[links].astype(np.int64)


def _view(link: Link, id: str, held: Mapping[str, Chunk]) -> LinkView | None:
    other = link.target if link.source == id else link.source
    if other not in held:
        return None
    return LinkView(
        id=link.id,
        type=link.type,
        weight=link.weight,
        reason=link.reason,
        other=other,
        text=one_line(held[other].text, _TEXT),
        forward=link.source == id,
    )
