"""The edge scorer that needs no torch: a logistic model over the features of relations.

Each run fits it to the project: to its relations against wrong ones that are drawn, and to the labels of
people. It is measured on relations held out from the fit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.garden.edges.labelled_relations import (
    EdgeScores,
    Labels,
    claims_of,
    features,
    known_of,
    relations_of,
    stated_of,
    wrong_claims,
)
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, found, taken
from hydramem.verification.first_stage.similar_entities import Learned

NAME = "logistic"
LEAST_RELATIONS = 200
"""With fewer relations a fit would be chance."""

_MOST_FITTED = 40_000
_HELD_OUT = 0.2
_BATCH = 50_000
_REGULARIZATION = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabelledExamples:
    """Labels as examples: features, whether each is wrong, and for how many others each counts."""

    rows: Floats
    wrong: NDArray[np.int64]
    weight: float


def score(
    snapshot: Snapshot,
    *,
    labels: Labels | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, whole: None,
) -> EdgeScores | None:
    """Score every active relation of a graph; None where it has too few to learn from.

    Args:
        labels: Verdicts of people on its relations.
        seed: Of the random draws; the same graph, labels and seed give the same scores.
        progress: Called with relations scored and relations to score.
    """
    rows, stated = relations_of(snapshot), stated_of(snapshot)
    if len(stated) < LEAST_RELATIONS:
        return None
    draw = np.random.default_rng(seed)
    known = known_of(snapshot)
    chosen = np.sort(draw.choice(stated, min(len(stated), _MOST_FITTED), replace=False))
    claims = claims_of(snapshot, chosen)
    right = features(known, claims)
    wrong = features(known, wrong_claims(known.facts, len(chosen), draw))
    held = draw.random(len(right)) < _HELD_OUT, draw.random(len(wrong)) < _HELD_OUT
    examples = None
    if labels is not None and len(labels):
        examples = _labelled(known, labels, 2 * len(chosen))
        held[0][_are_labelled(known.facts, claims, labels)] = False
    fitted = _fitted(right[~held[0]], wrong[~held[1]], examples)
    given = np.concatenate([fitted(right[held[0]]), fitted(wrong[held[1]])])
    truth = np.repeat([0.0, 1.0], [held[0].sum(), held[1].sum()])
    whole = _fitted(right, wrong, examples)
    return EdgeScores(
        rows=rows,
        spurious=_in_batches(known, claims_of(snapshot, rows), whole, progress),
        scorer=NAME,
        auc=auc(truth > 0, given),
        calibration=float(np.mean((given - truth) ** 2)),
        labels=0 if examples is None else len(examples.wrong),
    )


def _labelled(known: Learned, labels: Labels, examples: int) -> _LabelledExamples:
    return _LabelledExamples(
        rows=features(known, labels.claims),
        wrong=(~labels.true).astype(np.int64),
        weight=labels.share(examples) * examples / len(labels),
    )


def _are_labelled(facts: Facts, claims: Claims, labels: Labels) -> NDArray[np.bool_]:
    """Say which claims have a label: the fit has seen those, so they measure nothing."""
    one, other = (facts.keys(each.type, each.subject, each.object) for each in (claims, labels.claims))
    return found(np.unique(other), one) >= 0


def _fitted(right: Floats, wrong: Floats, labelled: _LabelledExamples | None) -> Callable[[Floats], Floats]:
    """Return the model: probability of being wrong, from features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rows, truth = np.vstack([right, wrong]), np.repeat([0, 1], [len(right), len(wrong)])
    scale, weights = StandardScaler().fit(rows), np.ones(len(rows))
    if labelled is not None:
        rows, truth = np.vstack([rows, labelled.rows]), np.concatenate([truth, labelled.wrong])
        weights = np.append(weights, np.full(len(labelled.wrong), labelled.weight))
    model = LogisticRegression(C=_REGULARIZATION, max_iter=300)
    model.fit(scale.transform(rows), truth, sample_weight=weights)

    def spurious(rows: Floats) -> Floats:
        return np.asarray(model.predict_proba(scale.transform(rows))[:, 1])

    return spurious


def _in_batches(
    known: Learned, claims: Claims, spurious: Callable[[Floats], Floats], progress: Callable[[int, int], None]
) -> Floats:
    """Score in batches, which bounds memory."""
    whole = len(claims.subject)
    found = []
    for start in range(0, whole, _BATCH):
        batch = taken(claims, np.arange(start, min(start + _BATCH, whole)))
        found.append(spurious(features(known, batch)))
        progress(start + len(batch.subject), whole)
    return np.concatenate(found)


def auc(wrong: np.ndarray, scores: Floats) -> float:
    """Return the probability that a wrong claim scores above a right one, ties counting half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(wrong, scores))
