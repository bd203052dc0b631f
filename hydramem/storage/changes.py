"""The audit: one Change for each row written, in the same transaction; the changes of one call are a run.

Changes older than `limits.change_days` are purged; a Change of its own records that.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from hydramem.core.ids import new_id
from hydramem.core.row_types import Change
from hydramem.core.time import now
from hydramem.storage.store import GraphStore

AGENT = "mcp"
TOKEN_ACTOR = "token:"  # noqa: S105 - what a name begins with, not a token
"""What the actor of a call over HTTP with a token begins with; the token's name follows."""

_actor: ContextVar[str] = ContextVar("actor", default="python")
_request: ContextVar[str | None] = ContextVar("request", default=None)
_run: ContextVar[str | None] = ContextVar("run", default=None)


@contextmanager
def acting_as(actor: str, *, request: str | None = None) -> Iterator[None]:
    """Name who makes the changes of this context, and the request that a retry repeats."""
    actor_token, request_token = _actor.set(actor), _request.set(request)
    try:
        yield
    finally:
        _actor.reset(actor_token)
        _request.reset(request_token)


@contextmanager
def in_one_run(run: str | None = None) -> Iterator[str]:
    """Give the changes of this context one run, and return its id; within a run, that one continues.

    As a decorator it makes every call of a function a run. Threads that the function starts are not in it.

    Args:
        run: The run to continue, as a later part of a call does; a new one where not given.
    """
    current = _run.get() or run or new_id("w")
    token = _run.set(current)
    try:
        yield current
    finally:
        _run.reset(token)


@contextmanager
def in_run(run: str) -> Iterator[None]:
    """Give the changes of this context a certain run, within another one too."""
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


def current_actor() -> str:
    """Return who makes the changes of this context."""
    return _actor.get()


def is_agent(actor: str) -> bool:
    """Return whether an actor is an agent's, whose word is not a person's: MCP, by whatever token."""
    return actor == AGENT or actor.startswith(TOKEN_ACTOR)


def current_run() -> str | None:
    """Return the run that changes of this context belong to; None outside one."""
    return _run.get()


def with_run(changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes of one write, each with a run: its own, that of this context, or a new one."""
    run = _run.get() or new_id("w")
    return tuple(change if change.run else replace(change, run=run) for change in changes)


def record(
    operation: str,
    *,
    project: str,
    target: str,
    before: object | None = None,
    after: object | None = None,
    reason: str | None = None,
    run: str | None = None,
) -> Change:
    """Build the Change of one write.

    Args:
        operation: The operation's name, as in the operations table.
        project: The project written to.
        target: Id of the row that changes.
        before: The row as it was (a row dataclass, or plain JSON); None where it did not exist.
        after: The row as it becomes; None where it is gone.
        reason: Why, in the words of who asked for it.
        run: What groups the changes of one call; that of the context where not given.
    """
    return Change(
        id=new_id("x"),
        project=project,
        actor=_actor.get(),
        operation=operation,
        target=target,
        before=_as_json(before),
        after=_as_json(after),
        at=now(),
        reason=reason,
        run=run or _run.get(),
        request=_request.get(),
    )


def _as_json(row: object | None) -> str | None:
    return None if row is None else json.dumps(row, ensure_ascii=False, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    if dataclasses.is_dataclass(value):
        # `asdict` would first copy all that a row holds, which takes longer than the rest.
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no place in a Change")


PURGED = "changes"
"""Target of the Changes that record a purge: no row has this id."""
_KEY = "purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What one purge deleted from the audit.

    Attributes:
        changes: How many changes.
        runs: How many whole runs.
        until: When the last of the changes was made.
        part_of: The run of which this was one of several parts.
        taken_back: Ids of rows for which only these changes recorded that a person undid something.
    """

    changes: int
    runs: int
    until: datetime
    part_of: str | None = None
    taken_back: tuple[str, ...] = ()

    @property
    def as_json(self) -> Mapping[str, Any]:
        """What the Change of the purge records, as JSON."""
        return {_KEY: {**asdict(self), "until": self.until.isoformat(), "taken_back": list(self.taken_back)}}


def purged_by(change: Change) -> Purged | None:
    """Return what a Change purged from the audit; None where it records no purge."""
    values = json.loads(change.after or "{}").get(_KEY) if change.target == PURGED else None
    if values is None:
        return None
    moved = {"until": datetime.fromisoformat(values["until"]), "taken_back": tuple(values["taken_back"])}
    return Purged(**{**values, **moved})


def purges(graph: GraphStore) -> tuple[tuple[Change, Purged], ...]:
    """Return the Changes that record a purge, oldest first, with what it deleted."""
    found = ((change, purged_by(change)) for change in graph.changes(target=PURGED))
    return tuple((change, gone) for change, gone in found if gone is not None)


def no_longer_known(graph: GraphStore) -> str:
    """Return the end of a sentence that something is not found: up to when changes were purged."""
    until = max((gone.until for _, gone in purges(graph)), default=None)
    if until is None:
        return ""
    return f"; changes made up to {until:%Y-%m-%d %H:%M} UTC are gone (limits.change_days)"


ERASE = "erase"
"""Operation of the Changes that keep the receipts of erasures."""
ERASED_RUNS = "runs"
"""Key of such a Change: the runs of which it took a part."""


def erasure_of(run: str, graph: GraphStore) -> Change | None:
    """Return the last Change that erased a part of what a run wrote; None where none did."""
    for change in reversed(graph.changes(operation=ERASE)):
        if run in json.loads(change.after or "{}").get(ERASED_RUNS, ()):
            return change
    return None
