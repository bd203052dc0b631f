"""Candidates of a recall, and what their scores mean.

A score is a sum of named parts. Each arm scores chunks from 0 to 1; `fuse` adds the arms up by weight and
`blended` mixes the graph's in. Chunks that the graph store confirms become candidates, whose score `trusted`
raises by layer, named day, age and importance. Wherever a best score exceeds 1, all are scaled down.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import get_args

from hydramem.core.config import SearchConfig
from hydramem.core.results.graph_views import PathStep
from hydramem.core.row_types import Chunk, Tier
from hydramem.text.dates.dates_in_text import Dated
from hydramem.text.normalize import wording

_LAYERS = {"working": 0.0, "curated": 0.0, "shared": 0.15, "verified": 0.3}
_TIERS: tuple[Tier, ...] = get_args(Tier)
_HALF_LIFE_DAYS, _SHORTEST_DAYS = 30.0, 1e-3
_LED_TO = ("graph", "links", "names", "neighbors", "answered", "later", "duplicate")
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScores:
    """The scores that one arm gives: the vectors, the full text or the graph.

    Attributes:
        scores: By chunk id, 0 to 1; chunks that the arm did not find are left out.
        unseen: Chunks that it could not find, such as those without a vector yet: the other arms' scores of
            them count in full.
        cosines: In the vector arm, those of the nearest chunks, by id, best first.
    """

    name: str
    weight: float
    scores: Mapping[str, float]
    unseen: frozenset[str] = frozenset()
    cosines: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FusedScore:
    """The score of a chunk: the sum of `parts`, what each arm adds."""

    id: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)

    def with_score(self, score: float, part: str) -> "FusedScore":
        """Return it with another score, the difference as a part of its own."""
        more = score - self.score
        if more == 0:
            return self
        return FusedScore(
            id=self.id, score=score, parts={**self.parts, part: self.parts.get(part, 0.0) + more}
        )

    @property
    def led_to(self) -> float:
        """The share, 0 to 1, that the graph, links, neighbours and other versions add to the score."""
        total = sum(abs(part) for part in self.parts.values())
        others = sum(max(self.parts.get(name, 0.0), 0.0) for name in _LED_TO)
        return others / total if total > 0 else 0.0


def normalised(scores: Mapping[str, float], *, floor: float | None = None) -> dict[str, float]:
    """Stretch scores over 0 to 1: the worst (or the floor) to 0, the best to 1; equal ones are all 1.

    Args:
        scores: By id, higher is better.
        floor: The value that becomes 0, where the worst found is not the worst possible.
    """
    if not scores:
        return {}
    low = min(scores.values()) if floor is None else floor
    span = max(scores.values()) - low
    return {id: (score - low) / span if span > 0 else 1.0 for id, score in scores.items()}


def fuse(arms: Sequence[ArmScores]) -> tuple[FusedScore, ...]:
    """Add up the arms' scores, best first, ties by id.

    Weights count relative to each other, so that a chunk which is best in every arm gets 1.
    """
    arms = sorted((arm for arm in arms if arm.weight > 0), key=lambda arm: arm.name)
    total = sum(arm.weight for arm in arms)
    lost: dict[str, float] = {}
    for arm in arms:
        for id in arm.unseen:
            lost[id] = lost.get(id, 0.0) + arm.weight
    parts: dict[str, dict[str, float]] = {}
    for arm in arms:
        for id, score in arm.scores.items():
            parts.setdefault(id, {})[arm.name] = arm.weight / (total - lost.get(id, 0.0)) * score
    return ranked(parts)


def ranked(parts: Mapping[str, Mapping[str, float]]) -> tuple[FusedScore, ...]:
    """Order chunks by the sum of their parts, best first, ties by id; a best above 1 scales all down."""
    sums = {id: sum(part.values()) for id, part in parts.items()}
    top = max(1.0, max(sums.values(), default=1.0))
    order = sorted(sums, key=lambda id: (-sums[id], id))
    if top == 1.0:
        return tuple(FusedScore(id=id, score=sums[id], parts=parts[id]) for id in order)
    return tuple(
        FusedScore(id=id, score=sums[id] / top, parts={arm: part / top for arm, part in parts[id].items()})
        for id in order
    )


def blended(found: Sequence[FusedScore], arm: ArmScores) -> tuple[FusedScore, ...]:
    """Mix in one more arm, whose weight is its share of the new score.

    Args:
        found: Scores from 0 to 1.
        arm: The arm to mix in; a weight of 0 changes nothing.
    """
    if arm.weight <= 0 or not arm.scores:
        return tuple(found)
    share = min(arm.weight, 1.0)
    parts = {one.id: {name: (1 - share) * part for name, part in one.parts.items()} for one in found}
    for id, score in arm.scores.items():
        parts.setdefault(id, {})[arm.name] = share * score
    return ranked(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPath:
    """How the graph leads from an entity of the query to a chunk.

    Attributes:
        steps: The edges in walking order; chunks in them are named by their ids.
        chunks: Ids of the chunks that it passes through before its end.
    """

    steps: tuple[PathStep, ...]
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCandidate:
    """A chunk that was found, checked against the graph store.

    Attributes:
        path: How the graph leads here from an entity of the query, or a link from another match; None where
            nothing does.
        context: The passage around the chunk; empty where none was requested.
        moved_from: Place before a reranker moved it, from 1; None where it did not.
        also: Ids of other matches that say the same, for which it stands.
    """

    chunk: Chunk
    fused: FusedScore
    path: GraphPath | None = None
    context: str = ""
    moved_from: int | None = None
    also: tuple[str, ...] = ()

    @property
    def by_link(self) -> bool:
        """Whether its path is a link from another match, not a walk from an entity."""
        return self.path is not None and len(self.path.steps) == 1 and bool(self.path.chunks)


def statement(chunk: Chunk) -> tuple[object, ...]:
    """Return what is equal for two chunks of any project that say the same: wording, speaker and times."""
    times = chunk.times
    words = wording(chunk.text)
    return words, chunk.author, chunk.happened_at, times.valid_from, times.valid_to


def trusted(
    candidates: Sequence[RecallCandidate],
    at: datetime | None,
    settings: SearchConfig,
    dates: Sequence[Dated] = (),
) -> tuple[RecallCandidate, ...]:
    """Raise scores by layer, day, age and importance, as configured; best first.

    Args:
        at: The moment that age is counted from; None leaves age out.
        dates: Stretches of time that the query names.
    """
    parts = {
        one.chunk.id: {**one.fused.parts, **_gains(one.chunk, one.fused.score, at, settings, dates)}
        for one in candidates
    }
    by_id = {one.chunk.id: one for one in candidates}
    return tuple(replace(by_id[fused.id], fused=fused) for fused in ranked(parts))


def _gains(
    chunk: Chunk, score: float, at: datetime | None, settings: SearchConfig, dates: Sequence[Dated]
) -> dict[str, float]:
    happened = chunk.happened_at
    on_date = happened is not None and any(each.covers(happened) for each in dates)
    gains = {
        "layer": settings.layer_weight * layer_gain(chunk),
        "date": settings.date_weight * on_date,
        "importance": settings.importance_weight * (chunk.importance - 0.5),
        "recency": settings.recency_weight * freshness(chunk, at, settings.recency_days),
    }
    return {name: gain * score for name, gain in gains.items() if gain}


def layer_gain(chunk: Chunk) -> float:
    """Return by which share the layer of a chunk raises its score."""
    return _LAYERS[chunk.layer]


def trust(layer: Tier) -> int:
    """Return the place of a layer among all, from the least trusted."""
    return _TIERS.index(layer)


def freshness(chunk: Chunk, at: datetime | None, half_life: float = _HALF_LIFE_DAYS) -> float:
    """Return 1 for a new chunk, half of it after each half-life; a passage counts from its ingest.

    Args:
        at: The moment that age is counted from; None for 0.
        half_life: In days.
    """
    if at is None:
        return 0.0
    age = (at - (chunk.happened_at or chunk.times.recorded_at)).total_seconds() / _DAY
    return float(0.5 ** (max(age, 0.0) / max(half_life, _SHORTEST_DAYS)))
