"""What counts besides the match: the trust in a chunk, its day, how new it is, and how much it matters."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hydramem.core.config import SearchConfig
from hydramem.core.row_types import Chunk
from hydramem.search.fuse import ranked
from hydramem.search.pack import Candidate
from hydramem.text.dates.dates_in_text import Dated

_LAYERS = {"working": 0.0, "shared": 0.15, "verified": 0.3}

_HALF_LIFE_DAYS = 30.0

_DAY = 86_400.0


def trusted(
    candidates: Sequence[Candidate],
    at: datetime | None,
    settings: SearchConfig,
    dates: Sequence[Dated] = (),
) -> tuple[Candidate, ...]:
    """Weigh candidates by layer, day, age and importance, as configured, best first.

    Args:
        candidates: What was found, checked against the graph store.
        at: The moment that age is counted from; None leaves age out.
        settings: What counts, and how much.
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
    told = chunk.happened_at
    gains = {
        "layer": settings.layer_weight * layer_gain(chunk),
        "date": settings.date_weight * (told is not None and any(dated.covers(told) for dated in dates)),
        "importance": settings.importance_weight * (chunk.importance - 0.5),
        "recency": settings.recency_weight * freshness(chunk, at),
    }
    return {name: gain * score for name, gain in gains.items() if gain}


def layer_gain(chunk: Chunk) -> float:
    """Return by which share trust in a chunk raises what it counts."""
    return _LAYERS[chunk.layer]


def freshness(chunk: Chunk, at: datetime | None) -> float:
    """Return 1 for what is new, half of it every thirty days; a passage is as old as its reading."""
    if at is None:
        return 0.0
    age = (at - (chunk.happened_at or chunk.times.recorded_at)).total_seconds() / _DAY
    return float(0.5 ** (max(age, 0.0) / _HALF_LIFE_DAYS))
