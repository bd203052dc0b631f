"""A trained edge scorer as a value, and the settings that shape it. Loads no torch."""

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
"""Of the file and of the network."""

WIDTH = 32
PLACES = 8
LAYERS = 2
FOLDS = 2
"""Networks of a model: each is trained without one part of the relations, and then scores that part."""

SETTINGS = (NAME, VERSION, WIDTH, PLACES, LAYERS, FOLDS, MEANING)
"""What shapes a model, besides the embedder: a model trained with other settings is not used."""


def folds(hashes: "NDArray[np.uint64]") -> "NDArray[np.int64]":
    """Return which network scores each relation; it stays the same for the life of a model."""
    return (hashes % FOLDS).astype("int64")


def available() -> bool:
    """Say whether torch and torch-geometric are installed."""
    from importlib.util import find_spec

    return find_spec("torch") is not None and find_spec("torch_geometric") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A trained scorer; ids and names map its weights to a graph that has grown a little since.

    Attributes:
        fingerprint: What it was trained on.
        nodes, types: Ids of nodes and names of relation types, in the order of the weights.
        weights: Of each network.
        places: Positional encodings, shape (nodes, places).
        lens: Projection of name vectors; None where it was trained without.
        mean, spread: Of the features of edges.
        slopes, offsets: Of each network, from log odds of being right to those of being wrong.
        auc, calibration: As in `EdgeScores`.
        relations, labels: How many it was trained on.
        seconds: Duration of the training.
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
