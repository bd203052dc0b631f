"""Training of the network, on small batches of edges that carry no messages while they are scored."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits as loss_of

from hydramem.garden.edges.gnn.inputs import EdgeInputs, Lesson, lay_out
from hydramem.garden.edges.gnn.network import Messages, Network, messages
from hydramem.garden.edges.gnn.node_vectors import EntityVectors
from hydramem.garden.edges.gnn.trained_model import FOLDS, SETTINGS, Model
from hydramem.garden.edges.labelled_relations import Labels, no_labels, stated_of
from hydramem.garden.edges.logistic import LEAST_RELATIONS, auc
from hydramem.garden.edges.training_fingerprint import fingerprint
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Floats

_BATCH = 20_000
_PARTS = 5
_MOST_MESSAGES = 1_000_000
_MOST_LABELS = 1000
MOST_STEPS = 400
_EVALUATED_EVERY = 20
_PATIENCE = 5
"""Steps between two evaluations on the held-out edges, and evaluations without a better result."""

_RATE = 0.01
_DECAY = 1e-4
_DECODED = 50_000
Weights = dict[str, torch.Tensor]


@dataclass(slots=True, kw_only=True)
class _Best:
    """The best weights so far, and how many evaluations ago they were found."""

    weights: Weights
    auc: float = 0.0
    waited: int = 0

    def see(self, network: Network, auc: float) -> None:
        if auc > self.auc:
            self.weights, self.auc, self.waited = copied(network), auc, 0
        else:
            self.waited += 1


def learn(
    network: Network, lesson: Lesson, *, fold: int, seconds: float, progress: Callable[[int], None]
) -> Weights:
    """Train until the held-out edges are scored no better, or time is over; return the best weights.

    Args:
        network: The network; it keeps its last weights.
        lesson: The training data.
        fold: The edges that are held out.
        seconds: How long it may take.
        progress: Called with steps done, of `MOST_STEPS`.
    """
    optimizer = torch.optim.Adam(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    best, until = _Best(weights=copied(network)), monotonic() + seconds
    kept = messages_of(lesson, fold)
    for step in range(MOST_STEPS):
        network.train()
        loss = _loss(network, lesson, fold)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress(step + 1)
        if step % _EVALUATED_EVERY == _EVALUATED_EVERY - 1 or monotonic() > until:
            best.see(network, _auc(*of_fold(network, lesson, fold, kept)))
            if best.waited >= _PATIENCE or monotonic() > until:
                break
    return best.weights


def copied(network: Network) -> Weights:
    """Return a copy of a network's weights."""
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _loss(network: Network, lesson: Lesson, fold: int) -> torch.Tensor:
    """Return the loss on a batch of as many right as wrong edges, and on labels."""
    right, wrong = _not_in_fold(lesson.fold_right, fold), _not_in_fold(lesson.fold_wrong, fold)
    count = max(1, min(len(right) // _PARTS, _BATCH))
    batch = right[torch.randperm(len(right))[:count]]
    against = wrong[torch.randint(len(wrong), (count,))]
    confirmed = _sampled(lesson.confirmed[lesson.fold_right[lesson.confirmed] != fold])
    messages = messages_of(lesson, fold, without=torch.cat([batch, confirmed]))
    nodes = network(lesson.nodes, messages)
    loss = _loss_on(network, nodes, lesson.right.some(batch), lesson.wrong.some(against))
    if lesson.share:
        refuted = lesson.refuted.some(_sampled(torch.arange(len(lesson.refuted))))
        nodes = network(lesson.nodes, messages, in_general=True)
        on_labels = _loss_on(network, nodes, lesson.right.some(confirmed), refuted)
        loss = (1 - lesson.share) * loss + lesson.share * on_labels
    return loss


def _not_in_fold(folds: torch.Tensor, fold: int) -> torch.Tensor:
    return (folds != fold).nonzero().squeeze(1)


def _sampled(rows: torch.Tensor) -> torch.Tensor:
    return rows[torch.randperm(len(rows))[:_MOST_LABELS]]


def _loss_on(network: Network, nodes: torch.Tensor, right: EdgeInputs, wrong: EdgeInputs) -> torch.Tensor:
    logits = torch.cat([network.decode(nodes, right), network.decode(nodes, wrong)])
    return loss_of(logits, torch.cat([torch.ones(len(right)), torch.zeros(len(wrong))]))


def messages_of(lesson: Lesson, fold: int, *, without: torch.Tensor | None = None) -> Messages:
    """Return messages over a lesson's relations but those of a fold.

    Of very many a sample is drawn, so the time of a step does not grow with the graph.

    Args:
        fold: Which of them to leave out.
        without: Others to leave out, by their rows among the relations to classify.
    """
    keep = lesson.folds != fold
    if without is not None:
        keep[lesson.learned[without.numpy()]] = False
    kept = np.flatnonzero(keep)
    if len(kept) > _MOST_MESSAGES:
        kept = kept[torch.randperm(len(kept))[:_MOST_MESSAGES].numpy()]
    return messages(lesson.ends[:, kept], len(lesson.used))


def of_fold(network: Network, lesson: Lesson, fold: int, kept: Messages) -> tuple[Floats, Floats]:
    """Return log odds of the edges of a fold, right and wrong ones."""
    network.eval()
    with torch.no_grad():
        nodes = network(lesson.nodes, kept)
        right = decoded(network, nodes, lesson.right.some(lesson.fold_right == fold))
        return right, decoded(network, nodes, lesson.wrong.some(lesson.fold_wrong == fold))


def decoded(network: Network, nodes: torch.Tensor, edges: EdgeInputs) -> Floats:
    """Return log odds of edges, decoded in batches."""
    parts = [
        network.decode(nodes, edges.some(torch.arange(start, min(start + _DECODED, len(edges)))))
        for start in range(0, len(edges), _DECODED)
    ]
    return torch.cat([torch.zeros(0), *parts]).numpy().astype(np.float64)


def _auc(right: Floats, wrong: Floats) -> float:
    return auc(np.repeat([False, True], [len(right), len(wrong)]), -np.concatenate([right, wrong]))


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
        labels: Verdicts of people on its relations.
        vectors: Returns vectors of entities; None uses none.
        embedder: What made them.
        seed: Of the random draws; the same graph and seed give the same model unless time runs out.
        seconds: How long training may take.
        progress: Called with training steps done and the most that there are.
    """
    started = monotonic()
    if len(stated_of(snapshot)) < LEAST_RELATIONS:
        return None
    torch.manual_seed(seed)
    labels = no_labels(snapshot) if labels is None else labels
    lesson = lay_out(snapshot, labels, vectors, seed=seed)
    learned = []
    for fold in range(FOLDS):
        steps = partial(_step, progress, fold)
        learned.append(_learned(lesson, fold, seconds=seconds / FOLDS, progress=steps))
    truth, given = (np.concatenate([getattr(each, name) for each in learned]) for name in ("truth", "given"))
    return Model(
        fingerprint=fingerprint(snapshot, labels, settings=(*SETTINGS, embedder)),
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
        labels=len(labels),
        seconds=monotonic() - started,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Learned:
    """A network's weights, and its quality on held-out edges.

    Attributes:
        slope, offset: From its log odds of being right to those of being wrong.
        truth: Whether edges are wrong.
        given: The probability of that by the network.
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
    """Fit probabilities on half of the held-out edges (Platt, 1999), and measure them on the rest."""
    from sklearn.linear_model import LogisticRegression

    odds = np.concatenate([right, wrong])[:, None]
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    half = np.arange(len(truth)) % 2 == 0
    fitted = LogisticRegression().fit(odds[half], truth[half])
    return _Learned(
        weights=weights,
        slope=float(fitted.coef_[0, 0]),
        offset=float(fitted.intercept_[0]),
        truth=truth[~half],
        given=fitted.predict_proba(odds[~half])[:, 1],
    )
