"""Score a graph's relations by a trained model: each by the network that never saw it, nor as a message."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.garden.edges import EdgeScores, claims_of, known_of, relations_of, stated_of
from hydramem.garden.fingerprint import hashes
from hydramem.garden.gnn.inputs import Edges, Nodes, edges_of, nodes_of, told
from hydramem.garden.gnn.learn import decoded
from hydramem.garden.gnn.model import FOLDS, NAME, Model, folds
from hydramem.garden.gnn.network import Network, messages
from hydramem.garden.meanings import EntityVectors
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Floats, Ints, taken


def score(model: Model, snapshot: Snapshot, *, vectors: EntityVectors | None = None) -> EdgeScores:
    """Score every active relation of a graph, by a model trained on it or on what it was shortly before.

    Args:
        model: The model.
        snapshot: The graph.
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
        edges = edges_of(asked, told(known, asked), model.mean, model.spread, used)
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


def _of_fold(network: Network, nodes: Nodes, others: NDArray[np.int64], edges: Edges) -> Floats:
    network.eval()
    with torch.no_grad():
        return decoded(network, network(nodes, messages(others, len(nodes.places))), edges)


def _fitting(model: Model, fold: int, by_node: Ints, types: Sequence[str]) -> Network:
    """Return the network for a graph's nodes and types; what the model does not know says nothing."""
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
