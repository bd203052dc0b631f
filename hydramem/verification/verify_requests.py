"""Check: judge a claim, an entity's relations, or the queue of what waits, and say what came of it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.verdicts import Verified, VerifiedRelation
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import GraphStore
from hydramem.verification.verify import Judge
from hydramem.verification.verify_stored import (
    CheckedRelation,
    Run,
    check_claim,
    claimed,
    deferred,
    matching,
    verify_stored,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What is to be verified, by names; without a subject, what waits for a decision."""

    subject: str | None = None
    type: str | None = None
    object: str | None = None
    limit: int = 100


def check(
    asked: VerifyRequest,
    *,
    project: str,
    judge: Judge,
    graph: GraphStore,
    mirror: Mirror,
    progress: Callable[[int, int], None] | None = None,
) -> Verified:
    """Verify what is asked for, and store what is decided.

    Args:
        asked: Which relations.
        project: Where they are.
        judge: What they are judged with.
        graph, mirror: Where they are read and written.
        progress: Called with claims that a model has read and those that it is to read.

    Raises:
        InvalidInputError: A type or object without a subject, or a claim of one thing about itself.
        NotFoundError: No entity has one of the names.
    """
    if asked.subject is None:
        if asked.type is not None or asked.object is not None:
            raise InvalidInputError("subject: name it too; without one, the relations that wait are verified")
        rows = deferred(project, asked.limit, graph)
    else:
        rows = matching(
            judge.snapshot(),
            graph,
            subject=asked.subject,
            type=asked.type,
            object=asked.object,
            limit=asked.limit,
        )
    if not rows and asked.subject is not None and asked.type is not None and asked.object is not None:
        claim = claimed(judge.snapshot(), graph, subject=asked.subject, type=asked.type, object=asked.object)
        return _told(check_claim(claim, judge=judge))
    run = verify_stored(rows, operation="verify", judge=judge, graph=graph, mirror=mirror, progress=progress)
    return _told(run)


def view(checked: CheckedRelation) -> VerifiedRelation:
    """Return what verification says of a relation, its ends named."""
    relation, verdict = checked.relation, checked.verdict
    return VerifiedRelation(
        id=relation.id if checked.is_stored else None,
        subject=checked.ends[0].name,
        type=relation.type,
        object=checked.ends[1].name,
        decision=verdict.decision,
        score=verdict.score,
        stage=verdict.stage,
        verifier=verdict.verifier,
        layer=relation.layer if checked.is_stored else verdict.layer or "working",
        state=relation.state,
        explanation=verdict.explanation,
        quote=verdict.quote or relation.quote,
    )


def _told(run: Run) -> Verified:
    counts = Counter(each.verdict.decision for each in run.checked)
    return Verified(
        relations=tuple(map(view, run.checked)),
        accepted=counts["accepted"],
        rejected=counts["rejected"],
        deferred=counts["deferred"],
        calls=run.usage.calls,
        prompt_tokens=run.usage.prompt_tokens,
        reply_tokens=run.usage.reply_tokens,
        reasons=run.reasons,
    )
