"""What there is to learn from: a graph's relations, wrong ones that are drawn, and what people said."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hydramem.garden.edges import claims_of, known_of, stated_of, wrong_claims
from hydramem.garden.fingerprint import hashes
from hydramem.garden.gnn.inputs import Edges, Nodes, edges_of, nodes_of, spread_of, told
from hydramem.garden.gnn.model import FOLDS, PLACES, folds
from hydramem.garden.labels import Labels
from hydramem.garden.meanings import EntityVectors, Lens, lens_of
from hydramem.garden.positions import positions
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.verification.first_stage.relation_arrays import Claims, Facts, Floats, Ints, found, taken

_MOST = 200_000
"""Relations that are asked about; the others only carry messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What a network learns from.

    Attributes:
        used: The nodes of the snapshot that relations join, ascending.
        types: Relation types, and one more.
        nodes: What is known of those nodes.
        lens: How their meanings are seen.
        ends: Of all relations, shape (2, relations), as places among the nodes; `folds`: of all relations.
        learned: Which relations are asked about, by their rows in `ends`.
        right: Those relations.
        wrong: Drawn ones, which the graph does not hold.
        fold_right, fold_wrong: From which network each of those is kept.
        confirmed: Which of the right ones people confirmed, by row.
        refuted: What people called false.
        share: How much the labels count, beside all the others.
        mean, spread: Of what the graph says of edges.
    """

    used: Ints
    types: int
    nodes: Nodes
    lens: Lens | None
    ends: NDArray[np.int64]
    folds: NDArray[np.int64]
    learned: NDArray[np.int64]
    right: Edges
    wrong: Edges
    fold_right: torch.Tensor
    fold_wrong: torch.Tensor
    confirmed: torch.Tensor
    refuted: Edges
    share: float
    mean: Floats
    spread: Floats


def lay_out(snapshot: Snapshot, labels: Labels, vectors: EntityVectors | None, *, seed: int) -> Lesson:
    """Lay out what there is to learn.

    Args:
        snapshot: The graph.
        labels: What people said of its relations.
        vectors: Where the vectors of entities are; None looks at no meanings.
        seed: Of what is drawn.
    """
    draw, known, rows = np.random.default_rng(seed), known_of(snapshot), stated_of(snapshot)
    every = claims_of(snapshot, rows)
    learned, confirmed = _asked(known.facts, every, labels, draw)
    folded = folds(hashes(snapshot, every))
    right, refuted = taken(every, learned), taken(labels.claims, ~labels.true)
    wrong = wrong_claims(known.facts, len(learned), draw)
    says = [told(known, one) for one in (right, wrong, refuted)]
    mean, spread = spread_of(says[:2])
    used = np.unique(np.concatenate([end for one in (every, refuted) for end in (one.subject, one.object)]))
    ids = [snapshot.nodes.ids[node] for node in used]
    lens = None if vectors is None else lens_of(ids, vectors, seed=seed)
    edges = [
        edges_of(claims, each, mean, spread, used)
        for claims, each in zip((right, wrong, refuted), says, strict=True)
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
    """Choose the relations to ask about; return their rows, and which of those people confirmed."""
    keys = facts.keys(every.type, every.subject, every.object)
    said = taken(labels.claims, labels.true)
    confirmed = found(np.unique(facts.keys(said.type, said.subject, said.object)), keys) >= 0
    chosen = np.zeros(len(keys), dtype=np.bool_)
    chosen[draw.choice(len(keys), min(len(keys), _MOST), replace=False)] = True
    learned = np.flatnonzero(chosen | confirmed)
    return learned, np.flatnonzero(confirmed[learned])
