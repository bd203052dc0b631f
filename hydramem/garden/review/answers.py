"""Answers of a person: each becomes a verdict, a merge, an end, a release, or a mark not to ask again."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hydramem.core.argument_checks import check_name, check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.garden_results import YES_NO, Answer, NotTaken
from hydramem.core.row_types import Change, Chunk, Entity, Link, Relation
from hydramem.core.time import now
from hydramem.garden.phases.merge.merge_memories import MemoryPair, keeping_rank, merge_memories
from hydramem.garden.phases.supersede.possible_replacements import (
    possible_replacement,
    replaced,
    settled_link,
    unlinked_replacement,
    withdrawn_both,
    withdrawn_newer,
)
from hydramem.garden.proposals.exclusions import TOLD_APART, reused, strings_in
from hydramem.garden.review.conflicting_pairs import conflicting_pair, ended
from hydramem.garden.review.named_conflicts import named_conflict, rows_named
from hydramem.garden.review.questions import KEPT_OUT, NAMED_CHOICES, REPLACES, WHICH, Case
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import mark_coexisting
from hydramem.ingest.knowledge.merging.merge_entities import merge
from hydramem.ingest.knowledge.support import recounted
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_actor, is_agent, record
from hydramem.storage.write import Write
from hydramem.verification.calibration.calibrate import scores_of
from hydramem.verification.calibration.reviews import Review, apply_reviews

MOST_ANSWERS = 20_000
_MOST_ID = 500
_MOST_NOTE = 2000
_GONE = "it does not wait: it was answered already, or its rows changed since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What acting on answers needs.

    Attributes:
        settings: How many distinct sources make a merged memory shared.
        release: Releases chunks from quarantine, by id.
    """

    target: Target
    snapshot: Snapshot
    settings: MemoryConfig
    release: Callable[[Sequence[str]], object]


def checked(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Check answers; the same answer to a question counts once.

    Raises:
        InvalidInputError: A field is wrong, two answers contradict each other, there are too many, or an
            agent answers: only a person reviews.
    """
    found: dict[str, Answer] = {}
    for answer in answers:
        id = check_text(answer.id, name="answers.id", most=_MOST_ID)
        if answer.reviewer is not None:
            check_name(answer.reviewer, name="answers.reviewer")
        if answer.note is not None:
            check_text(answer.note, name="answers.note", most=_MOST_NOTE)
        if answer.yes is not None and not isinstance(answer.yes, bool):
            raise InvalidInputError(f"answers.yes: {str(answer.yes)[:40]!r} is neither true nor false")
        if answer.choice is not None and answer.choice not in (*NAMED_CHOICES, *rows_named(id)):
            allowed = ", ".join(dict.fromkeys((*WHICH, *REPLACES)))
            raise InvalidInputError(
                f"answers.choice: {str(answer.choice)[:40]!r} is none of {allowed} and no id in the question"
            )
        if (answer.yes is None) == (answer.choice is None):
            raise InvalidInputError(f"answers: {id[:120]!r} has neither yes nor choice, or both; give one")
        if (known := found.setdefault(id, answer)).yes != answer.yes or known.choice != answer.choice:
            raise InvalidInputError(f"answers: {id[:120]!r} is answered yes and no, or otherwise twice")
    if len(found) > MOST_ANSWERS:
        raise InvalidInputError(f"answers: {len(found):,} at once; at most {MOST_ANSWERS:,}")
    if found and is_agent(current_actor()):
        raise InvalidInputError(
            "answers: a person answers, by `hydramem review` or in Python; an agent may ask"
        )
    return tuple(found.values())


def act(
    answers: Sequence[Answer], waiting: Sequence[Case], answering: Answering
) -> tuple[int, tuple[NotTaken, ...]]:
    """Act on answers, each on its own; return how many were accepted, and those that were not.

    Args:
        answers: As `checked` returns them.
        waiting: The open questions.
        answering: The stores and settings.
    """
    by_id = {case.question.id: case for case in waiting}
    taken, left = 0, []
    for answer in answers:
        case = by_id.get(answer.id) or named_conflict(answer.id, answering.target.graph, answering.snapshot)
        answer = answer if case is None else _by_name(answer, case)
        if case is not None and _choice(answer) not in case.question.choices:
            choices = ", ".join(case.question.choices)
            left.append(NotTaken(id=answer.id, why=f"its answer is one of: {choices}"))
            continue
        try:
            done = case is not None and _act(answer, case, answering)
        except NotFoundError:
            done = False  # an earlier answer removed one of its rows
        if done:
            taken += 1
        else:
            left.append(NotTaken(id=answer.id, why=_GONE))
    return taken, tuple(left)


def _by_name(answer: Answer, case: Case) -> Answer:
    """Return an answer that says by its id which row holds as one that says so by a choice."""
    rows = case.question.rows
    if answer.choice not in rows or len(rows) < 2 or case.question.choices == YES_NO:
        return answer
    first, second = ("older", "replaces") if case.question.choices == REPLACES else ("1", "2")
    return replace(answer, choice=first if answer.choice == rows[0] else second)


def _choice(answer: Answer) -> str:
    return answer.choice or YES_NO[0 if answer.yes else 1]


def _act(answer: Answer, case: Case, answering: Answering) -> bool:
    """Act on one answer; return whether it changed anything."""
    match case.rows:
        case (Relation() as row,):
            return _judge(answer, row, answering, true=bool(answer.yes))
        case (Chunk() as row,):
            return _release(answer, row, answering)
        case (Entity() as keep, Entity() as gone):
            return _merge_entities(answer, keep, gone, answering.target)
        case (Chunk() as older, Chunk() as newer):
            if case.question.kind in ("may_supersede", "conflict"):
                return _settle(answer, older, newer, answering.target)
            return _merge_memories(answer, older, newer, answering)
        case (Relation() as one, Relation() as other):
            return _decide(answer, one, other, answering)
    raise AssertionError(case.rows)  # a case is one of these


def _judge(answer: Answer, row: Relation, answering: Answering, *, true: bool) -> bool:
    """Give a relation a person's verdict; return whether it is another than before."""
    review = Review(line=1, relation=row.id, true=true, reviewer=_reviewer(answer), note=answer.note or None)
    found = {row.id: (review, row)}
    target = answering.target
    scores = scores_of(found, target.graph, answering.snapshot)
    return bool(apply_reviews(found, scores, target, operation="review"))


def _release(answer: Answer, row: Chunk, answering: Answering) -> bool:
    """Release a chunk from quarantine, or mark that it stays there."""
    target = answering.target
    with target.one_writer:
        stored = next(iter(target.graph.chunks([row.id])), None)
        if stored is None or stored.state != "quarantined":
            return False
        if answer.yes:
            answering.release([row.id])
            return True
        marked = replace(stored, metadata={**stored.metadata, KEPT_OUT: _reviewer(answer)})
        change = _change(marked, stored, answer, "it stays held back", stored.project)
        target.commit(Write(changes=(change,), chunks=(marked,)), {})
        return True


def _merge_entities(answer: Answer, keep: Entity, gone: Entity, target: Target) -> bool:
    """Merge two entities, or mark them as different."""
    with target.one_writer:
        stored = {row.id: row for row in target.graph.entities([keep.id, gone.id])}
        if len(stored) < 2:
            return False
        if answer.yes:
            merge(keep.id, [gone.id], reason=_reason(answer, "they are one thing"), target=target)
            return True
        marked, changes = _told_apart(stored[keep.id], stored[gone.id], answer, "they are two things")
        target.commit(Write(changes=changes, entities=marked), {})
        return True


def _merge_memories(answer: Answer, older: Chunk, newer: Chunk, answering: Answering) -> bool:
    """Merge two memories, or mark them as different."""
    target = answering.target
    with target.one_writer:
        stored = {row.id: row for row in target.graph.chunks([older.id, newer.id]) if row.state == "active"}
        if len(stored) < 2:
            return False
        if not answer.yes:
            marked, changes = _told_apart(stored[older.id], stored[newer.id], answer, "they say two things")
            target.commit(Write(changes=changes, chunks=marked), {})
            return True
        often, said = reused(list(stored), target.graph), "they say the same"
        kept, gone = sorted(stored.values(), key=lambda row: keeping_rank(row, often))
        pair = MemoryPair(kept=kept, gone=gone, cosine=1.0, reason=_reason(answer, said))
        made = merge_memories([pair], target.graph, answering.settings, now())
        before = {row.id: row for row in made.rests_on}
        write = made.write
        written: tuple[Chunk | Relation | Link, ...] = (*write.chunks, *write.relations, *write.links)
        changes = tuple(_change(row, before.get(row.id), answer, said, kept.project) for row in written)
        counted = recounted(write, stored, target.graph)
        target.commit(replace(write, changes=changes, entities=counted), {})
        return True


def _settle(answer: Answer, older: Chunk, newer: Chunk, target: Target) -> bool:
    """End or withdraw the older memory, the newer, both or none; their links are settled in any case."""
    with target.one_writer:
        at, choice = now(), _SAME_AS.get(answer.choice or "both", answer.choice or "both")
        links = [
            link
            for link in target.graph.links([newer.id])
            if {link.source, link.target} == {older.id, newer.id}
        ]
        pair = possible_replacement(older.id, newer.id, target.graph, at=at) or unlinked_replacement(
            older.id, newer.id, target.graph, at=at
        )
        if pair is None:
            return False
        said = _SETTLED[choice]
        write = Write(changes=(), links=(settled_link(pair.link, at),))
        if choice != "both":
            settle = _SETTLES[choice]
            write = settle(pair, target=target, at=at, reason=_reason(answer, said), operation="review")
        contradicting = (link for link in links if link.type == "contradicts" and link.state == "active")
        settled = (*write.links, *(settled_link(link, at) for link in contradicting))
        before = {link.id: link for link in links}
        changes = (_change(link, before.get(link.id), answer, said, target.project) for link in settled)
        target.commit(replace(write, changes=(*write.changes, *changes), links=settled, deferred=False), {})
        return True


_SAME_AS = {"1": "older", "2": "replaces"}

_SETTLED = {
    "replaces": "the newer takes the place of the older",
    "both": "both hold",
    "older": "the older holds, and not the newer",
    "neither": "neither holds",
}

_SETTLES = {"replaces": replaced, "older": withdrawn_newer, "neither": withdrawn_both}


def _decide(answer: Answer, one: Relation, other: Relation, answering: Answering) -> bool:
    """Let one of two conflicting relations hold, or both."""
    target = answering.target
    with target.one_writer:
        pair = conflicting_pair(one, other, target.graph)
        if pair is None or pair.older.row.id != one.id:
            return False
        if answer.choice == "both":
            for row in pair.rows:
                if row.verdict == "deferred":  # that it holds is an answer to the question whether it is true
                    _judge(answer, row, answering, true=True)
            pair = conflicting_pair(one, other, target.graph) or pair
            both = [(mark_coexisting(row, rival.id), row) for row, rival in (pair.rows, pair.rows[::-1])]
            _commit(both, answer, "both hold", target)
            return True
        if answer.choice == "neither":
            judged = [_judge(answer, row, answering, true=False) for row in pair.rows]
            return any(judged)
        holds = pair.older.row if answer.choice == "1" else pair.newer.row
        _judge(answer, holds, answering, true=True)
        if answer.choice == "1":
            _judge(answer, pair.newer.row, answering, true=False)
            return True
        pair = conflicting_pair(one, other, target.graph) or pair  # with its new verdict
        _commit(ended(pair, now()), answer, "the newer takes the place of the older", target)
        return True


def _commit(
    rows: Sequence[tuple[Relation, Relation | None]], answer: Answer, said: str, target: Target
) -> None:
    """Write relations, each with the row before it."""
    changes = tuple(_change(after, before, answer, said, after.project) for after, before in rows)
    target.commit(Write(changes=changes, relations=tuple(after for after, _ in rows)), {})


_Marked = TypeVar("_Marked", Chunk, Entity)


def _told_apart(
    one: _Marked, other: _Marked, answer: Answer, said: str
) -> tuple[tuple[_Marked, ...], tuple[Change, ...]]:
    """Return two rows with the mark that they differ, and the Changes of that."""
    marked = (_marked_apart(one, other.id), _marked_apart(other, one.id))
    pairs = zip(marked, (one, other), strict=True)
    changes = tuple(_change(after, before, answer, said, before.project) for after, before in pairs)
    return marked, changes


def _marked_apart(row: _Marked, other: str) -> _Marked:
    ids = sorted({*strings_in(row.metadata, TOLD_APART), other})
    return replace(row, metadata={**row.metadata, TOLD_APART: ids})


def _change(
    after: Chunk | Entity | Relation | Link, before: object | None, answer: Answer, said: str, project: str
) -> Change:
    reason = _reason(answer, said)
    return record("review", project=project, target=after.id, before=before, after=after, reason=reason)


def _reason(answer: Answer, said: str) -> str:
    reason = f"{_reviewer(answer)} reviewed it: {said}"
    return f"{reason}. {answer.note}" if answer.note else reason


def _reviewer(answer: Answer) -> str:
    return answer.reviewer or current_actor()


def counted(waiting: Sequence[Case]) -> Mapping[str, int]:
    """Count questions by kind."""
    return dict(sorted(Counter(case.question.kind for case in waiting).items()))
