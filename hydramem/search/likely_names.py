"""What is known of a thing under another name counts as far as it answers what a good match leaves open.

Likely-same links join names that are likely of one thing. A walk that crosses them freely brings up
everything said of the thing, in the place of what was asked. So they are crossed here from what the query
names, and from the best matches, and a text behind them counts by the words of the query that it has and
these lack, and by how near it is to the query among all texts behind them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import MAY_BE
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import MENTION, Snapshot
from hydramem.search.candidate_scores import FusedScore, ranked
from hydramem.search.query_plan import RecallPlan
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore, searched_text
from hydramem.text.search_terms import distinct_words, words

_FOLLOWED = 3
"""Best matches whose names are followed."""

_LINKS = 3
"""Links that are crossed one after the other; their probabilities are multiplied."""

_MOST_READ = 60
"""Texts behind the links of one name or match that are read, the likeliest first."""

_NEARNESS = 0.3
"""What the nearest text counts beside one that has all words which a match lacks, which counts 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkOrigin:
    """From where likely-same links are crossed.

    Attributes:
        names: Nodes of its entities.
        words: Words that it has.
        score: How well it matches the query, 0 to 1.
    """

    names: NDArray[np.int64]
    words: frozenset[str]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Behind:
    """The chunks behind the links of an origin, by id, with the probability that they tell of the same."""

    origin: _LinkOrigin
    likely: Mapping[str, float]


def with_likely_names(
    found: Sequence[FusedScore],
    plans: Sequence[RecallPlan],
    where: ChunkFilter,
    graph: GraphStore,
    vectors: VectorStore,
    vector: Vector | None,
) -> tuple[FusedScore, ...]:
    """Raise the scores of what is known of the same things under other names.

    Args:
        found: Scores, best first.
        plans: The names of the query, for each project.
        where: Which chunks may be seen.
        graph: Where texts are read.
        vectors: Knows how rare words are, and the vectors of chunks.
        vector: Of the query; None where nothing is searched by meaning.
    """
    behind = [
        each
        for plan in plans
        if MAY_BE in plan.snapshot.edges.types
        for each in _behind_links(found, plan, where, graph)
    ]
    if not behind:
        return tuple(found)
    rows = graph.chunks(sorted({id for each in behind for id in each.likely}))
    texts = {row.id: searched_text(row) for row in rows if where.admits(row)}
    known = vectors.vectors(sorted(texts)) if vector is not None else {}
    cosines = _cosines(known, vector)
    asked = words(plans[0].query)
    gains: dict[str, float] = {}
    for each in behind:
        for id, gain in _gains(each, asked, texts, cosines, vectors):
            gains[id] = max(gain, gains.get(id, 0.0))
    parts = {one.id: one.parts for one in found}
    return ranked(parts | {id: {**parts.get(id, {}), "names": gain} for id, gain in gains.items()})


def _behind_links(
    found: Sequence[FusedScore], plan: RecallPlan, where: ChunkFilter, graph: GraphStore
) -> Iterator[_Behind]:
    """Yield what lies behind the likely-same links of the query's names and of the best matches."""
    snapshot = plan.snapshot
    edges = snapshot.edge_mask(at=where.at, known_at=where.known_at, layers=where.layers, states=where.states)
    nodes = snapshot.node_mask(states=where.states)
    for origin in _origins(found, plan, graph, edges):
        others = _likely_same(origin.names, snapshot, edges)
        chunks = _naming(others, snapshot, edges, nodes) if others else {}
        best = sorted(chunks, key=lambda node: (-chunks[node], node))[:_MOST_READ]
        if best:
            yield _Behind(origin=origin, likely={snapshot.nodes.ids[node]: chunks[node] for node in best})


def _origins(
    found: Sequence[FusedScore], plan: RecallPlan, graph: GraphStore, edges: Mask
) -> Iterator[_LinkOrigin]:
    """Yield the names of the query, hubs aside, then the best matches."""
    snapshot = plan.snapshot
    for entity in plan.entities:
        if entity.rarity > 0:
            yield _LinkOrigin(
                names=np.array([entity.node]), words=distinct_words(entity.name), score=entity.rarity
            )
    best = [(one, node) for one in found[:_FOLLOWED] if (node := snapshot.node(one.id)) is not None]
    rows = {row.id: row for row in graph.chunks([one.id for one, _ in best])} if best else {}
    for one, node in best:
        if one.id in rows:
            out = snapshot.adjacency.expand(np.array([node])).admitted(edges, None)
            named = out.neighbors[snapshot.edges.kind[out.halves >> 1] == MENTION].astype(np.int64)
            yield _LinkOrigin(names=named, words=distinct_words(searched_text(rows[one.id])), score=one.score)


def _likely_same(names: NDArray[np.int64], snapshot: Snapshot, edges: Mask) -> Mapping[int, float]:
    """Return the entities that are likely the same as some, by node, with their probability."""
    own = set(names.tolist())
    reached: dict[int, float] = {}
    frontier = dict.fromkeys(own, 1.0)
    for _ in range(_LINKS):
        places = np.array(list(frontier), dtype=np.int64)
        out = snapshot.adjacency.expand(places).admitted(edges, None)
        out = out.at(snapshot.is_likely_same(out.halves >> 1))
        weights = snapshot.edges.weight[out.halves >> 1]
        following: dict[int, float] = {}
        steps = zip(places[out.origins].tolist(), out.neighbors.tolist(), weights.tolist(), strict=True)
        for origin, node, weight in steps:
            likely = frontier[origin] * weight
            if node not in own and likely > max(reached.get(node, 0.0), following.get(node, 0.0)):
                following[node] = likely
        if not following:
            break
        reached |= following
        frontier = following
    return reached


def _naming(likely: Mapping[int, float], snapshot: Snapshot, edges: Mask, nodes: Mask) -> dict[int, float]:
    """Return the chunks that mention some entities, by node, with the probability of the likeliest."""
    places = np.array(list(likely), dtype=np.int64)
    out = snapshot.adjacency.expand(places).admitted(edges, nodes)
    out = out.at(snapshot.edges.kind[out.halves >> 1] == MENTION)
    found: dict[int, float] = {}
    for entity, chunk in zip(places[out.origins].tolist(), out.neighbors.tolist(), strict=True):
        found[chunk] = max(found.get(chunk, 0.0), likely[entity])
    return found


def _cosines(known: Mapping[str, Vector], vector: Vector | None) -> Mapping[str, float]:
    """Return the cosine of each vector to that of the query, by id."""
    if vector is None or not known:
        return {}
    table = np.stack(list(known.values())).astype(np.float32)
    cosines = table @ np.asarray(vector) / np.maximum(np.linalg.norm(table, axis=1), 1e-12)
    return dict(zip(known, cosines.tolist(), strict=True))


def _nearness(ids: Sequence[str], cosines: Mapping[str, float]) -> Mapping[str, float]:
    """Return how near some chunks are, by id: 0 for the average of them and below it, 1 for the nearest."""
    mean = sum(cosines[id] for id in ids) / max(1, len(ids))
    span = max((cosines[id] - mean for id in ids), default=0.0)
    return {id: max(0.0, (cosines[id] - mean) / span) for id in ids} if span > 0 else {}


def _gains(
    behind: _Behind,
    asked: Sequence[str],
    texts: Mapping[str, str],
    cosines: Mapping[str, float],
    vectors: VectorStore,
) -> Iterator[tuple[str, float]]:
    """Yield what the chunks behind an origin gain, by id."""
    open_words = " ".join(word for word in asked if word not in behind.origin.words)
    shown = [id for id in behind.likely if id in texts]
    if not shown or not open_words:
        return
    # What a text scores that is just these words is what answers all of them.
    whole, *scores = vectors.text_scores(open_words, [open_words, *(texts[id] for id in shown)])
    near = _nearness([id for id in shown if id in cosines], cosines)
    for id, score in zip(shown, scores, strict=True):
        answered = sqrt(min(1.0, score / whole)) if whole > 0 else 0.0
        gain = behind.origin.score * sqrt(behind.likely[id]) * (answered + _NEARNESS * near.get(id, 0.0))
        if gain > 0:
            yield id, gain
