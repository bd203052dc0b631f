"""The network: light graph convolution (LightGCN, He et al., 2020) and a decoder of typed edges.

A node combines a learned vector, its position in the graph, its degree and its name vector; an edge its ends
after convolution, its type and its features. A sparse product sums the messages, which takes no memory for a
vector per edge.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch_geometric.nn import LGConv

from hydramem.garden.edges.gnn.inputs import EdgeInputs, Nodes
from hydramem.garden.edges.gnn.trained_model import LAYERS, PLACES, WIDTH

_INITIAL_SPREAD = 0.1
_DROPOUT = 0.3
_NAME_DROPOUT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """The edges that messages pass over, both ways.

    Attributes:
        matrix: Sparse, shape (nodes, nodes): each edge by the roots of the degrees of its ends.
        degrees: Logarithms, shape (nodes, 1).
    """

    matrix: torch.Tensor
    degrees: torch.Tensor


def messages(ends: NDArray[np.int64], size: int) -> Messages:
    """Lay out edges for messages.

    Args:
        ends: Places of nodes, shape (2, edges).
        size: How many nodes there are.
    """
    from scipy.sparse import csr_matrix

    both = np.concatenate([ends, ends[::-1]], axis=1)
    degrees = np.bincount(both[0], minlength=size).astype(np.float32)
    scale = 1 / np.sqrt(np.maximum(degrees, 1))
    found = csr_matrix((scale[both[0]] * scale[both[1]], (both[0], both[1])), shape=(size, size))
    with warnings.catch_warnings():
        # The only fast layout; torch warns that its support is in beta.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        matrix = torch.sparse_csr_tensor(
            torch.from_numpy(found.indptr.astype(np.int64)),
            torch.from_numpy(found.indices.astype(np.int64)),
            torch.from_numpy(found.data),
            size=(size, size),
            check_invariants=True,
        )
    return Messages(matrix=matrix, degrees=torch.from_numpy(np.log1p(degrees)).unsqueeze(1))


class Network(nn.Module):
    """Scores how likely edges are right.

    Args:
        size: Nodes.
        types: Relation types.
        told: Features of an edge.
        meaning: Length of a name vector; 0 where none are used.
    """

    def __init__(self, *, size: int, types: int, told: int, meaning: int) -> None:
        super().__init__()
        self.nodes = nn.Embedding(size, WIDTH)
        self.enter = nn.Linear(PLACES + 1, WIDTH)
        self.types = nn.Embedding(types, 2 * WIDTH)
        self.leave = nn.Linear(WIDTH, 2 * WIDTH)
        self.told = nn.Linear(told, 1)
        self.convolve = LGConv(normalize=False)
        self.drop = nn.Dropout(_DROPOUT)
        for each in (self.nodes, self.types):
            nn.init.normal_(each.weight, std=_INITIAL_SPREAD)
        if meaning:
            self.meaning = nn.Sequential(nn.Dropout(_NAME_DROPOUT), nn.Linear(meaning, WIDTH, bias=False))
            self.unknown = nn.Parameter(torch.zeros(1, WIDTH))

    def forward(self, nodes: Nodes, messages: Messages, *, in_general: bool = False) -> torch.Tensor:
        """Return nodes after convolution, shape (nodes, 2 * width).

        Args:
            nodes: Their vectors.
            messages: The edges between them.
            in_general: Train no vectors of single nodes with the result.
        """
        own = self.nodes.weight.detach() if in_general else self.nodes.weight
        # The sign of an eigenvector is arbitrary: training flips them at random.
        signs = torch.randint(0, 2, (1, PLACES)) * 2 - 1 if self.training else torch.ones(1, PLACES)
        layer = own + self.enter(torch.cat([nodes.places * signs, messages.degrees], dim=1))
        if nodes.values is not None and nodes.known is not None:
            layer = layer + torch.where(nodes.known, self.meaning(nodes.values), self.unknown)
        total = layer
        for _ in range(LAYERS):
            layer = self.convolve(layer, messages.matrix)
            total = total + layer
        return self.leave(self.drop(total / (LAYERS + 1)))

    def decode(self, nodes: torch.Tensor, edges: EdgeInputs) -> torch.Tensor:
        """Return the log odds that edges are right, shape (edges,)."""
        ends = nodes[edges.subject, :WIDTH], nodes[edges.object, WIDTH:]
        by_type = self.types(edges.type)
        fit = (ends[0] * by_type[:, :WIDTH] * ends[1]).sum(1)
        alone = ((ends[0] + ends[1]) * by_type[:, WIDTH:]).sum(1)
        return fit + alone + self.told(edges.told).squeeze(1)
