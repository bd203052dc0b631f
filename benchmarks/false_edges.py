"""False relations put into knowledge graphs: which scorer tells them, and what pruning would cost.

Types are kept; a random one joins any two things, a consistent one takes an end that the type has elsewhere.
Every relation of the graph is scored, the true ones as well as the false.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import GRAPHS, Triple, candidate, graph, triples
from benchmarks.results import table, where, with_section
from hydramem.core.config import GardenConfig, VerificationConfig
from hydramem.garden import heuristic, scorer
from hydramem.garden.edges import relations_of
from hydramem.garden.gnn.model import NAME as GNN
from hydramem.garden.gnn.model import available
from hydramem.garden.spurious import disbelieved_below
from hydramem.graph.growing import load
from hydramem.graph.snapshot import Snapshot
from hydramem.storage.schema import edge_columns, node_columns
from hydramem.verification import srmkg
from hydramem.verification.weights import DEFAULT

SHARES = (0.05, 0.1, 0.2)
KINDS: tuple[Literal["random", "consistent"], ...] = ("random", "consistent")
TITLE = "## False relations"
_BATCH = 5000
_TRAINING = 30.0
"""Seconds of training steps, for the scorer with torch."""

Floats = NDArray[np.float64]
Scorer = Callable[[Snapshot, Sequence[Triple]], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How well one scorer tells the false relations of one graph.

    Attributes:
        auc: Chance that a false one looks worse than a true one.
        precision: Share of false ones among those that look worst, at half of the false ones.
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
        features = srmkg.features(candidates, snapshot)
        found.append(1 - srmkg.probabilities(features, DEFAULT))
    return np.concatenate(found)


def _logistic(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    scores = scorer.score(snapshot)
    return np.full(len(asked), 0.5) if scores is None else scores.spurious


def _heuristic(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    return heuristic.spurious(snapshot, relations_of(snapshot))


def _gnn(snapshot: Snapshot, asked: Sequence[Triple]) -> Floats:
    from hydramem.garden.gnn.score import score
    from hydramem.garden.gnn.train import train

    model = train(snapshot, seconds=_TRAINING)
    return np.full(len(asked), 0.5) if model is None else score(model, snapshot).spurious


SCORERS: Mapping[str, Scorer] = {"heuristic": _heuristic, "srmkg": _srmkg, scorer.NAME: _logistic}
if available():
    SCORERS = {**SCORERS, GNN: _gnn}


def measure(
    data: Path,
    *,
    names: Sequence[str] = GRAPHS,
    shares: Sequence[float] = SHARES,
    scorers: Mapping[str, Scorer] = SCORERS,
) -> list[Told]:
    """Put false relations into graphs and score all.

    Args:
        data: Folder of the sets.
        names: Graphs.
        shares: False relations for each true one.
        scorers: By name.
    """
    found: list[Told] = []
    for name in names:
        true = triples(data / "kg" / name / "train.txt")
        for kind in KINDS:
            for share in shares:
                wrong = falsified(true, share, kind)
                snapshot = graph([*true, *wrong])
                found += _of(name, kind, share, snapshot, set(wrong), scorers)
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
    pruned = (gone is not None and which == scorer.NAME) or which == "gnn"
    return Told(
        graph=name,
        kind=kind,
        share=share,
        scorer=which,
        auc=scorer.auc(false, scores),
        precision=float(false[order[:half]].mean()),
        caught=float(false[order[:cut]].sum() / false.sum()),
        pruned=float(gone[false].mean()) if pruned and gone is not None else float("nan"),
        lost=float(gone[~false].mean()) if pruned and gone is not None else float("nan"),
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What scoring every relation of a made-up graph takes; memory is the process's peak."""

    entities: int
    relations: int
    scorer: str
    auc: float
    seconds: float
    peak_mb: float


def made_up(entities: int, *, each: int = 5, types: int = 20, seed: int = 0) -> Snapshot:
    """Return a graph in which things of a kind are joined to things near them, some much more than others.

    Args:
        entities: How many.
        each: Relations for each of them.
        types: Relation types; each joins the things of two groups.
        seed: Of the draw.
    """
    draw = np.random.default_rng(seed)
    count = each * entities
    source = draw.integers(0, entities, count)
    step = np.minimum(draw.zipf(1.6, count), entities - 1)
    target = (source + step) % entities
    type = (source % types + step % 2) % types
    names = [f"e{place}" for place in range(entities)]
    nodes: dict[str, Sequence[object]] = {"id": names, "name": names, "key": names}
    nodes |= {"is_chunk": [False] * entities, "type": ["thing"] * entities}
    edges: dict[str, Sequence[object]] = {
        "source": [names[place] for place in source],
        "target": [names[place] for place in target],
        "id": [str(place) for place in range(count)],
        "type": [f"type {place}" for place in type],
    }
    same = {"kind": "relation", "weight": 1.0, "bidirectional": False, "layer": "working", "state": "active"}
    edges |= {name: [value] * count for name, value in same.items()}
    return load("default", _table(nodes, entities, node_columns()), _table(edges, count, edge_columns()))


def _table(columns: Mapping[str, Sequence[object]], rows: int, schema: Any) -> Any:
    import pyarrow as pa

    filled = {field.name: columns.get(field.name, [None] * rows) for field in schema}
    return pa.table(filled, schema=schema)


def size(entities: int) -> Sized:
    """Score a made-up graph of so many entities."""
    snapshot = made_up(entities)
    started = perf_counter()
    scores = scorer.score(snapshot)
    if scores is None:
        raise ValueError(f"{entities} entities are too few to score")
    return Sized(
        entities=entities,
        relations=len(scores.rows),
        scorer=scores.scorer,
        auc=scores.auc,
        seconds=perf_counter() - started,
        peak_mb=_peak_mb(),
    )


def _peak_mb() -> float:
    """Return the most memory that this program has held; `ru_maxrss` would count who started it too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def placed(page: str, told: Sequence[Told], sized: Sequence[Sized]) -> str:
    """Return a results page with the section of these figures."""
    about = where()
    head = ("graph", "false", "of the true", "scorer", "AUC", "precision at 50 %", "caught at 2 % lost")
    rows = [
        (
            *(one.graph, one.kind, f"{one.share:.0%}", one.scorer, f"{one.auc:.3f}"),
            *(f"{one.precision:.2f}", f"{one.caught:.2f}", _share(one.pruned), _share(one.lost)),
            f"{one.seconds:.1f}",
        )
        for one in told
    ]
    sizes = [
        (
            *(f"{one.entities:,}", f"{one.relations:,}", one.scorer),
            *(f"{one.auc:.3f}", f"{one.seconds:.1f}", f"{one.peak_mb:,.0f}"),
        )
        for one in sized
    ]
    return with_section(
        page,
        TITLE,
        [
            "",
            "Relations put into knowledge graphs that do not hold: `random` ones join any two things,",
            "`consistent` ones take an end that their type has elsewhere. Every relation is scored, none by",
            "itself. `pruned` and `lost` are the shares of false and of true ones that the phase prune would",
            "archive by that scorer and verification together, without its cap for one night.",
            f"`python -m benchmarks garden`, {about['date']}, {about['machine']}.",
            "",
            *table((*head, "pruned", "lost", "seconds"), rows),
            "",
            "Scoring every relation of a made-up graph:",
            "",
            *table(("entities", "relations", "scorer", "held-out AUC", "seconds", "peak MB"), sizes),
        ],
    )


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2%}"


def shown(told: Sequence[Told], sized: Sequence[Sized]) -> str:
    """Return figures as lines."""
    return "\n".join(str(asdict(one)) for one in (*told, *sized))
