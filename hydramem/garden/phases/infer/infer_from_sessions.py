"""Relations that a model infers from evidence which several sessions saw, one call for each group of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.ids import session_id
from hydramem.core.row_types import Chunk, Entity, Mention, RelationCandidate, Usage
from hydramem.garden.phases.infer.inference_prompt import CheckedInferences, InferredRelation, answered, ask
from hydramem.garden.phases.infer.inferred_proposals import Inference, relation_of
from hydramem.garden.phases.infer.repeated_evidence import EvidenceGroup, repeated
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.knowledge.resolve import merge, resolve
from hydramem.llm.contracts import Generator
from hydramem.text.quotes import find_quote

SESSION = "session"
"""Metadata key of an inferred relation: id of a session that saw its evidence."""

_MOST_CONFIDENCE = 0.8


@dataclass(slots=True, kw_only=True)
class SessionInferences:
    """What a model inferred.

    Attributes:
        failures: Why calls failed, a sentence each.
        notes: Which parts of the replies were refused.
        read: How many groups of evidence the model read, now or in an earlier run.
        outage: Whether the model did not answer, and is not asked again.
    """

    inferences: list[Inference] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read: int = 0
    outage: bool = False


def from_sessions(work: PhaseWork, generator: Generator) -> SessionInferences:
    """Ask a model what repeated evidence supports, within the budget; of the same evidence only once.

    Args:
        work: The phase.
    """
    context, found = work.context, SessionInferences()
    groups, replies, waiting = repeated(context), context.judge.replies, 0
    work.counts["passages_repeated"] = sum(len(group.passages) for group in groups)
    for done, group in enumerate(groups, 1):
        reply = answered(group, generator, replies)
        if reply is None and (found.outage or context.budget.over):
            waiting += 1
        else:
            reply = reply or _reply(group, generator, context, found)
        if reply is not None:
            found.read += 1
            found.notes += reply.refused
            for inferred in reply.relations:
                _add(inferred, group.passages[inferred.passage], generator.name, context, found)
        context.progress(done, len(groups))
    if waiting and not found.outage:
        found.failures.append(f"{waiting} groups of evidence wait: {context.budget.over}.")
    found.inferences = _unknown(found.inferences, context)
    work.counts["told_by_model"] = len(found.inferences)
    found.notes = list(dict.fromkeys(found.notes))
    return found


def _reply(
    group: EvidenceGroup, generator: Generator, context: PhaseContext, found: SessionInferences
) -> CheckedInferences | None:
    """Ask a model about a group of evidence; where the call fails, note why and return None."""
    try:
        reply = ask(group, generator, context.judge.replies)
    except ModelReplyError as error:
        context.budget.spend(Usage(calls=1))
        found.failures.append(f"The model's reply was refused: {error}.")
        return None
    except ModelError as error:
        found.outage = True
        found.failures.append(f"The model cannot be asked: {error}.")
        return None
    context.budget.spend(reply.usage)
    return reply


def _add(
    inferred: InferredRelation, passage: Chunk, by: str, context: PhaseContext, found: SessionInferences
) -> None:
    """Add a relation that a model inferred, where the passage names its ends."""
    names = (inferred.subject, inferred.object)
    ends = [
        _end(*end, context) for end in zip(names, (inferred.subject_type, inferred.object_type), strict=True)
    ]
    for name, (entity, is_new) in zip(names, ends, strict=True):
        if not _is_named(name, entity, inferred.quote if is_new else passage.text):
            found.notes.append(
                f"What the model inferred was refused: {name[:80]!r} is not named where it says so."
            )
            return
    (subject, _), (object, _) = ends
    if subject.id == object.id:
        found.notes.append(f"What the model inferred was refused: {names[0][:80]!r} is one thing.")
        return
    new = tuple(entity for entity, is_new in ends if is_new)
    row = replace(
        relation_of(subject, inferred.type, object, [passage], context),
        confidence=min(inferred.confidence, _MOST_CONFIDENCE),
        quote=inferred.quote,
        metadata={SESSION: session_id(context.project, inferred.session)},
    )
    found.inferences.append(
        Inference(
            candidate=RelationCandidate(relation=row, subject=subject, object=object, passages=(passage,)),
            entities=new,
            mentions=tuple(Mention(chunk=passage.id, entity=entity.id) for entity in new),
            by=by,
            reason=f"Inferred by {by} from what session {inferred.session} and others saw.",
        )
    )


def _end(name: str, type: str, context: PhaseContext) -> tuple[Entity, bool]:
    """Return the entity of a name, and whether it is new."""
    named = Name(name=name, type=type)
    id = resolve([named], project=context.project, known=context.snapshot.names.lookup)[name]
    stored = context.graph.entities([id])
    if stored:
        return stored[0], False
    return merge(None, [named], id=id, project=context.project, mentions=1, at=context.now), True


def _is_named(name: str, entity: Entity, text: str) -> bool:
    return any(find_quote(each, (text,)) is not None for each in (name, entity.name, *entity.aliases))


def _unknown(inferences: Sequence[Inference], context: PhaseContext) -> list[Inference]:
    """Leave out relations that are stored, in any state, and duplicates."""
    subjects = sorted({each.candidate.subject.id for each in inferences})
    rows = context.graph.relations(subjects) if subjects else ()
    known = {(row.subject, row.type, row.object) for row in rows}
    known |= {(row.object, row.type, row.subject) for row in rows if row.bidirectional}
    fresh: dict[str, Inference] = {}
    for each in inferences:
        row = each.candidate.relation
        if (row.subject, row.type, row.object) not in known:
            fresh.setdefault(row.id, each)
    return list(fresh.values())
