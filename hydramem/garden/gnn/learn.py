"""Training: edges asked about in small batches, none among the messages that it is judged by."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as loss_of

from hydramem.garden.gnn.inputs import Edges
from hydramem.garden.gnn.lesson import Lesson
from hydramem.garden.gnn.model import FOLDS
from hydramem.garden.gnn.network import Messages, Network, messages
from hydramem.garden.scorer import auc
from hydramem.verification.facts import Floats

_BATCH = 20_000
_MOST_MESSAGES = 1_000_000
_MOST_LABELS = 1000
_MOST_STEPS = 400
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
    network: Network, lesson: Lesson, *, seconds: float, progress: Callable[[int, int], None]
) -> Weights:
    """Train until the held-out edges are told no better, or time is over; return the best weights.

    Args:
        network: The network; left as it was last.
        lesson: What it learns from.
        seconds: How long it may take.
        progress: Called with steps done and the most that there are.
    """
    optimizer = torch.optim.Adam(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    best, until = _Best(weights=copied(network)), monotonic() + seconds
    looked = without(lesson, lesson.held_right)
    for step in range(_MOST_STEPS):
        network.train()
        loss = _loss(network, lesson)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress(step + 1, _MOST_STEPS)
        if step % _LOOK == _LOOK - 1 or monotonic() > until:
            right, wrong = of_held(network, lesson, looked)
            best.see(network, _auc(right, wrong))
            if best.waited >= _PATIENCE or monotonic() > until:
                break
    return best.weights


def copied(network: Network) -> Weights:
    """Return a network's weights as they are."""
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def _loss(network: Network, lesson: Lesson) -> torch.Tensor:
    """Return how wrong the network is on a batch, half of it right, and on what people said."""
    right, wrong = _open(lesson.held_right), _open(lesson.held_wrong)
    count = max(1, min(len(right) // FOLDS, _BATCH))
    asked = right[torch.randperm(len(right))[:count]]
    against = wrong[torch.randint(len(wrong), (count,))]
    confirmed, refuted = _some(len(lesson.confirmed)), _some(len(lesson.refuted))
    confirmed = lesson.confirmed[confirmed]
    left_out = lesson.held_right.clone()
    left_out[asked] = True
    left_out[confirmed] = True
    others = without(lesson, left_out)
    nodes = network(lesson.nodes, others)
    loss = _of(network, nodes, lesson.right.some(asked), lesson.wrong.some(against))
    if lesson.share:
        nodes = network(lesson.nodes, others, in_general=True)
        said = _of(network, nodes, lesson.right.some(confirmed), lesson.refuted.some(refuted))
        loss = (1 - lesson.share) * loss + lesson.share * said
    return loss


def _open(held: torch.Tensor) -> torch.Tensor:
    return (~held).nonzero().squeeze(1)


def _some(count: int) -> torch.Tensor:
    return torch.randperm(count)[:_MOST_LABELS]


def _of(network: Network, nodes: torch.Tensor, right: Edges, wrong: Edges) -> torch.Tensor:
    logits = torch.cat([network.decode(nodes, right), network.decode(nodes, wrong)])
    return loss_of(logits, torch.cat([torch.ones(len(right)), torch.zeros(len(wrong))]))


def without(lesson: Lesson, left_out: torch.Tensor) -> Messages:
    """Return messages over a lesson's relations, but some of those that are asked about.

    Of very many, some are drawn: what a step takes does not grow with the graph.
    """
    keep = np.ones(lesson.ends.shape[1], dtype=np.bool_)
    keep[lesson.learned[left_out.numpy()]] = False
    kept = np.flatnonzero(keep)
    if len(kept) > _MOST_MESSAGES:
        kept = kept[torch.randperm(len(kept))[:_MOST_MESSAGES].numpy()]
    return messages(lesson.ends[:, kept], len(lesson.used))


def of_held(network: Network, lesson: Lesson, looked: Messages) -> tuple[Floats, Floats]:
    """Return log odds of the held-out edges, right and wrong ones."""
    network.eval()
    with torch.no_grad():
        nodes = network(lesson.nodes, looked)
        right = decoded(network, nodes, lesson.right.some(lesson.held_right))
        return right, decoded(network, nodes, lesson.wrong.some(lesson.held_wrong))


def decoded(network: Network, nodes: torch.Tensor, edges: Edges) -> Floats:
    """Return log odds of edges, decoded a part at a time."""
    parts = [
        network.decode(nodes, edges.some(torch.arange(start, min(start + _DECODED, len(edges)))))
        for start in range(0, len(edges), _DECODED)
    ]
    return torch.cat([torch.zeros(0), *parts]).numpy().astype(np.float64)


def _auc(right: Floats, wrong: Floats) -> float:
    return auc(np.repeat([False, True], [len(right), len(wrong)]), -np.concatenate([right, wrong]))
