"""Relations that a person or an agent asserts: judged, dated and stored, ended or taken out.

A new relation is judged before the writer lock is taken, since a model may read its evidence; under the lock
the evidence is compared once more. `facts_ended_by` alone decides which stored relations it ends.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import NotFoundError
from hydramem.core.ids import relation_id
from hydramem.core.row_types import Change, Entity, Relation, RelationCandidate, Verdict
from hydramem.core.time import check_interval, now
from hydramem.ingest.extraction.name_spans import key_of
from hydramem.ingest.knowledge.end_validity import (
    ValidityOutcome,
    closed,
    fact_of,
    facts_ended_by,
    is_version,
    newest_said,
    revised,
    withdrawn,
)
from hydramem.ingest.knowledge.graph_rows import decided, is_given, names_to_embed, relation_change
from hydramem.ingest.knowledge.relation_input import (
    RelationDraft,
    RelationInput,
    checked,
    draft,
    name_of,
    relation_type,
)
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Functional:
    """Which relation types have one object at a time.

    Attributes:
        types: Those that are configured so: a new relation ends the one before.
        seems: Whether what is stored suggests it of another type: then relations clash and none is ended.
    """

    types: Collection[str] = ()
    seems: Callable[[str], bool] = lambda type: False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """What relating did.

    Attributes:
        relation: As it is now; as it was stated where it was rejected.
        ends: Subject and object.
        created: Whether it is new.
        kept: False where verification rejected it.
        verdict: What verification said in this call; None where it was not asked.
        superseded: Relations that ended because of it, as they are now.
        clashing: Relations that contradict it and stay.
        notes: A sentence for each of both, in their order.
    """

    relation: Relation
    ends: tuple[Entity, Entity]
    created: bool
    kept: bool = True
    verdict: Verdict | None = None
    superseded: tuple[Relation, ...] = ()
    clashing: tuple[Relation, ...] = ()
    notes: tuple[str, ...] = ()


def relate(statement: RelationInput, *, target: Target, functional: Functional) -> Asserted:
    """Store a relation that is asserted; an equal current one is returned, and may gain evidence.

    One that had ended and is stated again without a time begins anew, now. One that was taken out comes
    back. Of a functional type, the relation before it ends where this one begins later, else both stay
    and the result names the clash.

    Args:
        statement: What is asserted.
        target: Where to store it, and what judges it.
        functional: Types that have one object at a time.

    Raises:
        InvalidInputError: A field is wrong; nothing is written.
        NotFoundError: A chunk of the evidence is not in the project; nothing is written.
    """
    statement, began = checked(statement), now()
    judged, verdict = None, None
    while True:
        with target.one_writer:
            drafted = draft(statement, target, began)
            row = drafted.relation
            if verdict is not None and judged == (row.id, row.evidence, row.quote):
                return _store(statement, drafted, verdict, target, functional)
            if target.accept is None or not _to_judge(drafted):
                return _store(statement, drafted, None, target, functional)
        subject, object = drafted.ends
        candidate = RelationCandidate(relation=row, subject=subject, object=object, passages=drafted.passages)
        (verdict,) = target.accept([candidate])
        judged = (row.id, row.evidence, row.quote)


def _to_judge(drafted: RelationDraft) -> bool:
    """Return whether a draft needs a verdict: it is new, is back, or has more evidence than before."""
    old, new = drafted.stored, drafted.relation
    if old is None:
        return True
    return not is_given(old) and (old.evidence, old.state) != (new.evidence, new.state)


def _store(
    statement: RelationInput,
    drafted: RelationDraft,
    verdict: Verdict | None,
    target: Target,
    functional: Functional,
) -> Asserted:
    at = now()
    relation = drafted.relation
    if drafted.stored is None:
        relation = replace(relation, times=replace(relation.times, recorded_at=at))
    if verdict is not None:
        relation = decided(relation, verdict, at)
    if verdict is not None and verdict.decision == "rejected":
        refused = relation_change("relate", None, relation, verdict.explanation)
        target.commit(Write(changes=(refused,)), {})
        return Asserted(relation=relation, ends=drafted.ends, created=False, kept=False, verdict=verdict)
    ends = statement.valid_to or relation.times.valid_to
    check_interval(relation.times.valid_from, ends, name="valid_from, valid_to")
    relation = replace(relation, times=replace(relation.times, valid_to=ends))
    rivals = {row.id: row for row in drafted.others if row.id != relation.id and row.state == "active"}
    outcome = _outcome(relation, tuple(rivals.values()), target.graph, functional)
    if outcome.closings:
        relation = _begun(relation, drafted.stored, outcome.closings[0].until)
    relation, versions = _revised(relation, drafted.stored, at)
    ended = {
        each.id: closed(rivals[each.id], until=each.until, at=at, by=relation.id) for each in outcome.closings
    }
    changes = _changes(statement, drafted, relation, rivals, {id: row for id, (row, _) in ended.items()})
    if changes:
        rows = (relation, *versions, *(row for pair in ended.values() for row in pair))
        write = Write(changes=changes, entities=drafted.ends, mentions=drafted.mentions, relations=rows)
        counts = {id: row.mention_count for id, row in drafted.before.items()}
        target.commit(write, target.embed_by_id(names_to_embed(drafted.ends, counts)))
    return Asserted(
        relation=relation,
        ends=drafted.ends,
        created=drafted.stored is None,
        verdict=verdict,
        superseded=tuple(current for current, _ in ended.values()),
        clashing=tuple(rivals[each.id] for each in outcome.clashes),
        notes=outcome.notes,
    )


def _revised(
    relation: Relation, stored: Relation | None, at: datetime
) -> tuple[Relation, tuple[Relation, ...]]:
    """Return a version of the stored relation too, where the valid time changes."""
    times = relation.times
    if stored is None or (times.valid_from, times.valid_to) == (
        stored.times.valid_from,
        stored.times.valid_to,
    ):
        return relation, ()
    changed, _ = revised(relation, valid_from=times.valid_from, valid_to=times.valid_to, at=at)
    if stored.state == "archived":
        return changed, ()
    _, version = revised(stored, valid_from=None, valid_to=None, at=at)
    return changed, (version,)


def _begun(relation: Relation, stored: Relation | None, moment: datetime) -> Relation:
    """Let a relation that ends others begin where they end, since they were true before."""
    if relation.times.valid_from is not None:
        return relation
    times = replace(relation.times, valid_from=moment)
    if stored is not None:  # it keeps its id, by which the same claim finds it again
        return replace(relation, times=times)
    id = relation_id(relation.project, relation.subject, relation.type, relation.object, moment)
    return replace(relation, id=id, times=times)


def _outcome(
    relation: Relation, rivals: Sequence[Relation], graph: GraphStore, functional: Functional
) -> ValidityOutcome:
    if not rivals:
        return ValidityOutcome()
    may_close = relation.type in functional.types
    evidence = sorted({id for row in (relation, *rivals) for id in row.evidence})
    said = {chunk.id: chunk.happened_at or chunk.times.recorded_at for chunk in graph.chunks(evidence)}
    new, *others = (
        fact_of(
            row,
            subject=relation.subject,
            said_at=newest_said(row, [said[id] for id in row.evidence if id in said]),
        )
        for row in (relation, *rivals)
    )
    outcome = facts_ended_by(new, others, may_close=may_close)
    return (
        outcome if may_close or (outcome.clashes and functional.seems(relation.type)) else ValidityOutcome()
    )


def _changes(
    statement: RelationInput,
    drafted: RelationDraft,
    relation: Relation,
    rivals: Mapping[str, Relation],
    ended: Mapping[str, Relation],
) -> tuple[Change, ...]:
    """Record the new entities, the relation, and what it ended; nothing where nothing changes."""
    because = f": {statement.reason}" if statement.reason else ""
    changes = [
        record("relate", project=row.project, target=row.id, after=row)
        for row in drafted.ends
        if row.id not in drafted.before
    ]
    if relation != drafted.stored:
        changes.append(relation_change("relate", drafted.stored, relation, statement.reason))
    changes.extend(
        relation_change("relate", rivals[id], row, f"superseded by {relation.id}{because}")
        for id, row in ended.items()
    )
    return tuple(changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Which relations to archive, or to end; fields as in `Memory.unrelate`."""

    subject: str
    type: str
    object: str
    ended: datetime | None = None
    valid_from: datetime | None = None
    reason: str | None = None


def unrelate(withdrawal: Withdrawal, *, target: Target) -> tuple[Relation, ...]:
    """Take out the relations of a subject, type and object, or end the one that is open.

    Args:
        withdrawal: Which, and how.

    Returns:
        The relations that changed, as they are now.

    Raises:
        NotFoundError: No such relation is in the project; nothing is written.
        InvalidInputError: A field is wrong, or it would end before it begins; nothing is written.
    """
    reason, ended = check_reason(withdrawal.reason), withdrawal.ended
    with target.one_writer:
        at = now()
        changed: list[tuple[Relation, tuple[Relation, ...]]] = []
        for row in _find(withdrawal, target):
            if ended is None and row.state != "archived":
                changed.append((row, (withdrawn(row, at),)))
            elif ended is not None and _open(row, withdrawal):
                check_interval(row.times.valid_from, ended, name="valid_from, ended")
                changed.append((row, closed(row, until=ended, at=at)))
        changes = tuple(relation_change("unrelate", old, new, reason) for old, (new, *_) in changed)
        if changes:
            rows = tuple(row for _, new in changed for row in new)
            target.commit(Write(changes=changes, relations=rows), {})
    return tuple(new for _, (new, *_) in changed)


def _open(row: Relation, withdrawal: Withdrawal) -> bool:
    """Return whether a relation has no end yet, or is the one whose end is corrected."""
    named = withdrawal.valid_from is not None and row.times.valid_to != withdrawal.ended
    return row.state != "archived" and (row.times.valid_to is None or named)


def _find(withdrawal: Withdrawal, target: Target) -> list[Relation]:
    subject, object = name_of(withdrawal.subject, "subject"), name_of(withdrawal.object, "object")
    type = relation_type(withdrawal.type)
    known = target.known([key_of(subject), key_of(object)])
    for name in (subject, object):
        if key_of(name) not in known:
            raise NotFoundError(
                f"{name[:80]!r}: no entity of project {target.project!r} has this name or alias"
            )
    ends = (known[key_of(subject)], known[key_of(object)])
    begins = withdrawal.valid_from
    rows = [
        row
        for row in target.graph.relations([ends[0]])
        if row.type == type
        and not is_version(row)
        and ((row.subject, row.object) == ends or (row.bidirectional and (row.object, row.subject) == ends))
        and begins in (None, row.times.valid_from)
    ]
    if not rows:
        when = "" if begins is None else f" from {begins:%Y-%m-%d}"
        raise NotFoundError(
            f"{subject[:80]} {type[:80]} {object[:80]}{when}: project {target.project!r} has no such relation"
        )
    return rows
