"""The inputs of the network: nodes with positions and name vectors, edges with features, and the lesson."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.garden.edges.gnn.node_vectors import EntityVectors, Lens, lens_of, meanings, positions
from hydramem.garden.edges.gnn.trained_model import FOLDS, PLACES, folds
from hydramem.garden.edges.labelled_relations import (
    Labels,
    claims_of,
    features,
    known_of,
    stated_of,
    wrong_claims,
)
from hydramem.garden.edges.training_fingerprint import hashes
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, Ints, found, taken
from hydramem.verification.first_stage.similar_entities import Learned

_AT_ONCE = 20_000
_LEAST_SPREAD = 1e-6
_CLIPPED_AT = 5.0
"""Standard deviations at which features are clipped."""

_MOST_ASKED = 200_000
"""Relations that the network is trained to tell; the others only carry messages."""

ClaimFeatures = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """The entities that relations join.

    Attributes:
        places: Positional encodings, shape (nodes, places).
        values: Projected name vectors, shape (nodes, width); None where none are used.
        known: Which have one, shape (nodes, 1).
    """

    places: torch.Tensor
    values: torch.Tensor | None = None
    known: torch.Tensor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeInputs:
    """Claims with their features (`told`); their ends are places among the nodes."""

    subject: torch.Tensor
    type: torch.Tensor
    object: torch.Tensor
    told: torch.Tensor

    def some(self, rows: torch.Tensor) -> "EdgeInputs":
        """Return some of them."""
        return EdgeInputs(
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
        lens: Projection of name vectors; None uses none.
        vectors: Returns their vectors; without it no node has one.
    """
    if lens is None:
        return Nodes(places=torch.from_numpy(places))
    found = meanings(lens, ids, vectors or (lambda ids: {}))
    return Nodes(
        places=torch.from_numpy(places),
        values=torch.from_numpy(found.values),
        known=torch.from_numpy(found.known).unsqueeze(1),
    )


def claim_features(known: Learned, claims: Claims) -> ClaimFeatures:
    """Return the features of claims, computed in batches, which bounds memory."""
    whole = len(claims.subject)
    parts = [
        np.nan_to_num(features(known, taken(claims, np.arange(start, min(start + _AT_ONCE, whole)))))
        for start in range(0, max(whole, 1), _AT_ONCE)
    ]
    return np.concatenate([part.astype(np.float32) for part in parts])


def spread_of(parts: Sequence[ClaimFeatures]) -> tuple[Floats, Floats]:
    """Return the mean of the first part and the spread of all, by column."""
    count = sum(len(part) for part in parts)
    mean = sum(part.sum(axis=0, dtype=np.float64) for part in parts) / count
    squares = sum(np.square(part - mean).sum(axis=0) for part in parts) / count
    return parts[0].mean(axis=0, dtype=np.float64), np.sqrt(squares) + _LEAST_SPREAD


def edges_of(claims: Claims, told: ClaimFeatures, mean: Floats, spread: Floats, used: Ints) -> EdgeInputs:
    """Return claims for the network.

    Args:
        told: Their features.
        mean, spread: Of features.
        used: The nodes of the graph that the network knows, ascending.
    """
    return EdgeInputs(
        subject=torch.from_numpy(np.searchsorted(used, claims.subject)),
        type=torch.from_numpy(claims.type),
        object=torch.from_numpy(np.searchsorted(used, claims.object)),
        told=torch.from_numpy(np.clip((told - mean) / spread, -_CLIPPED_AT, _CLIPPED_AT).astype(np.float32)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a network learns from.

    Attributes:
        used: The nodes of the snapshot that relations join, ascending.
        types: Relation types, and one more.
        nodes: Their vectors.
        lens: Projection of their name vectors.
        ends, folds: Of all relations; ends have shape (2, relations), as places among the nodes.
        learned: The relations to classify, by their rows in `ends`.
        right: Those relations.
        wrong: Drawn claims that are not in the graph.
        fold_right, fold_wrong: The network that each of those is held out from.
        confirmed: Which of the right ones people accepted, by row.
        refuted: What people rejected.
        share: Weight of the labels relative to all other examples.
        mean, spread: Of the features of edges.
    """

    used: Ints
    types: int
    nodes: Nodes
    lens: Lens | None
    ends: NDArray[np.int64]
    folds: NDArray[np.int64]
    learned: NDArray[np.int64]
    right: EdgeInputs
    wrong: EdgeInputs
    fold_right: torch.Tensor
    fold_wrong: torch.Tensor
    confirmed: torch.Tensor
    refuted: EdgeInputs
    share: float
    mean: Floats
    spread: Floats


def lay_out(snapshot: Snapshot, labels: Labels, vectors: EntityVectors | None, *, seed: int) -> Lesson:
    """Lay out the training data.

    Args:
        labels: Verdicts of people on its relations.
        vectors: Returns vectors of entities; None uses none.
        seed: Of the random draws.
    """
    draw, known, rows = np.random.default_rng(seed), known_of(snapshot), stated_of(snapshot)
    every = claims_of(snapshot, rows)
    learned, confirmed = _asked(known.facts, every, labels, draw)
    folded = folds(hashes(snapshot, every))
    right, refuted = taken(every, learned), taken(labels.claims, ~labels.true)
    wrong = wrong_claims(known.facts, len(learned), draw)
    told = [claim_features(known, one) for one in (right, wrong, refuted)]
    mean, spread = spread_of(told[:2])
    used = np.unique(np.concatenate([end for one in (every, refuted) for end in (one.subject, one.object)]))
    ids = [snapshot.nodes.ids[node] for node in used]
    lens = None if vectors is None else lens_of(ids, vectors, seed=seed)
    edges = [
        edges_of(claims, each, mean, spread, used)
        for claims, each in zip((right, wrong, refuted), told, strict=True)
    ]
    return Lesson(
        used=used,
        types=known.facts.types,
        nodes=nodes_of(positions(known.facts, count=PLACES)[used], ids, lens, vectors),
        lens=lens,
        ends=np.searchsorted(used, np.stack([every.subject, every.object])),
        folds=folded,
        learned=learned,
        right=edges[0],
        wrong=edges[1],
        fold_right=torch.from_numpy(folded[learned]),
        fold_wrong=torch.from_numpy(draw.integers(0, FOLDS, len(wrong.subject))),
        confirmed=torch.from_numpy(confirmed),
        refuted=edges[2],
        share=labels.share(2 * len(learned)),
        mean=mean,
        spread=spread,
    )


def _asked(facts: Facts, every: Claims, labels: Labels, draw: np.random.Generator) -> tuple[Ints, Ints]:
    """Choose the relations to classify; return their rows, and which of those people accepted."""
    keys = facts.keys(every.type, every.subject, every.object)
    true = taken(labels.claims, labels.true)
    confirmed = found(np.unique(facts.keys(true.type, true.subject, true.object)), keys) >= 0
    chosen = np.zeros(len(keys), dtype=np.bool_)
    chosen[draw.choice(len(keys), min(len(keys), _MOST_ASKED), replace=False)] = True
    learned = np.flatnonzero(chosen | confirmed)
    return learned, np.flatnonzero(confirmed[learned])
