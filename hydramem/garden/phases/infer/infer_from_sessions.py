"""Relations that a model infers from evidence which several sessions saw, a call for each group of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.ids import session_id
from hydramem.core.row_types import Chunk, Entity, Mention, RelationCandidate, Usage
from hydramem.garden.phases.infer.inference import Inference, relation_of
from hydramem.garden.phases.infer.inference_prompt import CheckedInferences, InferredRelation, answered, ask
from hydramem.garden.phases.infer.repeated_evidence import EvidenceGroup, repeated
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.knowledge.resolve import merge, resolve
from hydramem.llm.contracts import Generator
from hydramem.verification.grounding.evidence import find_quote

SESSION = "session"
"""In the metadata of an inferred relation: id of a session that saw what it rests on."""

_MOST_CONFIDENCE = 0.8


@dataclass(slots=True, kw_only=True)
class SessionInferences:
    """What a model inferred.

    Attributes:
        failures: Why calls came to nothing, a sentence each.
        notes: What of the replies was refused.
        read: How many groups of evidence were read, now or before.
        outage: Whether the model is not asked any more, for it does not answer.
    """

    inferences: list[Inference] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: int = 0
    outage: bool = False


def from_sessions(ground: PhaseContext, generator: Generator, counts: Counter[str]) -> SessionInferences:
    """Ask a model what repeated evidence bears out, as far as the budget goes; of the same evidence once.

    Args:
        ground: Where the evidence is.
        generator: The model.
        counts: Gains what was looked at and found.
    """
    heard, groups = SessionInferences(), repeated(ground)
    counts["passages_repeated"] = sum(len(group.passages) for group in groups)
    replies = ground.judge.replies
    waiting = 0
    for done, group in enumerate(groups):
        answer = answered(group, generator, replies)
        if answer is None and (heard.outage or ground.budget.over):
            waiting += 1
        else:
            answer = answer or _asked(group, generator, ground, heard)
        if answer is not None:
            heard.read += 1
            heard.notes += answer.refused
            for told in answer.told:
                _take(told, group.passages[told.passage], generator.name, ground, heard)
        ground.progress(done + 1, len(groups))
    if waiting and not heard.outage:
        heard.failures.append(f"{waiting} groups of evidence wait: {ground.budget.over}.")
    heard.inferences = _new(heard.inferences, ground)
    counts["told_by_model"] = len(heard.inferences)
    heard.notes = list(dict.fromkeys(heard.notes))
    return heard


def _asked(
    group: EvidenceGroup, generator: Generator, ground: PhaseContext, heard: SessionInferences
) -> CheckedInferences | None:
    """Ask a model of evidence; None where nothing came of it, with the reason told."""
    try:
        answer = ask(group, generator, ground.judge.replies)
    except ModelReplyError as error:
        ground.budget.spend(Usage(calls=1))
        heard.failures.append(f"The model's reply was refused: {error}.")
        return None
    except ModelError as error:
        heard.outage = True
        heard.failures.append(f"The model cannot be asked: {error}.")
        return None
    ground.budget.spend(answer.usage)
    return answer


def _take(
    told: InferredRelation, passage: Chunk, by: str, ground: PhaseContext, heard: SessionInferences
) -> None:
    """Add what a model inferred, where its ends are named."""
    ends = [_end(told.subject, told.subject_type, ground), _end(told.object, told.object_type, ground)]
    for name, (entity, is_new) in zip((told.subject, told.object), ends, strict=True):
        if not _is_named(name, entity, told.quote if is_new else passage.text):
            heard.notes.append(
                f"What the model inferred was refused: {name[:80]!r} is not named where it says so."
            )
            return
    (subject, _), (object, _) = ends
    if subject.id == object.id:
        heard.notes.append(f"What the model inferred was refused: {told.subject[:80]!r} is one thing.")
        return
    new = tuple(entity for entity, is_new in ends if is_new)
    row = relation_of(subject, told.type, object, [passage], ground)
    row = replace(
        row,
        confidence=min(told.confidence, _MOST_CONFIDENCE),
        quote=told.quote,
        metadata={SESSION: session_id(ground.project, told.session)},
    )
    heard.inferences.append(
        Inference(
            candidate=RelationCandidate(relation=row, subject=subject, object=object, passages=(passage,)),
            entities=new,
            mentions=tuple(Mention(chunk=passage.id, entity=entity.id) for entity in new),
            by=by,
            reason=f"Inferred by {by} from what session {told.session} and others saw.",
        )
    )


def _end(name: str, type: str, ground: PhaseContext) -> tuple[Entity, bool]:
    """Return the entity of a name, and whether it is new."""
    given = Name(name=name, type=type)
    id = resolve([given], project=ground.project, known=ground.snapshot.names.lookup)[name]
    stored = ground.graph.entities([id])
    if stored:
        return stored[0], False
    return merge(None, [given], id=id, project=ground.project, mentions=1, at=ground.now), True


def _is_named(name: str, entity: Entity, text: str) -> bool:
    return any(find_quote(each, (text,)) is not None for each in (name, entity.name, *entity.aliases))


def _new(inferences: Sequence[Inference], ground: PhaseContext) -> list[Inference]:
    """Leave out what is stored, in whatever state, and what is told twice."""
    subjects = sorted({each.candidate.subject.id for each in inferences})
    rows = ground.graph.relations(subjects) if subjects else ()
    known = {(row.subject, row.type, row.object) for row in rows}
    known |= {(row.object, row.type, row.subject) for row in rows if row.bidirectional}
    fresh: dict[str, Inference] = {}
    for each in inferences:
        row = each.candidate.relation
        if (row.subject, row.type, row.object) not in known:
            fresh.setdefault(row.id, each)
    return list(fresh.values())
