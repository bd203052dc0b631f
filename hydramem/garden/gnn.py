"""The edge scorer with torch: light graph convolution (LightGCN, He et al., 2020), a decoder of typed edges.

A node is a learned vector, its place in the graph, and its degree; an edge is its ends after convolution, its
type, and what the graph says of it (`garden.edges`). Edges are scored in folds: none is among the messages
that it is judged by, neither in training nor afterwards. The only module that imports torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import StorageError
from hydramem.garden.edges import EdgeScores, claims_of, features, known_of, relations_of, wrong_claims
from hydramem.garden.positions import positions
from hydramem.garden.scorer import LEAST_RELATIONS, auc
from hydramem.graph.snapshot import Snapshot
from hydramem.verification.facts import Claims, Floats, taken
from hydramem.verification.learned import Learned

if TYPE_CHECKING:
    import torch

NAME = "gnn"

_WIDTH = 32
_PLACES = 8
_FOLDS = 5
_HELD_OUT = 0.1
_BATCH = 20_000
_MOST_STEPS = 400
_LOOK = 20
"""Steps between two looks at the held-out edges."""
_PATIENCE = 5
_RATE = 0.01
_DECAY = 1e-4
_CHUNK = 50_000
_LEAST_SPREAD = 1e-6
_VERSION = 1


def available() -> bool:
    """Say whether torch and torch-geometric are installed."""
    from importlib.util import find_spec

    return find_spec("torch") is not None and find_spec("torch_geometric") is not None


@dataclass(slots=True, kw_only=True)
class _Edges:
    """Claims with what the graph says of each, as tensors."""

    subject: "torch.Tensor"
    type: "torch.Tensor"
    object: "torch.Tensor"
    told: "torch.Tensor"

    def some(self, rows: "torch.Tensor") -> "_Edges":
        return _Edges(
            subject=self.subject[rows], type=self.type[rows], object=self.object[rows], told=self.told[rows]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A trained scorer, by the ids and names of its graph: it serves when that has grown a little.

    Attributes:
        nodes, types: Ids of nodes and names of relation types, in the order of the weights.
        weights: Of the network.
        places: Positional encodings that it was trained with, shape (nodes, places).
        mean, spread: Of what the graph said of the edges.
        slope, offset: From log odds of being right to those of being wrong.
        auc, calibration: As in `EdgeScores`.
        relations: How many it was trained on.
        seconds: What training took.
    """

    nodes: tuple[str, ...]
    types: tuple[str, ...]
    weights: "Mapping[str, torch.Tensor]"
    places: NDArray[np.float32]
    mean: Floats
    spread: Floats
    slope: float
    offset: float
    auc: float
    calibration: float
    relations: int
    seconds: float


def train(
    snapshot: Snapshot,
    *,
    seed: int = 0,
    seconds: float = 300.0,
    progress: Callable[[int, int], None] = lambda done, whole: None,
) -> Model | None:
    """Train on a graph; None where it has too few relations to learn from.

    Args:
        snapshot: The graph.
        seed: Of what is drawn; the same graph and seed give the same model where time does not run out.
        seconds: How long training may take.
        progress: Called with training steps done and the most that there are.
    """
    import torch

    started = monotonic()
    rows = relations_of(snapshot)
    if len(rows) < LEAST_RELATIONS:
        return None
    draw = np.random.default_rng(seed)
    torch.manual_seed(seed)
    known = known_of(snapshot)
    right = claims_of(snapshot, rows)
    wrong = wrong_claims(known.facts, len(rows), draw)
    told = [_told(known, one) for one in (right, wrong)]
    mean, spread = told[0].mean(axis=0), np.vstack(told).std(axis=0) + _LEAST_SPREAD
    edges = [_edges(one, (each - mean) / spread) for one, each in zip((right, wrong), told, strict=True)]
    places = positions(known.facts, count=_PLACES)
    model = _network(known.facts.size, known.facts.types, told[0].shape[1], places)
    held = _drawn(draw, len(rows)), _drawn(draw, len(wrong.subject))
    model.load_state_dict(_train(model, edges, held, seconds, progress))
    slope, offset, told_auc, brier = _calibrated(*_of_held(model, edges, held))
    return Model(
        nodes=tuple(snapshot.nodes.ids[: snapshot.size]),
        types=tuple(snapshot.edges.types[: known.facts.types - 1]),
        weights=_copied(model),
        places=places,
        mean=mean,
        spread=spread,
        slope=slope,
        offset=offset,
        auc=told_auc,
        calibration=brier,
        relations=len(rows),
        seconds=monotonic() - started,
    )


def score(model: Model, snapshot: Snapshot, *, seed: int = 0) -> EdgeScores:
    """Score every active relation of a graph, by a model trained on it or on what it was shortly before.

    Args:
        model: The model.
        snapshot: The graph.
        seed: Of the folds.
    """
    import torch

    rows = relations_of(snapshot)
    known, claims = known_of(snapshot), claims_of(snapshot, rows)
    edges = _edges(claims, (_told(known, claims) - model.mean) / model.spread)
    network = _fitting(model, snapshot, known.facts.types)
    fold = torch.from_numpy(np.random.default_rng(seed).integers(0, _FOLDS, len(rows)))
    logits = _by_folds(network, edges, fold)
    return EdgeScores(
        rows=rows,
        spurious=1 / (1 + np.exp(-np.clip(model.slope * logits + model.offset, -30, 30))),
        scorer=NAME,
        auc=model.auc,
        calibration=model.calibration,
    )


def _fitting(model: Model, snapshot: Snapshot, types: int) -> "torch.nn.Module":
    """Return the network for a graph's nodes and types; what the model does not know says nothing."""
    import torch

    ids, names = list(snapshot.nodes.ids[: snapshot.size]), list(snapshot.edges.types[: types - 1])
    by_node, by_type = _places(model.nodes, ids), _places(model.types, names)
    by_type = np.append(by_type, -1)
    places = np.where(by_node[:, None] >= 0, model.places[by_node], 0).astype(np.float32)
    network = _network(len(ids), types, len(model.mean), places)
    weights = dict(model.weights)
    for name, order in (("nodes.weight", by_node), ("types.weight", by_type)):
        known = torch.from_numpy(order >= 0).unsqueeze(1)
        weights[name] = torch.where(known, weights[name][torch.from_numpy(order)], 0.0)
    network.load_state_dict(weights | {"places": torch.from_numpy(places)})
    return network


def _places(known: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    index = {name: place for place, name in enumerate(known)}
    return np.array([index.get(name, -1) for name in wanted], dtype=np.int64)


def save(model: Model, file: Path) -> None:
    """Write a model; whoever reads it meanwhile has the old one."""
    import torch

    held = {name: getattr(model, name) for name in Model.__dataclass_fields__}
    arrays = {name: torch.from_numpy(np.asarray(held[name])) for name in ("places", "mean", "spread")}
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    torch.save(held | arrays | {"version": _VERSION, "weights": dict(model.weights)}, fresh)
    fresh.replace(file)


def load(file: Path) -> Model | None:
    """Read a model; None where there is none, or one of another version.

    Raises:
        StorageError: The file is no model any more.
    """
    import torch

    if not file.is_file():
        return None
    try:
        held = torch.load(file, weights_only=True)
        if held.pop("version") != _VERSION:
            return None
        arrays = {name: held[name].numpy() for name in ("places", "mean", "spread")}
        return Model(**held | arrays)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, EOFError, UnpicklingError) as error:
        raise StorageError(f"{file}: is no trained scorer any more; delete it") from error


def _drawn(draw: np.random.Generator, count: int) -> "torch.Tensor":
    import torch

    return torch.from_numpy(draw.random(count) < _HELD_OUT)


def _told(known: Learned, claims: Claims) -> Floats:
    return np.nan_to_num(_in_parts(lambda part: features(known, part), claims))


def _in_parts(told: Callable[[Claims], Floats], claims: Claims) -> Floats:
    whole = len(claims.subject)
    parts = [
        told(taken(claims, np.arange(start, min(start + _CHUNK, whole)))) for start in range(0, whole, _CHUNK)
    ]
    return np.vstack(parts)


def _edges(claims: Claims, told: Floats) -> _Edges:
    import torch

    return _Edges(
        subject=torch.from_numpy(claims.subject),
        type=torch.from_numpy(claims.type),
        object=torch.from_numpy(claims.object),
        told=torch.from_numpy(np.clip(told, -5, 5).astype(np.float32)),
    )


def _network(size: int, types: int, told: int, places: NDArray[np.float32]) -> "torch.nn.Module":
    """Build the network."""
    import torch
    from torch import nn
    from torch_geometric.nn import LGConv
    from torch_geometric.utils import degree

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.nodes = nn.Embedding(size, _WIDTH)
            nn.init.normal_(self.nodes.weight, std=0.1)
            self.register_buffer("places", torch.from_numpy(places))
            self.enter = nn.Linear(_PLACES + 1, _WIDTH)
            self.convolve = LGConv()
            self.types = nn.Embedding(types, 2 * _WIDTH)
            nn.init.normal_(self.types.weight, std=0.1)
            self.leave = nn.Linear(_WIDTH, 2 * _WIDTH)
            self.told = nn.Linear(told, 1)
            self.drop = nn.Dropout(0.3)

        def forward(self, messages: torch.Tensor) -> torch.Tensor:
            """Return nodes after convolution over these edges, both ways."""
            both = torch.cat([messages, messages.flip(0)], dim=1)
            degrees = torch.log1p(degree(both[0], size)).unsqueeze(1)
            signs = torch.randint(0, 2, (1, _PLACES)) * 2 - 1 if self.training else torch.ones(1, _PLACES)
            layer = self.nodes.weight + self.enter(torch.cat([self.places * signs, degrees], dim=1))
            total = layer
            for _ in range(2):
                layer = self.convolve(layer, both)
                total = total + layer
            return self.leave(self.drop(total / 3))

        def decode(self, nodes: torch.Tensor, edges: _Edges) -> torch.Tensor:
            """Return how right edges are, as log odds."""
            ends = nodes[edges.subject][:, :_WIDTH], nodes[edges.object][:, _WIDTH:]
            by_type = self.types(edges.type)
            fit = (ends[0] * by_type[:, :_WIDTH] * ends[1]).sum(1)
            alone = ((ends[0] + ends[1]) * by_type[:, _WIDTH:]).sum(1)
            return fit + alone + self.told(edges.told).squeeze(1)

    return Network()


def _messages(edges: _Edges, keep: "torch.Tensor") -> "torch.Tensor":
    import torch

    return torch.stack([edges.subject[keep], edges.object[keep]])


def _train(
    model: "torch.nn.Module",
    edges: Sequence[_Edges],
    held: tuple["torch.Tensor", "torch.Tensor"],
    seconds: float,
    progress: Callable[[int, int], None],
) -> "dict[str, torch.Tensor]":
    """Train until the held-out edges are told no better, or time is over; return the best weights."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    optimizer = torch.optim.Adam(model.parameters(), lr=_RATE, weight_decay=_DECAY)
    open_, wrong = (~held[0]).nonzero().squeeze(1), (~held[1]).nonzero().squeeze(1)
    best, best_auc, waited, until = _copied(model), 0.0, 0, monotonic() + seconds
    for step in range(_MOST_STEPS):
        shuffled = open_[torch.randperm(len(open_))]
        count = min(len(open_) // _FOLDS, _BATCH)
        asked, kept = shuffled[:count], shuffled[count:]
        against = wrong[torch.randint(len(wrong), (count,))]
        model.train()
        nodes = model(_messages(edges[0], kept))
        right = model.decode(nodes, edges[0].some(asked))
        false = model.decode(nodes, edges[1].some(against))
        logits = torch.cat([right, false])
        truth = torch.cat([torch.ones(count), torch.zeros(count)])
        loss = binary_cross_entropy_with_logits(logits, truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress(step + 1, _MOST_STEPS)
        if step % _LOOK == _LOOK - 1 or monotonic() > until:
            told = _held_auc(model, edges, held)
            best, best_auc, waited = (
                (_copied(model), told, 0) if told > best_auc else (best, best_auc, waited + 1)
            )
            if waited >= _PATIENCE or monotonic() > until:
                break
    return best


def _copied(model: "torch.nn.Module") -> "dict[str, torch.Tensor]":
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


def _held_auc(
    model: "torch.nn.Module", edges: Sequence[_Edges], held: tuple["torch.Tensor", "torch.Tensor"]
) -> float:
    right, wrong = _of_held(model, edges, held)
    return auc(np.repeat([False, True], [len(right), len(wrong)]), -np.concatenate([right, wrong]))


def _of_held(
    model: "torch.nn.Module", edges: Sequence[_Edges], held: tuple["torch.Tensor", "torch.Tensor"]
) -> tuple[Floats, Floats]:
    """Return log odds of the held-out edges, right and wrong ones."""
    import torch

    model.eval()
    with torch.no_grad():
        nodes = model(_messages(edges[0], ~held[0]))
        told = [model.decode(nodes, one.some(kept)) for one, kept in zip(edges, held, strict=True)]
    return told[0].numpy().astype(np.float64), told[1].numpy().astype(np.float64)


def _by_folds(model: "torch.nn.Module", edges: _Edges, fold: "torch.Tensor") -> Floats:
    """Return log odds of every edge, its fold left out of the messages."""
    import torch

    model.eval()
    logits = torch.zeros(fold.shape)
    with torch.no_grad():
        for each in range(_FOLDS):
            nodes = model(_messages(edges, fold != each))
            logits[fold == each] = model.decode(nodes, edges.some(fold == each))
    return logits.numpy().astype(np.float64)


def _calibrated(right: Floats, wrong: Floats) -> tuple[float, float, float, float]:
    """Fit probabilities to half of the held-out (Platt, 1999), and measure them on the rest.

    Returns:
        Slope and offset from log odds of being right to those of being wrong; AUC and Brier score.
    """
    from sklearn.linear_model import LogisticRegression

    told = np.concatenate([right, wrong])[:, None]
    truth = np.repeat([0, 1], [len(right), len(wrong)])
    half = np.arange(len(truth)) % 2 == 0
    fitted = LogisticRegression().fit(told[half], truth[half])
    given = fitted.predict_proba(told[~half])[:, 1]
    measured = auc(truth[~half] > 0, given), float(np.mean((given - truth[~half]) ** 2))
    return (float(fitted.coef_[0, 0]), float(fitted.intercept_[0]), *measured)
