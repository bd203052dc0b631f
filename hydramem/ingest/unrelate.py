"""Unrelate: take relations out that never held, or end those that hold no more."""

from dataclasses import dataclass
from datetime import datetime

from hydramem.core.argument_checks import check_reason
from hydramem.core.errors import NotFoundError
from hydramem.core.row_types import Relation
from hydramem.core.time import check_interval, now
from hydramem.ingest.extract.names import key_of
from hydramem.ingest.statement import name_of, relation_type
from hydramem.ingest.supersede import closed, is_version, withdrawn
from hydramem.ingest.target import Target
from hydramem.storage.changes import record
from hydramem.storage.write import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """Which relations to take out, or to end.

    Attributes:
        ended: Until when they held; None takes them out, as if they had never been.
        valid_from: Only the one that held from then on.
        reason: Why, for the history.
    """

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
        target: Where they are.

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
        changes = tuple(
            record("unrelate", project=target.project, target=old.id, before=old, after=new, reason=reason)
            for old, (new, *_) in changed
        )
        if changes:
            rows = tuple(row for _, new in changed for row in new)
            target.commit(Write(changes=changes, relations=rows), {})
    return tuple(new for _, (new, *_) in changed)


def _open(row: Relation, withdrawal: Withdrawal) -> bool:
    """Say whether a relation has its end still to come, or is the one whose end is to be corrected."""
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
        and _joins(row, ends)
        and begins in (None, row.times.valid_from)
    ]
    if not rows:
        when = "" if begins is None else f" from {begins:%Y-%m-%d}"
        raise NotFoundError(
            f"{subject[:80]} {type[:80]} {object[:80]}{when}: project {target.project!r} has no such relation"
        )
    return rows


def _joins(row: Relation, ends: tuple[str, str]) -> bool:
    return (row.subject, row.object) == ends or (row.bidirectional and (row.object, row.subject) == ends)
