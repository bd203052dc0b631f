"""False relations put into knowledge graphs: which scorer tells them, and what pruning would cost.

Types are kept; a random one joins any two things, a consistent one takes an end that the type has elsewhere.
Every relation of the graph is scored, the true ones as well as the false.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks import heuristic_scorer as heuristic
from benchmarks.claims import GRAPHS, Triple, candidate, graph, triples
from hydramem.core.config import EmbeddingConfig, GardenConfig, VerificationConfig
from hydramem.garden.edges import logistic
from hydramem.garden.edges.gnn.node_vectors import EntityVectors
from hydramem.garden.edges.gnn.trained_model import NAME as GNN
from hydramem.garden.edges.gnn.trained_model import available
from hydramem.garden.edges.labelled_relations import relations_of
from hydramem.garden.phases.prune.prune import disbelieved_below
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.storage.vector_rows import Vector
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT

SHARES = (0.05, 0.1, 0.2)
WITHOUT_NAMES = f"{GNN} without names"
_COMPARED = 0.1
"""Share at which names are left out, too."""
Kind = Literal["random", "consistent"]
KINDS: tuple[Kind, ...] = ("random", "consistent")
_BATCH = 5000
_TRAINING = 300.0
"""Seconds of training steps, for the scorer with torch: more than they take."""

Floats = NDArray[np.float64]
Scorer = Callable[[Snapshot, Sequence[Triple]], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How well one scorer tells the false relations of one graph.

    Attributes:
        auc: Chance that a false one looks worse than a true one.
        precision: Share of false ones among those that look worst, at half of the false ones.
        cost: Share of the true ones among those.
        caught: Share of the false ones that go where 2 % of the true ones go with them.
        pruned, lost: Share of the false and of the true ones that a night would take out; not a number
            where it is no scorer of a night.
    """

    graph: str
    kind: str
    share: float
    scorer: str
    auc: float
    precision: float
    cost: float
    caught: float
    pruned: float
    lost: float
    seconds: float


def falsified(true: Sequence[Triple], share: float, kind: str, *, seed: int = 0) -> list[Triple]:
    """Return false triples, so many for each true one."""
    draw, known = np.random.default_rng(seed), set(true)
    ends = sorted({end for triple in true for end in (triple[0], triple[2])})
    types = [triple[1] for triple in true]
    sides = {
        side: {type: sorted({one[side] for one in true if one[1] == type}) for type in set(types)}
        for side in (0, 2)
    }
    found: list[Triple] = []
    while len(found) < share * len(true):
        subject, type, object = true[draw.integers(len(true))]
        if kind == "random":
            subject, object = ends[draw.integers(len(ends))], ends[draw.integers(len(ends))]
            type = types[draw.integers(len(types))]
        elif draw.random() < 0.5:
            object = sides[2][type][draw.integers(len(sides[2][type]))]
        else:
            subject = sides[0][type][draw.integers(len(sides[0][type]))]
        one = (subject, type, object)
        if subject != object and one not in known:
            known.add(one)
            found.append(one)
    return found


def _srmkg(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    """Score by verification, without passages."""
    found = []
    for start in range(0, len(asked), _BATCH):
        candidates = [candidate(triple) for triple in asked[start : start + _BATCH]]
        features = first_stage.features(candidates, snapshot)
        found.append(1 - first_stage.probabilities(features, DEFAULT))
    return np.concatenate(found)


def _logistic(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    scores = logistic.score(snapshot)
    return np.full(len(asked), 0.5) if scores is None else scores.spurious


def _heuristic(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    return heuristic.spurious(snapshot, relations_of(snapshot))


def _gnn(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    return _network(snapshot, asked, meanings)


def _gnn_alone(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    return _network(snapshot, asked, None)


def _network(snapshot: Snapshot, asked: Sequence[Triple], vectors: EntityVectors | None) -> Floats:
    from hydramem.garden.edges.gnn.score import score
    from hydramem.garden.edges.gnn.training import train

    model = train(snapshot, seconds=_TRAINING, vectors=vectors)
    return np.full(len(asked), 0.5) if model is None else score(model, snapshot, vectors=vectors).spurious


@cache
def _embedder() -> Embedder:
    return choose_embedder(EmbeddingConfig())


_embedded: dict[str, Vector] = {}


def meanings(names: Sequence[str]) -> Mapping[str, Vector]:
    """Return the vectors of names by the embedder of a new store; ids are names here."""
    new = [name for name in names if name not in _embedded]
    vectors = _embedder().embed_documents([name.replace("_", " ") for name in new]) if new else ()
    _embedded.update(zip(new, vectors, strict=True))
    return {name: _embedded[name] for name in names}


SCORERS: Mapping[str, Scorer] = {"heuristic": _heuristic, "srmkg": _srmkg, logistic.NAME: _logistic}
if available():
    SCORERS = {**SCORERS, GNN: _gnn, WITHOUT_NAMES: _gnn_alone}


def measure(
    data: Path,
    *,
    names: Sequence[str] = GRAPHS,
    kinds: Sequence[Kind] = KINDS,
    shares: Sequence[float] = SHARES,
    scorers: Mapping[str, Scorer] = SCORERS,
) -> list[Told]:
    """Put false relations into graphs and score all.

    Args:
        data: Folder of the sets.
        names: Graphs.
        kinds: Of false relations.
        shares: False relations for each true one.
        scorers: By name.
    """
    found: list[Told] = []
    for name in names:
        true = triples(data / "kg" / name / "train.txt")
        for kind in kinds:
            for share in shares:
                wrong = falsified(true, share, kind)
                snapshot = graph([*true, *wrong])
                asked = {
                    which: score
                    for which, score in scorers.items()
                    if which != WITHOUT_NAMES or share == _COMPARED
                }
                found += _of(name, kind, share, snapshot, set(wrong), asked)
    return found


def _of(
    name: str, kind: str, share: float, snapshot: Snapshot, wrong: set[Triple], scorers: Mapping[str, Scorer]
) -> list[Told]:
    edges, ids = snapshot.edges, snapshot.nodes.ids
    asked = [
        (ids[edges.source[row]], edges.types[edges.type[row]], ids[edges.target[row]])
        for row in relations_of(snapshot)
    ]
    false = np.array([triple in wrong for triple in asked])
    scores: dict[str, Floats] = {}
    found: list[Told] = []
    for which, score in scorers.items():
        started = perf_counter()
        scores[which] = score(snapshot, asked)
        seconds = perf_counter() - started
        gone = _gone(scores[which], scores.get("srmkg"))
        found.append(_told(name, kind, share, which, scores[which], false, gone, seconds))
    return found


def _gone(spurious: Floats, unbelieved: Floats | None) -> NDArray[np.bool_] | None:
    """Return what a night would take out by a scorer, were there no cap; None without verification."""
    if unbelieved is None:
        return None
    settings = VerificationConfig()
    bound = disbelieved_below(settings.accept_at, settings.reject_below)
    return (spurious >= GardenConfig().spurious_at) & (1 - unbelieved < bound)


def _told(
    name: str,
    kind: str,
    share: float,
    which: str,
    scores: Floats,
    false: NDArray[np.bool_],
    gone: NDArray[np.bool_] | None,
    seconds: float,
) -> Told:
    order = np.argsort(-scores, kind="stable")
    half = int(np.searchsorted(np.cumsum(false[order]), 0.5 * false.sum())) + 1
    cut = int(np.searchsorted(np.cumsum(~false[order]), int(0.02 * np.count_nonzero(~false))))
    pruned = gone is not None and which in (logistic.NAME, GNN)
    return Told(
        graph=name,
        kind=kind,
        share=share,
        scorer=which,
        auc=logistic.auc(false, scores),
        precision=float(false[order[:half]].mean()),
        cost=float(np.count_nonzero(~false[order[:half]]) / np.count_nonzero(~false)),
        caught=float(false[order[:cut]].sum() / false.sum()),
        pruned=float(gone[false].mean()) if pruned and gone is not None else float("nan"),
        lost=float(gone[~false].mean()) if pruned and gone is not None else float("nan"),
        seconds=seconds,
    )
