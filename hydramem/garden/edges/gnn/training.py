"""Training: edges asked about in small batches, none among the messages that it is judged by."""

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

_LOOK = 20
"""Steps between two looks at the held-out edges."""

_PATIENCE = 5

_RATE = 0.01

_DECAY = 1e-4

_DECODED = 50_000

Weights = dict[str, torch.Tensor]


@dataclass(slots=True, kw_only=True)
class _Best:
    """The best weights so far, and how many looks ago they were."""

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
    """Train until the edges that are kept from it are told no better, or time is over; return what was best.

    Args:
        network: The network; left as it was last.
        lesson: What it learns from.
        fold: Which edges are kept from it.
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
        if step % _LOOK == _LOOK - 1 or monotonic() > until:
            best.see(network, _auc(*of_fold(network, lesson, fold, kept)))
            if best.waited >= _PATIENCE or monotonic() > until:
                break
    return best.weights


def copied(network: Network) -> Weights:
    """Return a network's weights as they are."""
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _loss(network: Network, lesson: Lesson, fold: int) -> torch.Tensor:
    """Return how wrong the network is on a batch, half of it right, and on what people said."""
    right, wrong = _others(lesson.fold_right, fold), _others(lesson.fold_wrong, fold)
    count = max(1, min(len(right) // _PARTS, _BATCH))
    asked = right[torch.randperm(len(right))[:count]]
    against = wrong[torch.randint(len(wrong), (count,))]
    confirmed = _some(lesson.confirmed[lesson.fold_right[lesson.confirmed] != fold])
    messages = messages_of(lesson, fold, without=torch.cat([asked, confirmed]))
    nodes = network(lesson.nodes, messages)
    loss = _of(network, nodes, lesson.right.some(asked), lesson.wrong.some(against))
    if lesson.share:
        refuted = lesson.refuted.some(_some(torch.arange(len(lesson.refuted))))
        nodes = network(lesson.nodes, messages, in_general=True)
        said = _of(network, nodes, lesson.right.some(confirmed), refuted)
        loss = (1 - lesson.share) * loss + lesson.share * said
    return loss


def _others(folds: torch.Tensor, fold: int) -> torch.Tensor:
    return (folds != fold).nonzero().squeeze(1)


def _some(rows: torch.Tensor) -> torch.Tensor:
    return rows[torch.randperm(len(rows))[:_MOST_LABELS]]


def _of(network: Network, nodes: torch.Tensor, right: EdgeInputs, wrong: EdgeInputs) -> torch.Tensor:
    logits = torch.cat([network.decode(nodes, right), network.decode(nodes, wrong)])
    return loss_of(logits, torch.cat([torch.ones(len(right)), torch.zeros(len(wrong))]))


def messages_of(lesson: Lesson, fold: int, *, without: torch.Tensor | None = None) -> Messages:
    """Return messages over a lesson's relations, but those of a fold.

    Of very many, some are drawn: what a step takes does not grow with the graph.

    Args:
        lesson: The relations.
        fold: Which of them to leave out.
        without: More of them to leave out, by their rows among those that are asked about.
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
    """Return log odds of edges, decoded a part at a time."""
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
