"""Train a scorer on a graph: lay out what there is to learn, learn it, measure it on what was kept from it.

A relation that is stored and wrong is learned like any other. So each network learns from half of the
relations and scores the other half: what it learned by heart it is not asked about.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.garden.edges import stated_of
from hydramem.garden.fingerprint import fingerprint
from hydramem.garden.gnn.learn import MOST_STEPS, Weights, learn, messages_of, of_fold
from hydramem.garden.gnn.lesson import Lesson, lay_out
from hydramem.garden.gnn.model import FOLDS, SETTINGS, Model
from hydramem.garden.gnn.network import Network
from hydramem.garden.labels import Labels, no_labels
from hydramem.garden.meanings import EntityVectors
from hydramem.garden.scorer import LEAST_RELATIONS, auc
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Floats


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
    learned = []
    for fold in range(FOLDS):
        steps = partial(_step, progress, fold)
        learned.append(_learned(lesson, fold, seconds=seconds / FOLDS, progress=steps))
    truth, given = (np.concatenate([getattr(each, name) for each in learned]) for name in ("truth", "given"))
    return Model(
        fingerprint=fingerprint(snapshot, said, settings=(*SETTINGS, embedder)),
        nodes=tuple(snapshot.nodes.ids[node] for node in lesson.used),
        types=tuple(snapshot.edges.types[: lesson.types - 1]),
        weights=tuple(each.weights for each in learned),
        places=lesson.nodes.places.numpy(),
        lens=lesson.lens,
        mean=lesson.mean,
        spread=lesson.spread,
        slopes=tuple(each.slope for each in learned),
        offsets=tuple(each.offset for each in learned),
        auc=auc(truth > 0, given),
        calibration=float(np.mean((given - truth) ** 2)),
        relations=lesson.ends.shape[1],
        labels=len(said),
        seconds=monotonic() - started,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learned:
    """A network's weights, and how it does on edges that were kept from it.

    Attributes:
        slope, offset: From its log odds of being right to those of being wrong.
        truth: Whether edges are wrong; `given`: with which probability it says so.
    """

    weights: Weights
    slope: float
    offset: float
    truth: NDArray[np.int64]
    given: Floats


def _step(progress: Callable[[int, int], None], fold: int, done: int) -> None:
    progress(fold * MOST_STEPS + done, FOLDS * MOST_STEPS)


def _learned(lesson: Lesson, fold: int, *, seconds: float, progress: Callable[[int], None]) -> _Learned:
    network = Network(
        size=len(lesson.used),
        types=lesson.types,
        told=len(lesson.mean),
        meaning=0 if lesson.lens is None else lesson.lens.axes.shape[1],
    )
    weights = learn(network, lesson, fold=fold, seconds=seconds, progress=progress)
    network.load_state_dict(weights)
    right, wrong = of_fold(network, lesson, fold, messages_of(lesson, fold))
    return _calibrated(weights, right, wrong)


def _calibrated(weights: Weights, right: Floats, wrong: Floats) -> _Learned:
    """Fit probabilities to half of what was kept from a network (Platt, 1999); the rest measures them."""
    from sklearn.linear_model import LogisticRegression

    told = np.concatenate([right, wrong])[:, None]
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    half = np.arange(len(truth)) % 2 == 0
    fitted = LogisticRegression().fit(told[half], truth[half])
    return _Learned(
        weights=weights,
        slope=float(fitted.coef_[0, 0]),
        offset=float(fitted.intercept_[0]),
        truth=truth[~half],
        given=fitted.predict_proba(told[~half])[:, 1],
    )
