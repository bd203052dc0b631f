"""What the network reads: nodes with their places and meanings, edges with what the graph says of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.garden.edges import features
from hydramem.garden.meanings import EntityVectors, Lens, meanings
from hydramem.verification.first_stage.likeness import Learned
from hydramem.verification.first_stage.relation_arrays import Claims, Floats, Ints, taken

_AT_ONCE = 20_000

_LEAST_SPREAD = 1e-6

_FAR = 5.0
"""Spreads from the mean beyond which what the graph says counts no more."""

Told = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The things that relations join.

    Attributes:
        places: Positional encodings, shape (nodes, places).
        values: What their names mean, shape (nodes, width); None where no meanings are looked at.
        known: Which have a meaning, shape (nodes, 1).
    """

    places: torch.Tensor
    values: torch.Tensor | None = None
    known: torch.Tensor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Claims with what the graph says of each; their ends as places among the nodes."""

    subject: torch.Tensor
    type: torch.Tensor
    object: torch.Tensor
    told: torch.Tensor

    def some(self, rows: torch.Tensor) -> "Edges":
        """Return some of them."""
        return Edges(
            subject=self.subject[rows], type=self.type[rows], object=self.object[rows], told=self.told[rows]
        )

    def __len__(self) -> int:
        return len(self.subject)


def nodes_of(
    places: NDArray[np.float32], ids: Sequence[str], lens: Lens | None, vectors: EntityVectors | None
) -> Nodes:
    """Return nodes for the network.

    Args:
        places: Their positional encodings.
        ids: Of the nodes.
        lens: How meanings are seen; None looks at none.
        vectors: Where their vectors are; without, none of them has a meaning.
    """
    if lens is None:
        return Nodes(places=torch.from_numpy(places))
    seen = meanings(lens, ids, vectors or (lambda ids: {}))
    return Nodes(
        places=torch.from_numpy(places),
        values=torch.from_numpy(seen.values),
        known=torch.from_numpy(seen.known).unsqueeze(1),
    )


def told(known: Learned, claims: Claims) -> Told:
    """Return what the graph says of claims, a part at a time, so that memory stays bounded."""
    whole = len(claims.subject)
    parts = [
        np.nan_to_num(features(known, taken(claims, np.arange(start, min(start + _AT_ONCE, whole)))))
        for start in range(0, max(whole, 1), _AT_ONCE)
    ]
    return np.concatenate([part.astype(np.float32) for part in parts])


def spread_of(parts: Sequence[Told]) -> tuple[Floats, Floats]:
    """Return the mean of the first part and the spread of all, by column."""
    count = sum(len(part) for part in parts)
    mean = sum(part.sum(axis=0, dtype=np.float64) for part in parts) / count
    squares = sum(np.square(part - mean).sum(axis=0) for part in parts) / count
    return parts[0].mean(axis=0, dtype=np.float64), np.sqrt(squares) + _LEAST_SPREAD


def edges_of(claims: Claims, told: Told, mean: Floats, spread: Floats, used: Ints) -> Edges:
    """Return claims for the network.

    Args:
        claims: The claims.
        told: What the graph says of them.
        mean, spread: Of what it says.
        used: The nodes of the graph that the network knows, ascending.
    """
    return Edges(
        subject=torch.from_numpy(np.searchsorted(used, claims.subject)),
        type=torch.from_numpy(claims.type),
        object=torch.from_numpy(np.searchsorted(used, claims.object)),
        told=torch.from_numpy(np.clip((told - mean) / spread, -_FAR, _FAR).astype(np.float32)),
    )
