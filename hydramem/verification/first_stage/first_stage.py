"""The first stage of verification: a claim judged by the graph around it and the passages it rests on.

Features go into a logistic model whose weights are learned (`weights.py`). What is not there to be looked
at (an empty graph, a claim without passages, no embeddings) counts for nothing, neither way.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Decision, RelationCandidate, Verdict
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage import graph_features, text_features
from hydramem.verification.first_stage.likeness import learned
from hydramem.verification.first_stage.relation_arrays import Claims, Facts
from hydramem.verification.first_stage.verdict_reasons import explanation
from hydramem.verification.first_stage.weights import Weights

_OTHER = ("confidence", "named", "evidence", "embedding", "similarity")
NAMES: tuple[str, ...] = (*graph_features.NAMES, *_OTHER, *text_features.NAMES)
"""The features, in the order of the columns."""
_STATED_NEAR = 0.4
_UNNAMED_LIST = (
    "related_to relates_to related associated_with associated is has links_to linked_to mentions see"
)
_UNNAMED = frozenset(_UNNAMED_LIST.split())


def features(
    candidates: Sequence[RelationCandidate],
    snapshot: Snapshot,
    *,
    similarity: NDArray[np.floating] | None = None,
) -> NDArray[np.float32]:
    """Return what there is to judge each candidate by.

    Args:
        candidates: Relations, their ends and passages.
        snapshot: The graph around them; may hold them already.
        similarity: Cosine of the claim as a sentence and its best passage, shape (candidates,); not a
            number where unknown.

    Returns:
        Shape (candidates, `NAMES`).
    """
    return _looked_at(candidates, snapshot, similarity)[0]


def _looked_at(
    candidates: Sequence[RelationCandidate], snapshot: Snapshot, similarity: NDArray[np.floating] | None
) -> tuple[NDArray[np.float32], list[text_features.StatedEvidence]]:
    known, said = learned(snapshot), text_features.stated_evidence(candidates)
    cosine = np.full(len(candidates), np.nan) if similarity is None else np.asarray(similarity, dtype=float)
    told = np.isfinite(cosine)
    other = np.column_stack(
        [
            np.array([candidate.relation.confidence for candidate in candidates], dtype=np.float64),
            np.array([_is_named(candidate.relation.type) for candidate in candidates], dtype=np.float64),
            np.log([max(len(documents(candidate)), 1) for candidate in candidates]),
            told,
            np.where(told, cosine, 0.0),
        ]
    )
    around = graph_features.topology(known, located(candidates, snapshot, known.facts))
    return np.hstack([around, other, text_features.matrix(said)]).astype(np.float32), said


def located(candidates: Sequence[RelationCandidate], snapshot: Snapshot, facts: Facts) -> Claims:
    """Return candidates as nodes and codes of a graph; what came after it was laid out is unknown to it."""
    codes = {type: code for code, type in enumerate(snapshot.edges.types[: facts.types - 1])}
    unknown = facts.types - 1

    def nodes(ids: list[str]) -> NDArray[np.int64]:
        found = (snapshot.node(id) for id in ids)
        return np.array(
            [-1 if node is None or node >= facts.size else node for node in found], dtype=np.int64
        )

    subject = nodes([candidate.subject.id for candidate in candidates])
    object = nodes([candidate.object.id for candidate in candidates])
    kind = np.append(facts.kind, -1)
    return Claims(
        subject=subject,
        type=np.array([codes.get(each.relation.type, unknown) for each in candidates], dtype=np.int64),
        object=object,
        subject_kind=kind[subject],
        object_kind=kind[object],
    )


def documents(candidate: RelationCandidate) -> frozenset[str]:
    """Return the distinct sources among a candidate's passages."""
    return frozenset(chunk.document or chunk.session or chunk.id for chunk in candidate.passages)


def _is_named(type: str) -> bool:
    return type.casefold().replace(" ", "_").replace("-", "_") not in _UNNAMED


def probabilities(features: NDArray[np.floating], weights: Weights) -> NDArray[np.float64]:
    """Return how probable each candidate is, from its features; shape (candidates,)."""
    odds = features.astype(np.float64) @ weights.for_names(NAMES) + weights.intercept
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))


def judge(
    candidates: Sequence[RelationCandidate],
    snapshot: Snapshot,
    *,
    weights: Weights,
    accept_at: float,
    reject_below: float,
    similarity: NDArray[np.floating] | None = None,
) -> tuple[Verdict, ...]:
    """Accept, reject or defer each candidate.

    Args:
        candidates: Relations, their ends and passages.
        snapshot: The graph around them.
        weights: The logistic model.
        accept_at: Probability from which a candidate is accepted.
        reject_below: Probability under which it is rejected.
        similarity: As in `features`.
    """
    if not candidates:
        return ()
    found, said = _looked_at(candidates, snapshot, similarity)
    scores, counts = probabilities(found, weights), weights.for_names(NAMES)
    return tuple(
        _verdict(candidate, float(score), row, row * counts, one, weights, (reject_below, accept_at))
        for candidate, score, row, one in zip(candidates, scores, found, said, strict=True)
    )


def _verdict(
    candidate: RelationCandidate,
    score: float,
    row: NDArray[np.float32],
    parts: NDArray[np.float64],
    said: text_features.StatedEvidence,
    weights: Weights,
    bounds: tuple[float, float],
) -> Verdict:
    values = {name: round(float(value), 4) for name, value in zip(NAMES, row, strict=True) if value}
    decision: Decision = "rejected" if score < bounds[0] else "accepted" if score >= bounds[1] else "deferred"
    return Verdict(
        decision=decision,
        score=round(score, 4),
        stage="srmkg",
        verifier=f"srmkg:{weights.version}",
        scores=values,
        quote=said.sentence if _is_stated(values) else None,
        explanation=explanation(
            candidate, decision, score, values, dict(zip(NAMES, parts.tolist(), strict=True))
        ),
    )


def _is_stated(values: Mapping[str, float]) -> bool:
    """Say whether one sentence names both ends, and says the type close to the object without denying it."""
    close = values.get("same_sentence", 0) >= 1 and values.get("cue_near", 0) >= _STATED_NEAR
    return close and not any(values.get(name) for name in ("negated", "turned", "rival", "kind_differs"))
