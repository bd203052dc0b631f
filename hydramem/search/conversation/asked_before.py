"""What answered a question before: it gains where the query is near to that question.

Sessions ask, recall and are answered; the gardener links what answered to the turn that asked
(`garden.phases.answered_questions`). So an earlier question stands for its answer, as the questions that
Nogueira et al. (Document Expansion by Query Prediction, 2019) put beside a text do. Who asks again is near to
the earlier question; who asks something new is nearer to a memory, and then nothing is gained: how much it
is depends on how far the question is ahead of the nearest text that is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hydramem.core.row_types import ANSWERS
from hydramem.graph.snapshot.snapshot import LINK, Snapshot
from hydramem.search.candidate_scores import ArmScores, FusedScore, ranked
from hydramem.search.conversation.turn_scores import turn_node
from hydramem.storage.chunk_filter import ChunkFilter

PART = "answered"
"""The part of a score that a memory has from earlier questions."""

# By how much, in cosine, an earlier question may be farther than the nearest other text and count nothing,
# and by how much it must be nearer to count in full.
_BEHIND, _AHEAD = -0.05, 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBefore:
    """Earlier questions among the nearest chunks.

    Attributes:
        questions: Ids of the turns that something answered.
        gains: How much what answered them gains, 0 to 1, by its id.
    """

    questions: frozenset[str] = frozenset()
    gains: Mapping[str, float] = field(default_factory=dict)


def asked_before(arms: Sequence[ArmScores], snapshots: Sequence[Snapshot], where: ChunkFilter) -> AskedBefore:
    """Find the earlier questions that are near to a query, and what answered them.

    Args:
        arms: What each arm found; only the cosines of the vector arm say how near a question is.
        snapshots: The graph of each project.
        where: Moments and states that links and chunks must be of.
    """
    cosines = next((arm.cosines for arm in arms if arm.name == "vector"), {})
    questions: dict[str, list[tuple[str, float]]] = {}
    for snapshot in snapshots:
        if ANSWERS in snapshot.edges.types:
            found = dict.fromkeys(id for arm in arms for id in (*arm.scores, *arm.cosines))
            questions |= _answered(
                [id for id in found if turn_node(snapshot, id) is not None], snapshot, where
            )
    if not questions:
        return AskedBefore()
    asking = {
        id
        for each in snapshots
        for id in cosines
        if (node := each.node(id)) is not None and each.nodes.asks[node]
    }
    others = max(
        (cosine for id, cosine in cosines.items() if id not in questions and id not in asking), default=0.0
    )
    gains: dict[str, float] = {}
    for question, answers in questions.items():
        ahead = cosines.get(question, -1.0) - others
        near = min(1.0, max(0.0, (ahead - _BEHIND) / (_AHEAD - _BEHIND)))
        for answer, weight in answers if near > 0 else ():
            gains[answer] = max(gains.get(answer, 0.0), weight * near)
    return AskedBefore(questions=frozenset(questions), gains=gains)


def _answered(
    turns: Sequence[str], snapshot: Snapshot, where: ChunkFilter
) -> dict[str, list[tuple[str, float]]]:
    """Return what answered each of some turns, with the weight of the link."""
    edges = snapshot.edges
    nodes = np.array([snapshot.nodes.index[id] for id in turns], dtype=np.int32)
    out = snapshot.adjacency.expand(nodes)
    rows = out.halves >> 1
    code = edges.types.index(ANSWERS)
    kept = np.flatnonzero((edges.kind[rows] == LINK) & (edges.type[rows] == code))
    if not len(kept):
        return {}
    held = snapshot.edge_mask(at=where.at, known_at=where.known_at, states=where.states)[rows[kept]]
    kept = kept[held & snapshot.node_mask(states=where.states)[out.neighbors[kept]]]
    found: dict[str, list[tuple[str, float]]] = {}
    for place in kept.tolist():
        answer = snapshot.nodes.ids[int(out.neighbors[place])]
        weight = min(1.0, max(0.0, float(edges.weight[rows[place]])))
        found.setdefault(turns[int(out.origins[place])], []).append((answer, weight))
    return found


def with_answers(found: Sequence[FusedScore], before: AskedBefore, weight: float) -> tuple[FusedScore, ...]:
    """Raise what answered questions that are near to the query, best first.

    Args:
        found: Scores, best first.
        before: The questions, and what answered them.
        weight: Most that a score gains.
    """
    if weight <= 0 or not before.gains:
        return tuple(found)
    parts = {one.id: one.parts for one in found}
    for id, gain in before.gains.items():
        parts[id] = {**parts.get(id, {}), PART: weight * gain}
    return ranked(parts)
