"""How the hits of a recall came about, and what kind of answer the question asks for."""

import re
from collections.abc import Collection, Sequence

from hydramem.core.package_data import data_tables
from hydramem.core.results.hits import (
    ExplainedArm,
    ExplainedCandidate,
    ExplainedDate,
    ExplainedEntity,
    Explanation,
    Hit,
    Shape,
)
from hydramem.core.row_types import Traversal
from hydramem.search.candidate_scores import ArmScores, FusedScore
from hydramem.search.query_plan import RecallPlan
from hydramem.text.dates.dates_in_text import Dated
from hydramem.text.normalize import folded

_MOST_CHARACTERS = 4096
_CANDIDATES = 50
_SHAPES = data_tables("question_shapes")
_COMPARISON, _TIME, _LIST, _JOINT = (
    re.compile("|".join(_SHAPES[name])) for name in ("comparison", "time", "list", "joints")
)


def explanation(
    query: str,
    *,
    plans: Sequence[RecallPlan],
    dates: Sequence[Dated],
    arms: Sequence[ArmScores],
    found: Sequence[FusedScore],
    hits: Sequence[Hit],
    traversal: Traversal,
) -> Explanation:
    """Explain how hits came about.

    Args:
        plans: The entities that it names, a plan for each project.
        dates: Stretches of time that it names.
        arms: The scores of each arm.
        found: The fused scores, best first.
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
        entities=tuple(
            ExplainedEntity(entity=named.name, found_by=named.by, chunks=named.chunks, rarity=named.rarity)
            for plan in plans
            for named in plan.entities
        ),
        arms=tuple(_explained_arm(arm, ranks.keys()) for arm in arms),
        fused=len(found),
        candidates=tuple(
            ExplainedCandidate(rank=ranks.get(one.id), id=one.id, score=one.score, scores=one.parts)
            for one in found[:_CANDIDATES]
        ),
    )


def _explained_arm(arm: ArmScores, hits: Collection[str]) -> ExplainedArm:
    return ExplainedArm(
        arm=arm.name,
        weight=arm.weight,
        candidates=len(arm.scores),
        hits=sum(id in arm.scores for id in hits),
    )


def shape_of(query: str, *, names: int) -> Shape:
    """Return what kind of answer a question asks for, by its words.

    Args:
        names: How many things it names.
    """
    text = " ".join(folded(query[:_MOST_CHARACTERS].replace("’", "'")).split()).lstrip("¿¡\"'( ")
    if names > 1 and _COMPARISON.search(text):
        return "comparison"
    if _TIME.search(text):
        return "time"
    if _LIST.search(text):
        return "list"
    # One joint often only says what is asked for, as in "the capital of".
    return "multi-hop" if names and len(_JOINT.findall(text)) + (names > 1) > 1 else "fact"
