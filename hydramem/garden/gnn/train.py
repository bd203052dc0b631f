"""Train a scorer on a graph: lay out what there is to learn, learn it, measure it on what was held out."""

from collections.abc import Callable
from time import monotonic

import numpy as np
import torch

from hydramem.garden.edges import stated_of
from hydramem.garden.fingerprint import fingerprint
from hydramem.garden.gnn.learn import learn, of_held, without
from hydramem.garden.gnn.lesson import lay_out
from hydramem.garden.gnn.model import SETTINGS, Model
from hydramem.garden.gnn.network import Network
from hydramem.garden.labels import Labels, no_labels
from hydramem.garden.meanings import EntityVectors
from hydramem.garden.scorer import LEAST_RELATIONS, auc
from hydramem.graph.view import Snapshot
from hydramem.verification.facts import Floats


def train(
    snapshot: Snapshot,
    *,
    labels: Labels | None = None,
    vectors: EntityVectors | None = None,
    embedder: str = "",
    seed: int = 0,
    seconds: float = 300.0,
    progress: Callable[[int, int], None] = lambda done, whole: None,
) -> Model | None:
    """Train on a graph; None where it has too few relations to learn from.

    Args:
        snapshot: The graph.
        labels: What people said of its relations.
        vectors: Where the vectors of entities are; None looks at no meanings.
        embedder: What made them.
        seed: Of what is drawn; the same graph and seed give the same model where time does not run out.
        seconds: How long learning may take.
        progress: Called with training steps done and the most that there are.
    """
    started = monotonic()
    if len(stated_of(snapshot)) < LEAST_RELATIONS:
        return None
    torch.manual_seed(seed)
    said = no_labels(snapshot) if labels is None else labels
    lesson = lay_out(snapshot, said, vectors, seed=seed)
    network = Network(
        size=len(lesson.used),
        types=lesson.types,
        told=len(lesson.mean),
        meaning=0 if lesson.lens is None else lesson.lens.axes.shape[1],
    )
    weights = learn(network, lesson, seconds=seconds, progress=progress)
    network.load_state_dict(weights)
    right, wrong = of_held(network, lesson, without(lesson, lesson.held_right))
    slope, offset, measured, brier = _calibrated(right, wrong)
    return Model(
        fingerprint=fingerprint(snapshot, said, settings=(*SETTINGS, embedder)),
        nodes=tuple(snapshot.nodes.ids[node] for node in lesson.used),
        types=tuple(snapshot.edges.types[: lesson.types - 1]),
        weights=weights,
        places=lesson.nodes.places.numpy(),
        lens=lesson.lens,
        mean=lesson.mean,
        spread=lesson.spread,
        slope=slope,
        offset=offset,
        auc=measured,
        calibration=brier,
        relations=lesson.ends.shape[1],
        labels=len(said),
        seconds=monotonic() - started,
    )


def _calibrated(right: Floats, wrong: Floats) -> tuple[float, float, float, float]:
    """Fit probabilities to half of the held-out (Platt, 1999), and measure them on the rest.

    Returns:
        Slope and offset from log odds of being right to those of being wrong; AUC and Brier score.
    """
    from sklearn.linear_model import LogisticRegression

    told = np.concatenate([right, wrong])[:, None]
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    half = np.arange(len(truth)) % 2 == 0
    fitted = LogisticRegression().fit(told[half], truth[half])
    given = fitted.predict_proba(told[~half])[:, 1]
    measured = auc(truth[~half] > 0, given), float(np.mean((given - truth[~half]) ** 2))
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0]), *measured
