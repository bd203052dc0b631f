"""The audit: one Change per thing written, in the transaction that writes it."""

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from hydramem.core.ids import new_id
from hydramem.core.time import now
from hydramem.core.types import Change

_actor: ContextVar[str] = ContextVar("actor", default="python")
_request: ContextVar[str | None] = ContextVar("request", default=None)


@contextmanager
def acting_as(actor: str, *, request: str | None = None) -> Iterator[None]:
    """Name who makes the changes of this context, and the request that a retry repeats."""
    actor_token, request_token = _actor.set(actor), _request.set(request)
    try:
        yield
    finally:
        _actor.reset(actor_token)
        _request.reset(request_token)


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
        run: Id that groups the changes of one long operation.
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
        run=run,
        request=_request.get(),
    )


def _as_json(row: object | None) -> str | None:
    if row is None:
        return None
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        row = dataclasses.asdict(row)
    return json.dumps(row, ensure_ascii=False, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a Change")
