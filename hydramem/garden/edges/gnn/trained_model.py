"""A trained scorer of edges as a value, and what shapes it. Loads no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import NDArray

from hydramem.garden.edges.gnn.node_vectors import WIDTH as MEANING
from hydramem.garden.edges.gnn.node_vectors import Lens
from hydramem.garden.edges.training_fingerprint import Fingerprint
from hydramem.verification.first_stage.relation_arrays import Floats

if TYPE_CHECKING:
    import numpy as np
    import torch

NAME = "gnn"

VERSION = 2
"""Of the file, and of what the weights mean."""

WIDTH = 32

PLACES = 8

LAYERS = 2

FOLDS = 2
"""Networks of a model: each learns without a part of the relations, which then it alone scores."""

SETTINGS = (NAME, VERSION, WIDTH, PLACES, LAYERS, FOLDS, MEANING)
"""What shapes a model, beside the embedder: one that was trained with others does not serve."""


def folds(hashes: "NDArray[np.uint64]") -> "NDArray[np.int64]":
    """Return which network scores each relation: the same one as long as there is a model."""
    return (hashes % FOLDS).astype("int64")


def available() -> bool:
    """Say whether torch and torch-geometric are installed."""
    from importlib.util import find_spec

    return find_spec("torch") is not None and find_spec("torch_geometric") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A trained scorer, by the ids and names of its graph: it serves when that has grown a little.

    Attributes:
        fingerprint: What it was trained on.
        nodes, types: Ids of nodes and names of relation types, in the order of the weights.
        weights: Of each network.
        places: Positional encodings that it was trained with, shape (nodes, places).
        lens: How meanings are seen; None where it was trained without.
        mean, spread: Of what the graph said of the edges.
        slopes, offsets: Of each network, from log odds of being right to those of being wrong.
        auc, calibration: As in `EdgeScores`.
        relations, labels: How many it was trained on.
        seconds: What training took.
    """

    fingerprint: Fingerprint
    nodes: tuple[str, ...]
    types: tuple[str, ...]
    weights: "tuple[Mapping[str, torch.Tensor], ...]"
    places: "NDArray[np.float32]"
    lens: Lens | None
    mean: Floats
    spread: Floats
    slopes: tuple[float, ...]
    offsets: tuple[float, ...]
    auc: float
    calibration: float
    relations: int
    labels: int
    seconds: float
