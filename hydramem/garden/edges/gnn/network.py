"""The network: light graph convolution (LightGCN, He et al., 2020) and a decoder of typed edges.

A node is a learned vector, its place in the graph, its degree, and what its name means; an edge is its ends
after convolution, its type, and what the graph says of it. Messages are summed by a sparse product, which
takes memory for nodes and for edges, but not for a vector an edge.
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

_SMALL = 0.1

_DROPPED = 0.3

_UNREAD = 0.5


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
        # It is the one layout that is quick, and torch says of it that it is not finished.
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
    """Tells how right edges are.

    Args:
        size: Nodes.
        types: Relation types.
        told: Numbers that the graph says of an edge.
        meaning: Length of a meaning; 0 where none is looked at.
    """

    def __init__(self, *, size: int, types: int, told: int, meaning: int) -> None:
        super().__init__()
        self.nodes = nn.Embedding(size, WIDTH)
        self.enter = nn.Linear(PLACES + 1, WIDTH)
        self.types = nn.Embedding(types, 2 * WIDTH)
        self.leave = nn.Linear(WIDTH, 2 * WIDTH)
        self.told = nn.Linear(told, 1)
        self.convolve = LGConv(normalize=False)
        self.drop = nn.Dropout(_DROPPED)
        for each in (self.nodes, self.types):
            nn.init.normal_(each.weight, std=_SMALL)
        if meaning:
            self.meaning = nn.Sequential(nn.Dropout(_UNREAD), nn.Linear(meaning, WIDTH, bias=False))
            self.unknown = nn.Parameter(torch.zeros(1, WIDTH))

    def forward(self, nodes: Nodes, messages: Messages, *, in_general: bool = False) -> torch.Tensor:
        """Return nodes after convolution, shape (nodes, 2 * width).

        Args:
            nodes: What is known of them.
            messages: What passes between them.
            in_general: Learn nothing of single nodes from what becomes of this.
        """
        own = self.nodes.weight.detach() if in_general else self.nodes.weight
        # The sign of an eigenvector says nothing: training flips them.
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
        """Return how right edges are, as log odds, shape (edges,)."""
        ends = nodes[edges.subject, :WIDTH], nodes[edges.object, WIDTH:]
        by_type = self.types(edges.type)
        fit = (ends[0] * by_type[:, :WIDTH] * ends[1]).sum(1)
        alone = ((ends[0] + ends[1]) * by_type[:, WIDTH:]).sum(1)
        return fit + alone + self.told(edges.told).squeeze(1)
