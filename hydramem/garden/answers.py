"""Answers: what a person says becomes a verdict, a merge, a release, or a mark that says not to ask again."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.check import check_name, check_text
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.asked import Answer, NotTaken
from hydramem.core.types import Change, Chunk, Entity, Relation
from hydramem.garden.questions import KEPT_OUT, TOLD_APART, Case
from hydramem.graph.snapshot import Snapshot
from hydramem.ingest.merge import merge
from hydramem.ingest.target import Target
from hydramem.storage.changes import current_actor, record
from hydramem.storage.store import Write
from hydramem.verification.calibration.calibrate import scores_of
from hydramem.verification.calibration.reviewed import take
from hydramem.verification.calibration.reviews import Review

MOST_ANSWERS = 20_000
_MOST_ID = 500
_MOST_NOTE = 2000
_AGENT = "mcp"
_GONE = "it does not wait: it was answered already, or its rows changed since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What it takes to act on answers.

    Attributes:
        release: Brings quarantined chunks back, by id.
    """

    target: Target
    snapshot: Snapshot
    release: Callable[[Sequence[str]], object]


def checked(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Check answers; a question that is answered twice alike is answered once.

    Raises:
        InvalidInputError: A field is wrong, two answers contradict each other, there are too many, or an
            agent answers: a review is what a person says.
    """
    found: dict[str, Answer] = {}
    for answer in answers:
        id = check_text(answer.id, name="answers.id", most=_MOST_ID)
        if answer.reviewer is not None:
            check_name(answer.reviewer, name="answers.reviewer")
        if answer.note is not None:
            check_text(answer.note, name="answers.note", most=_MOST_NOTE)
        if not isinstance(answer.yes, bool):
            raise InvalidInputError(f"answers.yes: {str(answer.yes)[:40]!r} is neither true nor false")
        if found.setdefault(id, answer).yes != answer.yes:
            raise InvalidInputError(f"answers: {id[:120]!r} is answered yes and no")
    if len(found) > MOST_ANSWERS:
        raise InvalidInputError(f"answers: {len(found):,} at once; at most {MOST_ANSWERS:,}")
    if found and current_actor() == _AGENT:
        raise InvalidInputError(
            "answers: a person answers, by `hydramem review` or in Python; an agent may ask"
        )
    return tuple(found.values())


def act(
    answers: Sequence[Answer], waiting: Sequence[Case], answering: Answering
) -> tuple[int, tuple[NotTaken, ...]]:
    """Act on answers, each on its own; return how many were taken, and those that were not.

    Args:
        answers: As `checked` returns them.
        waiting: The cases that wait.
        answering: What it takes.
    """
    by_id = {case.question.id: case for case in waiting}
    taken, left = 0, []
    for answer in answers:
        case = by_id.get(answer.id)
        try:
            done = case is not None and _act(answer, case, answering)
        except NotFoundError:
            done = False  # one of its rows went with an answer before it
        if done:
            taken += 1
        else:
            left.append(NotTaken(id=answer.id, why=_GONE))
    return taken, tuple(left)


def _act(answer: Answer, case: Case, answering: Answering) -> bool:
    match case.rows:
        case (Relation() as row,):
            return _judge(answer, row, answering)
        case (Chunk() as row,):
            return _let_in(answer, row, answering)
        case (Entity() as keep, Entity() as gone):
            return _unite(answer, keep, gone, answering)
    raise AssertionError(case.rows)  # a case is one of these


def _judge(answer: Answer, row: Relation, answering: Answering) -> bool:
    review = Review(
        line=1, relation=row.id, true=answer.yes, reviewer=_reviewer(answer), note=answer.note or None
    )
    found = {row.id: (review, row)}
    target = answering.target
    scores = scores_of(found, target.graph, answering.snapshot)
    return bool(take(found, scores, target, operation="review"))


def _let_in(answer: Answer, row: Chunk, answering: Answering) -> bool:
    with answering.target.one_writer:
        stored = next(iter(answering.target.graph.chunks([row.id])), None)
        if stored is None or stored.state != "quarantined":
            return False
        if answer.yes:
            answering.release([row.id])
            return True
        marked = replace(stored, metadata={**stored.metadata, KEPT_OUT: _reviewer(answer)})
        change = _change(stored, marked, answer, "it stays held back")
        answering.target.commit(Write(changes=(change,), chunks=(marked,)), {})
        return True


def _unite(answer: Answer, keep: Entity, gone: Entity, answering: Answering) -> bool:
    target = answering.target
    with target.one_writer:
        stored = {row.id: row for row in target.graph.entities([keep.id, gone.id])}
        if len(stored) < 2:
            return False
        if answer.yes:
            merge(keep.id, [gone.id], reason=_reason(answer, "they are one thing"), target=target)
            return True
        pairs = ((stored[keep.id], gone.id), (stored[gone.id], keep.id))
        marked = [(row, _told_apart(row, other)) for row, other in pairs]
        changes = tuple(_change(row, after, answer, "they are two things") for row, after in marked)
        target.commit(Write(changes=changes, entities=tuple(after for _, after in marked)), {})
        return True


def _told_apart(row: Entity, other: str) -> Entity:
    held = row.metadata.get(TOLD_APART)
    known = {str(id) for id in held} if isinstance(held, list | tuple) else set()
    return replace(row, metadata={**row.metadata, TOLD_APART: sorted(known | {other})})


def _change(before: Chunk | Entity, after: Chunk | Entity, answer: Answer, said: str) -> Change:
    return record(
        "review",
        project=before.project,
        target=before.id,
        before=before,
        after=after,
        reason=_reason(answer, said),
    )


def _reason(answer: Answer, said: str) -> str:
    told = f"{_reviewer(answer)} reviewed it: {said}"
    return f"{told}. {answer.note}" if answer.note else told


def _reviewer(answer: Answer) -> str:
    return answer.reviewer or current_actor()


def counted(waiting: Sequence[Case]) -> Mapping[str, int]:
    """Count cases by kind."""
    counts: dict[str, int] = {}
    for case in waiting:
        counts[case.question.kind] = counts.get(case.question.kind, 0) + 1
    return dict(sorted(counts.items()))
