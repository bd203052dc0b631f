"""An inferred relation on its way to a proposal: judged first, and never by the model that inferred it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.ids import relation_id
from hydramem.core.row_types import Chunk, Entity, Mention, Relation, RelationCandidate, Times, Usage, Verdict
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.graph_rows import decided
from hydramem.storage.schema import ENTITY, RELATES, EdgeTable, NodeTable
from hydramem.storage.write import Write

INFERRED_BY = "inferred_by"
"""In the metadata of an inferred relation: the model that inferred it, which does not verify it."""

_MOST_CONFIDENCE = 0.5
"""What an inferred relation is believed at most, until something states it."""

_LEAST_ODDS = 1.5
"""What the graph must say for a relation that no words state, as a logarithm of odds. Measured where one pair
in ten that passages name together is related: from here on more guesses are right than wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A relation that may hold, and what it would take to store it.

    Attributes:
        entities: Ends that are new.
        mentions: Where the evidence names those.
        by: The model that inferred it; None for the graph.
        odds: What the graph says for it (`Guesses.odds`); none where a model inferred it.
        reason: Why, in a sentence.
    """

    candidate: RelationCandidate
    entities: tuple[Entity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    by: str | None = None
    odds: float = 0.0
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What verification said of inferences.

    Attributes:
        kept: Those that it did not reject, and that words or the graph speak for, each with the verdict.
        rejected: How many it did.
        weak: How many too little speaks for.
        reasons: Why some wait that a model should have read.
    """

    kept: tuple[tuple[Inference, Verdict], ...] = ()
    rejected: int = 0
    weak: int = 0
    reasons: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def relation_of(
    subject: Entity, type: str, object: Entity, passages: Sequence[Chunk], ground: PhaseContext
) -> Relation:
    """Return an inferred relation between two things, with its evidence."""
    return Relation(
        id=relation_id(ground.project, subject.id, type, object.id, None),
        project=ground.project,
        subject=subject.id,
        type=type,
        object=object.id,
        confidence=_MOST_CONFIDENCE,
        origin="inferred",
        evidence=tuple(chunk.id for chunk in passages),
        times=Times(recorded_at=ground.now),
    )


def judged(inferences: Sequence[Inference], ground: PhaseContext) -> Judgement:
    """Have inferences verified: by the first stage, and by a model where it is another than inferred them."""
    model, _ = ground.judge.model()
    name = None if model is None else model.name
    own = [each for each in inferences if name is not None and each.by == name]
    others = [each for each in inferences if name is None or each.by != name]
    calls = max(0, ground.settings.garden.phase_calls - ground.budget.usage.calls) // 2
    most = 0 if ground.budget.over else min(calls, ground.judge.settings.vog_max_candidates)
    judge = replace(ground.judge, settings=replace(ground.judge.settings, vog_max_candidates=most))
    read = judge([each.candidate for each in others])
    alone = ground.judge.without_model([each.candidate for each in own])
    ground.budget.spend(read.usage)
    verdicts = (*zip(others, read.verdicts, strict=True), *zip(own, alone.verdicts, strict=True))
    open_ = [pair for pair in verdicts if pair[1].decision != "rejected"]
    kept = tuple(pair for pair in open_ if _is_borne_out(*pair))
    return Judgement(
        kept=kept,
        rejected=len(verdicts) - len(open_),
        weak=len(open_) - len(kept),
        reasons=read.reasons,
        usage=read.usage,
    )


def _is_borne_out(inference: Inference, verdict: Verdict) -> bool:
    """Say whether a model read it, words state it beyond doubt, or the graph speaks for it loud enough."""
    stated = verdict.decision == "accepted" and verdict.quote is not None
    return inference.by is not None or stated or inference.odds >= _LEAST_ODDS


def proposals(
    kept: Sequence[tuple[Inference, Verdict]],
    ground: PhaseContext,
    *,
    limit: int,
    single: Collection[str] = (),
) -> Iterator[Proposal]:
    """Yield what would store inferences, the surest first, at most one between two things.

    Args:
        kept: Inferences that were not rejected.
        ground: Where they would be stored.
        limit: Most of them.
        single: Types with one object at a time: a subject gets one in a night.
    """
    joined: set[frozenset[str]] = set()
    full: set[tuple[str, str]] = set()
    undone = UndoneRows(ground.graph, ground.project)
    for inference, verdict in sorted(kept, key=_rank):
        row = inference.candidate.relation
        ends = frozenset((row.subject, row.object))
        if len(joined) >= limit:
            return
        slot = row.subject, row.type
        if ends not in joined and slot not in full and row.id not in undone:
            joined.add(ends)
            full |= {slot} if row.type in single else set()
            yield _proposal(inference, verdict, ground)


def _rank(pair: tuple[Inference, Verdict]) -> tuple[bool, float, str]:
    inference, verdict = pair
    return verdict.decision != "accepted", -verdict.score, inference.candidate.relation.id


def _proposal(inference: Inference, verdict: Verdict, ground: PhaseContext) -> Proposal:
    candidate = inference.candidate
    row = _stored(inference, verdict, ground)
    new = {entity.id for entity in inference.entities}
    known = [end for end in (candidate.subject, candidate.object) if end.id not in new]
    absent: list[tuple[NodeTable | EdgeTable, object]] = [(RELATES, row)]
    absent += [(ENTITY, entity) for entity in inference.entities]
    return Proposal(
        project=ground.project,
        phase="infer",
        action="add",
        target=row.id,
        text=f"{candidate.subject.name} {row.type} {candidate.object.name}",
        reason=f"{inference.reason} {verdict.explanation}".strip(),
        score=verdict.score,
        write=Write(changes=(), entities=inference.entities, relations=(row,), mentions=inference.mentions),
        expects=precondition_hash(*known, *candidate.passages, absent=absent),
    )


def _stored(inference: Inference, verdict: Verdict, ground: PhaseContext) -> Relation:
    """Return the relation as it would be stored: in doubt unless its evidence says it in words."""
    row = decided(inference.candidate.relation, verdict, ground.now)
    metadata = row.metadata if inference.by is None else {**row.metadata, INFERRED_BY: inference.by}
    return replace(
        row,
        confidence=round(min(row.confidence, verdict.score), 4),
        layer=row.layer if row.quote else "working",
        metadata=metadata,
    )
