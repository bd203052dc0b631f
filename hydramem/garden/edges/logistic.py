"""The edge scorer that needs no torch: a logistic model of what the graph says of each of its relations.

It is fitted to the project each night, on its relations against wrong ones that were drawn
(`garden.edges`) and on what people said of some, and measured on relations held out from the fit.
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
from hydramem.verification.first_stage.likeness import Learned
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, found, taken

NAME = "logistic"

LEAST_RELATIONS = 200
"""Below, a fit would tell chance."""

_MOST_FITTED = 40_000

_HELD_OUT = 0.2

_BATCH = 50_000

_STRENGTH = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What people said, as examples: features, whether each is wrong, and for how many others each counts."""

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
        snapshot: The graph.
        labels: What people said of its relations.
        seed: Of what is drawn; the same graph, labels and seed give the same scores.
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
    said = None
    if labels is not None and len(labels):
        said = _said(known, labels, 2 * len(chosen))
        held[0][_judged(known.facts, claims, labels)] = False
    fitted = _fitted(right[~held[0]], wrong[~held[1]], said)
    told = np.concatenate([fitted(right[held[0]]), fitted(wrong[held[1]])])
    truth = np.repeat([0.0, 1.0], [held[0].sum(), held[1].sum()])
    whole = _fitted(right, wrong, said)
    return EdgeScores(
        rows=rows,
        spurious=_all(known, claims_of(snapshot, rows), whole, progress),
        scorer=NAME,
        auc=auc(truth > 0, told),
        calibration=float(np.mean((told - truth) ** 2)),
        labels=0 if said is None else len(said.wrong),
    )


def _said(known: Learned, labels: Labels, examples: int) -> _Said:
    return _Said(
        rows=features(known, labels.claims),
        wrong=(~labels.true).astype(np.int64),
        weight=labels.share(examples) * examples / len(labels),
    )


def _judged(facts: Facts, claims: Claims, labels: Labels) -> NDArray[np.bool_]:
    """Say which claims people judged: what was learned by heart measures nothing."""
    one, other = (facts.keys(each.type, each.subject, each.object) for each in (claims, labels.claims))
    return found(np.unique(other), one) >= 0


def _fitted(right: Floats, wrong: Floats, said: _Said | None) -> Callable[[Floats], Floats]:
    """Return the model: probability of being wrong, from features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    rows, truth = np.vstack([right, wrong]), np.repeat([0, 1], [len(right), len(wrong)])
    scale, weights = StandardScaler().fit(rows), np.ones(len(rows))
    if said is not None:
        rows, truth = np.vstack([rows, said.rows]), np.concatenate([truth, said.wrong])
        weights = np.append(weights, np.full(len(said.wrong), said.weight))
    model = LogisticRegression(C=_STRENGTH, max_iter=300)
    model.fit(scale.transform(rows), truth, sample_weight=weights)

    def spurious(rows: Floats) -> Floats:
        return np.asarray(model.predict_proba(scale.transform(rows))[:, 1])

    return spurious


def _all(
    known: Learned,
    claims: Claims,
    spurious: Callable[[Floats], Floats],
    progress: Callable[[int, int], None],
) -> Floats:
    """Score in batches, so that memory stays bounded."""
    whole = len(claims.subject)
    found = []
    for start in range(0, whole, _BATCH):
        batch = taken(claims, np.arange(start, min(start + _BATCH, whole)))
        found.append(spurious(features(known, batch)))
        progress(start + len(batch.subject), whole)
    return np.concatenate(found)


def auc(wrong: np.ndarray, scores: Floats) -> float:
    """Return the chance that a wrong one is scored above a right one, equal scores counting half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(wrong, scores))
