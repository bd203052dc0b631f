"""How well the first stage of verification tells true claims from false ones, without a model.

Each set has a graph or passages and claims whose truth is known; none of them was used to fit the weights
that come with the package. The plain formula 0.4 confidence + 0.4 Jaccard + 0.05 named - 0.3 isolated is
measured in the same run.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.claims import GRAPHS, Labelled, candidate, graph, of_graph, of_passages
from hydramem.core.config import VerificationConfig
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT, Weights

_NODES, _EDGES, _TYPES, _ASKED = 100_000, 500_000, 50, 40_000
_SKEW = 0.8
_ROUNDS = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One set, judged.

    Attributes:
        against: The kind of wrong claims that true ones were held against; `all` of them, or one kind.
        claims, true: How many there were, and how many hold.
        auc, plain_auc: Chance that a true claim scores above a false one; the plain formula's.
        average_precision: Area under precision over recall.
        precision: Share of accepted claims that hold; None where none was accepted.
        rejected_right: Share of rejected claims that do not hold.
        coverage: Share of claims that were accepted or rejected without a model.
        accepted: Share of claims that were accepted.
    """

    set: str
    against: str
    claims: int
    true: int
    auc: float
    plain_auc: float
    average_precision: float
    precision: float | None
    rejected_right: float | None
    coverage: float
    accepted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How fast candidates are judged by the graph, on a made-up one.

    Attributes:
        learning: Seconds that the first look at the graph takes, in which paths are learned.
        per_second: Candidates after that, in the quickest of three rounds: other work on the machine adds.
    """

    nodes: int
    edges: int
    candidates: int
    learning: float
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All of it."""

    weights: str
    judged: tuple[Judged, ...]
    speed: Speed | None


def measure(data: Path, *, fast: bool = False, weights: Weights = DEFAULT) -> Report:
    """Judge every set.

    Args:
        data: Folder of the sets.
        fast: Whether to leave out the speed on a large graph.
        weights: What to judge by.
    """
    sets = [of_graph(data / "kg" / name, "test") for name in GRAPHS]
    judged = [row for each in (*sets, of_passages(data, "test")) for row in judge(each, weights)]
    return Report(weights=weights.version, judged=tuple(judged), speed=None if fast else speed())


def judge(labelled: Labelled, weights: Weights) -> list[Judged]:
    """Judge a set, and each kind of its wrong claims by itself where there are several."""
    features = first_stage.features(labelled.candidates, labelled.snapshot).astype(np.float64)
    scores, plain = first_stage.probabilities(features, weights), plain_formula(features)
    wrong = sorted(set(labelled.kinds) - {"gold"})
    kinds = np.array(labelled.kinds)
    rows = [_judged(labelled, "all", np.ones(len(kinds), dtype=np.bool_), scores, plain)]
    if len(wrong) > 1:
        rows += [_judged(labelled, kind, labelled.true | (kinds == kind), scores, plain) for kind in wrong]
    return rows


def plain_formula(features: Floats) -> Floats:
    """Return 0.4 confidence + 0.4 Jaccard + 0.05 named - 0.3 isolated."""
    column = {name: features[:, place] for place, name in enumerate(first_stage.NAMES)}
    lonely = column["isolated"] > 0
    return 0.4 * column["confidence"] + 0.4 * column["jaccard"] + 0.05 * column["named"] - 0.3 * lonely


def _judged(
    labelled: Labelled, against: str, chosen: NDArray[np.bool_], scores: Floats, plain: Floats
) -> Judged:
    settings = VerificationConfig()
    true, score = labelled.true[chosen], scores[chosen]
    accepted, rejected = score >= settings.accept_at, score < settings.reject_below
    return Judged(
        set=labelled.name,
        against=against,
        claims=len(true),
        true=int(true.sum()),
        auc=auc(true, score),
        plain_auc=auc(true, plain[chosen]),
        average_precision=average_precision(true, score),
        precision=float(true[accepted].mean()) if accepted.any() else None,
        rejected_right=float((~true[rejected]).mean()) if rejected.any() else None,
        coverage=float((accepted | rejected).mean()),
        accepted=float(accepted.mean()),
    )


def auc(true: NDArray[np.bool_], scores: Floats) -> float:
    """Return the chance that a true claim scores above a false one, equal scores counting half."""
    values, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place[~true], minlength=len(values))
    below = np.cumsum(above) - above
    won = (below + above / 2)[place[true]].sum()
    return float(won / max(true.sum() * (~true).sum(), 1))


def average_precision(true: NDArray[np.bool_], scores: Floats) -> float:
    """Return the mean, over true claims, of the precision at their score."""
    values, place = np.unique(-scores, return_inverse=True)
    hits, seen = np.bincount(place[true], minlength=len(values)), np.bincount(place, minlength=len(values))
    return float((hits * np.cumsum(hits) / np.cumsum(seen)).sum() / max(true.sum(), 1))


def speed(nodes: int = _NODES, edges: int = _EDGES, candidates: int = _ASKED) -> Speed:
    """Time candidates on a graph in which few nodes have most edges; half of them are stored in it."""
    draw = np.random.default_rng(0)
    names = [str(node) for node in draw.permutation(nodes)]
    share = np.arange(1, nodes + 1) ** -_SKEW
    objects = draw.choice(nodes, edges, p=share / share.sum())
    subjects, types = draw.integers(0, nodes, edges), draw.geometric(4 / _TYPES, edges) % _TYPES
    known = [
        (names[subject], f"type {type}", names[object])
        for subject, type, object in zip(subjects.tolist(), types.tolist(), objects.tolist(), strict=True)
        if subject != object
    ]
    half = candidates // 2
    mixed = draw.permutation(half)
    asked = [candidate(triple) for triple in known[:half]]
    asked += [
        candidate((known[place][0], known[place][1], known[other][2]))
        for place, other in enumerate(mixed.tolist())
    ]
    snapshot = graph(known)
    started = perf_counter()
    first_stage.features(asked[:1], snapshot)
    learned = perf_counter()
    rounds = []
    for _ in range(_ROUNDS):
        begun = perf_counter()
        first_stage.features(asked, snapshot)
        rounds.append(perf_counter() - begun)
    return Speed(
        nodes=snapshot.size,
        edges=len(snapshot.edges.kind),
        candidates=len(asked),
        learning=learned - started,
        per_second=len(asked) / min(rounds),
    )


def shown(report: Report) -> str:
    """Return the report as a table."""
    lines = [
        f"{'set':<10} {'against':<26} {'claims':>6} {'AUC':>6} {'plain':>6} {'AP':>6}"
        f" {'precision':>9} {'rejected right':>14} {'coverage':>8} {'accepted':>8}"
    ]
    lines += [
        f"{row.set:<10} {row.against:<26} {row.claims:>6} {row.auc:>6.3f} {row.plain_auc:>6.3f}"
        f" {row.average_precision:>6.3f} {_share(row.precision):>9} {_share(row.rejected_right):>14}"
        f" {row.coverage:>8.2f} {row.accepted:>8.2f}"
        for row in report.judged
    ]
    if report.speed is not None:
        lines.append(
            f"{report.speed.per_second:,.0f} candidates a second on {report.speed.nodes:,} nodes and"
            f" {report.speed.edges:,} edges, after {report.speed.learning:.1f} s of learning"
        )
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
