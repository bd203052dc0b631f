"""Fuse the arms' scores: each arm min-max normalised, then a weighted sum.

Scores rather than ranks: an arm that finds nothing convincing then says so, where equal ranks would
let a weak arm drag a strong one down.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What one way of looking found.

    Attributes:
        scores: By chunk id, 0 to 1; chunks that it did not find are left out.
        unseen: Chunks that it could not have found, as those whose vector is still to be made: what the
            other arms say of them counts in full.
    """

    name: str
    weight: float
    scores: Mapping[str, float]
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A candidate: `score` is the sum of `parts`, what each arm adds."""

    id: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


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


def fuse(arms: Sequence[Arm]) -> tuple[Fused, ...]:
    """Add up what the arms found, best first, ties by id.

    Weights are taken relative to each other, so that a chunk which is best in every arm gets 1.
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


def ranked(parts: Mapping[str, Mapping[str, float]]) -> tuple[Fused, ...]:
    """Order candidates by the sum of their parts, best first, ties by id; a best above 1 scales all down."""
    sums = {id: sum(part.values()) for id, part in parts.items()}
    top = max(1.0, max(sums.values(), default=1.0))
    order = sorted(sums, key=lambda id: (-sums[id], id))
    return tuple(
        Fused(id=id, score=sums[id] / top, parts={arm: part / top for arm, part in parts[id].items()})
        for id in order
    )


def blended(found: Sequence[Fused], arm: Arm) -> tuple[Fused, ...]:
    """Mix what was found with one more arm, whose weight is its share of the new score.

    Args:
        found: Candidates with scores 0 to 1.
        arm: The arm to mix in; a weight of 0 changes nothing.
    """
    if arm.weight <= 0 or not arm.scores:
        return tuple(found)
    share = min(arm.weight, 1.0)
    parts = {one.id: {name: (1 - share) * part for name, part in one.parts.items()} for one in found}
    for id, score in arm.scores.items():
        parts.setdefault(id, {})[arm.name] = share * score
    return ranked(parts)
