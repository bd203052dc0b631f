"""Scoring with a trained model, and the model's file, which is read without executing code from it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.core.errors import StorageError
from hydramem.garden.edges.gnn.inputs import EdgeInputs, Nodes, claim_features, edges_of, nodes_of
from hydramem.garden.edges.gnn.network import Network, messages
from hydramem.garden.edges.gnn.node_vectors import EntityVectors, Lens
from hydramem.garden.edges.gnn.trained_model import FOLDS, NAME, VERSION, Model, folds
from hydramem.garden.edges.gnn.training import decoded
from hydramem.garden.edges.labelled_relations import EdgeScores, claims_of, known_of, relations_of, stated_of
from hydramem.garden.edges.training_fingerprint import Fingerprint, hashes
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Floats, Ints, taken

_PARTS = {"fingerprint": Fingerprint, "lens": Lens}


def save(model: Model, file: Path) -> None:
    """Write a model in place of the old one, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    torch.save({"version": VERSION, **_plain(model)}, fresh)
    fresh.replace(file)


def load(file: Path) -> Model | None:
    """Read a model; None where there is none, or one of another version.

    Raises:
        StorageError: The file is no model any more.
    """
    if not file.is_file():
        return None
    try:
        stored = torch.load(file, weights_only=True)
        if stored.pop("version") != VERSION:
            return None
        parts = {name: _read(stored[name]) for name in stored}
        for name, kind in _PARTS.items():
            parts[name] = None if parts[name] is None else kind(**parts[name])
        return Model(**parts)
    except (
        *(OSError, KeyError, TypeError, ValueError, AttributeError),
        *(RuntimeError, EOFError, UnpicklingError),
    ) as error:
        raise StorageError(f"{file}: is no trained scorer any more; delete it") from error


def _plain(value: Any) -> Any:
    """Return a value as tensors, dictionaries and plain values: the file names no other types."""
    if isinstance(value, np.ndarray):
        # Torch stores no unsigned 64-bit integers; as signed ones the bits are the same.
        return torch.from_numpy(value.view(np.int64) if value.dtype == np.uint64 else value)
    if isinstance(value, Model | Fingerprint | Lens):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return dict(value) if isinstance(value, dict) else value


def _read(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        array = value.numpy()
        return array.view(np.uint64) if array.dtype == np.int64 else array
    return {name: _read(each) for name, each in value.items()} if isinstance(value, dict) else value


def score(model: Model, snapshot: Snapshot, *, vectors: EntityVectors | None = None) -> EdgeScores:
    """Score every active relation of a graph, by a model trained on it or on what it was shortly before.

    Args:
        vectors: Where the vectors of entities are, as in training.
    """
    rows, known = relations_of(snapshot), known_of(snapshot)
    claims = claims_of(snapshot, rows)
    used = np.unique(np.concatenate([claims.subject, claims.object]))
    ids = [snapshot.nodes.ids[node] for node in used]
    by_node = _places(model.nodes, ids)
    places = np.where(by_node[:, None] >= 0, model.places[by_node], 0).astype(np.float32)
    nodes = nodes_of(places, ids, model.lens, vectors)
    ends = np.searchsorted(used, np.stack([claims.subject, claims.object]))
    fold = folds(hashes(snapshot, claims))
    stated = np.isin(rows, stated_of(snapshot), assume_unique=True)
    odds = np.zeros(len(rows))
    for each in range(FOLDS):
        mine = np.flatnonzero(fold == each)
        asked = taken(claims, mine)
        edges = edges_of(asked, claim_features(known, asked), model.mean, model.spread, used)
        network = _fitting(model, each, by_node, snapshot.edges.types[: known.facts.types - 1])
        right = _of_fold(network, nodes, ends[:, stated & (fold != each)], edges)
        odds[mine] = model.slopes[each] * right + model.offsets[each]
    return EdgeScores(
        rows=rows,
        spurious=1 / (1 + np.exp(-np.clip(odds, -30, 30))),
        scorer=NAME,
        auc=model.auc,
        calibration=model.calibration,
        labels=model.labels,
    )


def _of_fold(network: Network, nodes: Nodes, others: NDArray[np.int64], edges: EdgeInputs) -> Floats:
    network.eval()
    with torch.no_grad():
        return decoded(network, network(nodes, messages(others, len(nodes.places))), edges)


def _fitting(model: Model, fold: int, by_node: Ints, types: Sequence[str]) -> Network:
    """Return the network for a graph's nodes and types; those unknown to the model get zero weights."""
    by_type = np.append(_places(model.types, types), -1)
    network = Network(
        size=len(by_node),
        types=len(by_type),
        told=len(model.mean),
        meaning=0 if model.lens is None else model.lens.axes.shape[1],
    )
    weights: Mapping[str, torch.Tensor] = model.weights[fold]
    moved = {}
    for name, order in (("nodes.weight", by_node), ("types.weight", by_type)):
        known = torch.from_numpy(order >= 0).unsqueeze(1)
        moved[name] = torch.where(known, weights[name][torch.from_numpy(order)], 0.0)
    network.load_state_dict({**weights, **moved})
    return network


def _places(known: Sequence[str], wanted: Sequence[str]) -> Ints:
    index = {name: place for place, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in wanted], dtype=np.int64)
