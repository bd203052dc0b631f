"""What a recall did, as a value: the entities it understood, the arms, and the candidates they brought."""

from collections.abc import Collection, Sequence

from hydramem.core.results.hits import (
    ExplainedArm,
    ExplainedCandidate,
    ExplainedDate,
    ExplainedEntity,
    Explanation,
    Hit,
)
from hydramem.core.row_types import Traversal
from hydramem.search.fuse import Arm, Fused
from hydramem.search.plan import Named, RecallPlan
from hydramem.search.shape import shape_of
from hydramem.text.dates.dates_in_text import Dated

_CANDIDATES = 50


def explanation(
    query: str,
    *,
    plans: Sequence[RecallPlan],
    dates: Sequence[Dated],
    arms: Sequence[Arm],
    found: Sequence[Fused],
    hits: Sequence[Hit],
    traversal: Traversal,
) -> Explanation:
    """Say how hits came about, from what the flow has at its end.

    Args:
        query: What was asked.
        plans: What it was understood to name, a plan for each project.
        dates: Stretches of time that it names.
        arms: What each way of looking found.
        found: Candidates as they were fused, best first.
        hits: What was returned.
        traversal: How the graph arm walked.
    """
    ranks = {hit.id: rank for rank, hit in enumerate(hits, start=1)}
    return Explanation(
        traversal=traversal,
        shape=shape_of(query, names=max((len(plan.entities) for plan in plans), default=0)),
        dates=tuple(
            ExplainedDate(text=one.text, start=one.start, end=one.end, every_year=one.every_year)
            for one in dates
        ),
        entities=tuple(_entity(named) for plan in plans for named in plan.entities),
        arms=tuple(_arm(arm, ranks.keys()) for arm in arms),
        fused=len(found),
        candidates=tuple(
            ExplainedCandidate(rank=ranks.get(one.id), id=one.id, score=one.score, scores=one.parts)
            for one in found[:_CANDIDATES]
        ),
    )


def _entity(named: Named) -> ExplainedEntity:
    return ExplainedEntity(entity=named.name, found_by=named.by, chunks=named.chunks, rarity=named.rarity)


def _arm(arm: Arm, hits: Collection[str]) -> ExplainedArm:
    return ExplainedArm(
        arm=arm.name,
        weight=arm.weight,
        candidates=len(arm.scores),
        hits=sum(id in arm.scores for id in hits),
    )
