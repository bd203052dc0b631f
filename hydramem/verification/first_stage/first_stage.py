"""The first stage of verification (SR-MKG): a claim judged by the graph around it and by its passages.

Features go into a logistic model whose weights are learned (`weights.py`). What is missing (an empty graph, a
claim without passages) counts neither way.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Decision, RelationCandidate, Verdict
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.text.relation_words import UNCERTAIN_TYPES
from hydramem.verification.first_stage import graph_features, text_features
from hydramem.verification.first_stage.relation_arrays import Claims, Facts
from hydramem.verification.first_stage.similar_entities import learned
from hydramem.verification.first_stage.verdict_reasons import explanation
from hydramem.verification.first_stage.weights import Weights

# The last two are always 0: stored scores and calibrations of earlier versions name them.
_OTHER = ("confidence", "named", "evidence", "embedding", "similarity")
NAMES: tuple[str, ...] = (*graph_features.NAMES, *_OTHER, *text_features.NAMES)
"""The features, in the order of the columns."""
_STATED_NEAR = 0.4


def features(
    candidates: Sequence[RelationCandidate],
    snapshot: Snapshot,
    stated: Sequence[text_features.StatedEvidence] | None = None,
) -> NDArray[np.float32]:
    """Return the features of candidates.

    Args:
        candidates: Relations, their ends and passages.
        snapshot: The graph around them; may hold them already.
        stated: The evidence of each candidate, where it is known already.

    Returns:
        Shape (candidates, `NAMES`).
    """
    if stated is None:
        stated = text_features.stated_evidence(candidates)
    known, relations = learned(snapshot), [candidate.relation for candidate in candidates]
    unknown = np.zeros(len(candidates))
    other = np.column_stack(
        [
            np.array([relation.confidence for relation in relations], dtype=np.float64),
            np.array([_is_named(relation.type) for relation in relations], dtype=np.float64),
            np.log([max(len(documents(candidate)), 1) for candidate in candidates]),
            *(unknown, unknown),
        ]
    )
    around = graph_features.topology(known, located(candidates, snapshot, known.facts))
    return np.hstack([around, other, text_features.matrix(stated)]).astype(np.float32)


def located(candidates: Sequence[RelationCandidate], snapshot: Snapshot, facts: Facts) -> Claims:
    """Return candidates as nodes and codes of `facts`; what was added to the graph later is unknown there."""
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
    return type.casefold().replace(" ", "_").replace("-", "_") not in UNCERTAIN_TYPES


def probabilities(features: NDArray[np.floating], weights: Weights) -> NDArray[np.float64]:
    """Return how probable each candidate is, from its features; shape (candidates,)."""
    odds = features.astype(np.float64) @ weights.for_names(NAMES) + weights.intercept
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))))


def first_verdicts(
    candidates: Sequence[RelationCandidate],
    snapshot: Snapshot,
    *,
    weights: Weights,
    accept_at: float,
    reject_below: float,
) -> tuple[Verdict, ...]:
    """Accept, reject or defer each candidate.

    Args:
        candidates: Relations, their ends and passages.
        snapshot, weights: The graph around them, and the logistic model.
        accept_at: Probability from which a candidate is accepted.
        reject_below: Probability under which it is rejected.
    """
    if not candidates:
        return ()
    stated = text_features.stated_evidence(candidates)
    found = features(candidates, snapshot, stated)
    scores, parts = probabilities(found, weights), found * weights.for_names(NAMES)
    verdicts = []
    for candidate, score, row, added, one in zip(
        candidates, scores.tolist(), found, parts.tolist(), stated, strict=True
    ):
        decision: Decision = (
            "rejected" if score < reject_below else "accepted" if score >= accept_at else "deferred"
        )
        values = {name: round(float(value), 4) for name, value in zip(NAMES, row, strict=True) if value}
        by_name = dict(zip(NAMES, added, strict=True))
        verdicts.append(
            Verdict(
                decision=decision,
                score=round(score, 4),
                stage="srmkg",
                verifier=f"srmkg:{weights.version}",
                scores=values,
                quote=one.sentence if _is_stated(values) else None,
                explanation=explanation(candidate, decision, score, values, by_name),
            )
        )
    return tuple(verdicts)


def _is_stated(values: Mapping[str, float]) -> bool:
    """Say whether one sentence names both ends, and says the type close to the object without denying it."""
    close = values.get("same_sentence", 0) >= 1 and values.get("cue_near", 0) >= _STATED_NEAR
    return close and not any(values.get(name) for name in ("negated", "turned", "rival", "kind_differs"))
