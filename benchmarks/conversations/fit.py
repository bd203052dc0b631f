"""Fitting the weights by which turns are ordered.

The network is fitted by the likelihood of the right turns among the first ones, a softmax over the turns of a
question (ListNet, Cao et al., 2007), with dropout and decoupled weight decay (AdamW). A few networks of
different seeds are joined to one, which returns the mean of their scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hydramem.search.conversation.turn_order import MOST_TURNS, NUMBERS, Floats, TurnWeights

if TYPE_CHECKING:
    import torch

_UNITS, _SEEDS, _EPOCHS, _BATCH = 8, 4, 15, 64
_RATE, _DECAY, _DROPOUT = 0.01, 0.3, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the turns that were found for it.

    Attributes:
        numbers: Of shape (turns, numbers), as `NUMBERS` names them.
        right: Of shape (turns,): whether the turn answers it.
    """

    case: str
    numbers: Floats
    right: Floats


def fit(questions: Sequence[Question]) -> TurnWeights:
    """Return the weights under which the right turns are likeliest."""
    import torch

    used = [one for one in questions if one.right.any()]
    every = np.concatenate([one.numbers for one in used])
    mean, scale = every.mean(axis=0), every.std(axis=0)
    scale[scale == 0] = np.inf  # a number that never varies gets no weight
    numbers = torch.zeros(len(used), MOST_TURNS, len(NUMBERS))
    right, absent = torch.zeros(len(used), MOST_TURNS), torch.full((len(used), MOST_TURNS), -1e9)
    for place, one in enumerate(used):
        turns = len(one.right)
        numbers[place, :turns] = torch.tensor((one.numbers - mean) / scale)
        right[place, :turns] = torch.tensor(one.right / one.right.sum())
        absent[place, :turns] = 0
    parts = [_network(numbers, right, absent, seed) for seed in range(_SEEDS)]
    direct = np.mean([part["direct.weight"][0] for part in parts], axis=0) / scale
    hidden = np.concatenate([part["hidden.weight"] for part in parts]) / scale
    bias = np.concatenate([part["hidden.bias"] for part in parts]) - hidden @ mean
    out = np.concatenate([part["out.weight"][0] for part in parts]) / _SEEDS
    return TurnWeights(direct=direct.round(4), hidden=hidden.round(4), bias=bias.round(4), out=out.round(4))


def _network(
    numbers: "torch.Tensor", right: "torch.Tensor", absent: "torch.Tensor", seed: int
) -> dict[str, Floats]:
    """Train a network; return its weights by name, for numbers of mean 0 and deviation 1."""
    import torch
    from torch import nn

    torch.manual_seed(seed)
    model = nn.ModuleDict(
        {
            "direct": nn.Linear(len(NUMBERS), 1, bias=False),
            "hidden": nn.Linear(len(NUMBERS), _UNITS),
            "out": nn.Linear(_UNITS, 1, bias=False),
        }
    )
    nn.init.zeros_(model["direct"].weight)
    optimizer = torch.optim.AdamW(model.parameters(), lr=_RATE, weight_decay=_DECAY)
    for _ in range(_EPOCHS):
        for batch in torch.randperm(len(numbers)).split(_BATCH):
            inputs = numbers[batch]
            units = torch.tanh(nn.functional.dropout(model["hidden"](inputs), _DROPOUT))
            scores = (model["direct"](inputs) + model["out"](units))[..., 0] + absent[batch]
            loss = -(right[batch] * torch.log_softmax(scores, 1)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return {name: value.numpy().astype(np.float64) for name, value in model.state_dict().items()}
