"""From inferred relations to proposals: verification judges them, never by the model that inferred them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from hydramem.core.ids import relation_id
from hydramem.core.row_types import Chunk, Entity, Mention, Relation, RelationCandidate, Times, Verdict
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.graph_rows import decided
from hydramem.storage.write import Write

INFERRED_BY = "inferred_by"
"""Metadata key of an inferred relation: the model that inferred it, which may not verify it."""

_MOST_CONFIDENCE = 0.5
"""The most confidence of an inferred relation until something states it."""

# A reply that is refused is asked for once more.
_CALLS_PER_CLAIM = 2

_LEAST_ODDS = 1.5
"""Log odds from the graph that a relation needs which no passage states. Measured where one in ten pairs that
passages name together is related: from here on more guesses are right than wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """A relation that may hold, with what it takes to store it.

    Attributes:
        entities: Ends that are new.
        mentions: Where the evidence names those.
        by: The model that inferred it; None for the graph.
        odds: Log odds from the graph (`Guesses.odds`); 0 where a model inferred it.
        reason: Why, in a sentence.
    """

    candidate: RelationCandidate
    entities: tuple[Entity, ...] = ()
    mentions: tuple[Mention, ...] = ()
    by: str | None = None
    odds: float = 0.0
    reason: str


def relation_of(
    subject: Entity, type: str, object: Entity, passages: Sequence[Chunk], context: PhaseContext
) -> Relation:
    """Return an inferred relation between two things, with its evidence."""
    return Relation(
        id=relation_id(context.project, subject.id, type, object.id, None),
        project=context.project,
        subject=subject.id,
        type=type,
        object=object.id,
        confidence=_MOST_CONFIDENCE,
        origin="inferred",
        evidence=tuple(chunk.id for chunk in passages),
        times=Times(recorded_at=context.now),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaims:
    """The verdicts on some claims.

    Attributes:
        verdicts: One for each, in order.
        left: For each, whether a model inferred it that is the only one, or no other can be asked.
        why: Why those wait.
        reasons: Why claims wait that a model should have read, each reason once.
    """

    verdicts: tuple[Verdict, ...]
    left: tuple[bool, ...]
    why: str
    reasons: tuple[str, ...]


def claims_in_budget(context: PhaseContext) -> int:
    """Return how many claims a model may be asked about at once, within the budget of the phase."""
    calls = max(0, context.settings.garden.phase_calls - context.budget.usage.calls) // _CALLS_PER_CLAIM
    return 0 if context.budget.over else min(calls, context.judge.settings.vog_max_candidates)


def judge_claims(
    candidates: Sequence[RelationCandidate], inferred_by: Sequence[str | None], context: PhaseContext
) -> JudgedClaims:
    """Verify relations within the budget; a model does not read what it inferred itself.

    Args:
        inferred_by: For each, the model that inferred it.
        context: Has the judge and the budget.
    """
    model, why = context.judge.model()
    left = tuple(name is not None and (model is None or name == model.name) for name in inferred_by)
    if model is not None:
        why = f"another model or a person decides on what {model.name} inferred"
    most = claims_in_budget(context)
    judge = replace(context.judge, settings=replace(context.judge.settings, vog_max_candidates=most))
    read = judge([each for each, is_left in zip(candidates, left, strict=True) if not is_left])
    context.budget.spend(read.usage)
    own = [each for each, is_left in zip(candidates, left, strict=True) if is_left]
    alone = context.judge.without_model(own, why=why)
    others, owns = iter(read.verdicts), iter(alone.verdicts)
    return JudgedClaims(
        verdicts=tuple(next(owns if is_left else others) for is_left in left),
        left=left,
        why=why,
        reasons=tuple(dict.fromkeys((*read.reasons, *alone.reasons))),
    )


def judged(
    inferences: Sequence[Inference], work: PhaseWork
) -> tuple[list[tuple[Inference, Verdict]], tuple[str, ...]]:
    """Have inferences verified.

    Returns:
        Those not rejected and well enough supported, each with its verdict, and why some still wait.
    """
    candidates, models = [each.candidate for each in inferences], [each.by for each in inferences]
    read = judge_claims(candidates, models, work.context)
    pairs = zip(inferences, read.verdicts, strict=True)
    not_rejected = [pair for pair in pairs if pair[1].decision != "rejected"]
    kept = [pair for pair in not_rejected if _is_supported(*pair)]
    work.counts["judged"] = len(inferences)
    work.counts["rejected"] = len(inferences) - len(not_rejected)
    work.counts["too_weak"] = len(not_rejected) - len(kept)
    return kept, read.reasons


def _is_supported(inference: Inference, verdict: Verdict) -> bool:
    """Say whether a model inferred it, a passage states it for certain, or the graph supports it enough."""
    stated = verdict.decision == "accepted" and verdict.quote is not None
    return inference.by is not None or stated or inference.odds >= _LEAST_ODDS


def proposals(
    kept: Sequence[tuple[Inference, Verdict]], work: PhaseWork, *, limit: int, single: Collection[str] = ()
) -> Iterator[Proposal]:
    """Yield proposals that store inferences, the surest first, at most one between two entities.

    Args:
        kept: Inferences that were not rejected.
        work: The phase.
        limit: Most proposals.
        single: Types with one object at a time: a subject gets at most one in a run.
    """
    joined: set[frozenset[str]] = set()
    full: set[tuple[str, str]] = set()
    for inference, verdict in sorted(kept, key=_rank):
        row = inference.candidate.relation
        ends = frozenset((row.subject, row.object))
        if len(joined) >= limit:
            return
        slot = row.subject, row.type
        if ends not in joined and slot not in full and row.id not in work.undone:
            joined.add(ends)
            full |= {slot} if row.type in single else set()
            yield _proposal(inference, verdict, work.context)


def _rank(pair: tuple[Inference, Verdict]) -> tuple[bool, float, str]:
    inference, verdict = pair
    return verdict.decision != "accepted", -verdict.score, inference.candidate.relation.id


def _proposal(inference: Inference, verdict: Verdict, context: PhaseContext) -> Proposal:
    candidate = inference.candidate
    row = _stored_relation(inference, verdict, context)
    new = {entity.id for entity in inference.entities}
    known = [end for end in (candidate.subject, candidate.object) if end.id not in new]
    return Proposal(
        project=context.project,
        phase="infer",
        action="add",
        target=row.id,
        text=f"{candidate.subject.name} {row.type} {candidate.object.name}",
        reason=f"{inference.reason} {verdict.explanation}".strip(),
        score=verdict.score,
        write=Write(changes=(), entities=inference.entities, relations=(row,), mentions=inference.mentions),
        expects=precondition_hash(*known, *candidate.passages, absent=(row, *inference.entities)),
    )


def _stored_relation(inference: Inference, verdict: Verdict, context: PhaseContext) -> Relation:
    """Return the relation as it would be stored: in layer `working` unless a passage states it."""
    row = decided(inference.candidate.relation, verdict, context.now)
    metadata = row.metadata if inference.by is None else {**row.metadata, INFERRED_BY: inference.by}
    return replace(
        row,
        confidence=round(min(row.confidence, verdict.score), 4),
        layer=row.layer if row.quote else "working",
        metadata=metadata,
    )
