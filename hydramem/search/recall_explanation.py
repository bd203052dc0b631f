"""The shape of a question, by the words that show it in English, German and Spanish."""

import re
from collections.abc import Collection, Sequence

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
from hydramem.search.fusion import Arm, Fused
from hydramem.search.plan import Named, RecallPlan
from hydramem.text.dates.dates_in_text import Dated
from hydramem.text.normalize import folded

_MOST_CHARACTERS = 4096
_CHOICE = re.compile(r"^(?:which|who|what|welche[rs]?|wer|was|cual|quien|que)\b.*\b(?:or|oder|o)\b")
_COMPARES = re.compile(
    r"\b(?:both|same|compared?|differen\w+|than|beide[nr]?|gleiche[nrs]?|vergleich\w*|unterschied\w*"
    r"|ambos|ambas|mism[oa]s?|diferencia\w*|compara\w*)\b"
)

_TIME = re.compile(
    r"^(?:when|since when|until when|how long|(?:in |on )?(?:what|which) (?:year|month|day|date|week|time)"
    r"|wann|seit wann|bis wann|wie lange|(?:in |an )?welche[mnrs]? (?:jahr|monat|tag|datum|woche)"
    r"|cuando|desde cuando|cuanto tiempo|(?:en )?que (?:ano|mes|dia|fecha|semana))\b"
)

# Plurals asked for, and words for many.
_LIST = re.compile(
    r"^(?:(?:what|which) (?:\w+ ){0,2}?(?:kinds?|types?|sorts?|\w{2,}[^su\W]s)\b"
    r"|how many|how often|list|name (?:all|the|some|every)|welche (?:\w+ )?\w+(?:en|er|e)\b|wie viele|wie oft"
    r"|nenne|zahle|cuales|cuant[oa]s|que (?:\w+ )?\w+s\b|enumera|lista)"
    r"|\b(?:all (?:the|of|my|our)|everything|every time|alle[ns]?|alles|jedes mal|tod[oa]s|cada vez)\b"
)

_JOINT = re.compile(
    r"'s\b|\b(?:of|who|whose|whom|that|where|which|des|dessen|deren|von|vom|der|wo|del?|cuy[oa]s?|que|donde)\b"
)


def shape_of(query: str, *, names: int) -> Shape:
    """Say what kind of answer a question asks for.

    Args:
        query: Any text.
        names: How many things it names.
    """
    text = " ".join(folded(query[:_MOST_CHARACTERS].replace("’", "'")).split()).lstrip("¿¡\"'( ")
    if names > 1 and (_CHOICE.search(text) or _COMPARES.search(text)):
        return "comparison"
    if _TIME.search(text):
        return "time"
    if _LIST.search(text):
        return "list"
    # The first joint often only says what is asked for, as in "the capital of".
    return "multi-hop" if names and len(_JOINT.findall(text)) + (names > 1) > 1 else "fact"


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
