"""The edge scorer that needs no torch: a logistic model of what the graph says of each of its relations.

It is fitted to the project each night, on its relations against wrong ones that were drawn
(`garden.edges`), and measured on relations held out from the fit.
"""

from collections.abc import Callable

import numpy as np

from hydramem.garden.edges import EdgeScores, claims_of, features, known_of, relations_of, wrong_claims
from hydramem.graph.snapshot import Snapshot
from hydramem.verification.facts import Claims, Floats, taken
from hydramem.verification.learned import Learned

NAME = "logistic"

LEAST_RELATIONS = 200
"""Below, a fit would tell chance."""
_MOST_FITTED = 40_000
_HELD_OUT = 0.2
_BATCH = 50_000
_STRENGTH = 0.1


def score(
    snapshot: Snapshot, *, seed: int = 0, progress: Callable[[int, int], None] = lambda done, whole: None
) -> EdgeScores | None:
    """Score every active relation of a graph; None where it has too few to learn from.

    Args:
        snapshot: The graph.
        seed: Of what is drawn; the same graph and seed give the same scores.
        progress: Called with relations scored and relations to score.
    """
    rows = relations_of(snapshot)
    if len(rows) < LEAST_RELATIONS:
        return None
    draw = np.random.default_rng(seed)
    known = known_of(snapshot)
    chosen = np.sort(draw.choice(len(rows), min(len(rows), _MOST_FITTED), replace=False))
    right = features(known, claims_of(snapshot, rows[chosen]))
    wrong = features(known, wrong_claims(known.facts, len(chosen), draw))
    held = draw.random(len(right)) < _HELD_OUT, draw.random(len(wrong)) < _HELD_OUT
    fitted = _fitted(right[~held[0]], wrong[~held[1]])
    told = np.concatenate([fitted(right[held[0]]), fitted(wrong[held[1]])])
    truth = np.repeat([0.0, 1.0], [held[0].sum(), held[1].sum()])
    whole = _fitted(right, wrong)
    spurious = _all(known, claims_of(snapshot, rows), whole, progress)
    return EdgeScores(
        rows=rows,
        spurious=spurious,
        scorer=NAME,
        auc=auc(truth > 0, told),
        calibration=float(np.mean((told - truth) ** 2)),
    )


def _fitted(right: Floats, wrong: Floats) -> Callable[[Floats], Floats]:
    """Return the model: probability of being wrong, from features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=_STRENGTH, max_iter=300))
    model.fit(np.vstack([right, wrong]), np.repeat([0, 1], [len(right), len(wrong)]))

    def spurious(rows: Floats) -> Floats:
        return np.asarray(model.predict_proba(rows)[:, 1])

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
