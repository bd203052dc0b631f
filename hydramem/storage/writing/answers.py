"""A repeated request is carried out once: the answer of a call is committed with its last write.

A caller that may have to repeat a call gives it an id. The write of that call is held back until its result
is known, and committed with the result as a `Request` row. The same id again returns the stored result, also
where the process died before it could answer.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from hydramem.core.argument_checks import check_name
from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.time import clock
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import GraphStore
from hydramem.storage.write import RequestRow

KEPT = timedelta(days=1)
"""How long an answer is kept at least."""
_DROPPED_EVERY = timedelta(hours=1)
_repeatable: ContextVar[str | None] = ContextVar("repeatable", default=None)


@contextmanager
def repeatable(request: str) -> Iterator[None]:
    """Let the operation of this context be carried out once for a request."""
    token = _repeatable.set(request)
    try:
        yield
    finally:
        _repeatable.reset(token)


class RepeatableCall:
    """One call of an operation for a request; used by the thread that runs it.

    Attributes:
        id: Of the request.
        operation: Name of the operation.
        answer: The answer that the store has, as JSON; None before there is one.
    """

    def __init__(self, id: str, operation: str, answer: str | None, mirror: Mirror) -> None:
        self.id = id
        self.operation = operation
        self.answer = answer
        self._mirror = mirror

    def row(self, result: object) -> RequestRow:
        """Return the row that makes a result the answer."""
        answer = msgspec.json.encode(result).decode()
        return RequestRow(id=self.id, operation=self.operation, answer=answer, at=clock())

    def answered(self, result: object) -> None:
        """Commit what is held back, with a result as the answer; a later result replaces it."""
        row = self.row(result)
        if row.answer != self.answer:
            self._mirror.commit_held(row)
            self.answer = row.answer

    def committed(self, row: RequestRow) -> None:
        """Note that an answer was committed with a write of another thread, which stored several calls."""
        self.answer = row.answer

    def result(self, returns: Any) -> Any:
        """Return the stored answer as a value of the operation's return type.

        Raises:
            StorageError: Another version wrote it, and it cannot be read.
        """
        try:
            return msgspec.json.decode(self.answer or "", type=returns)
        except msgspec.MsgspecError as error:
            raise StorageError(
                f"request {self.id!r}: was carried out, but another version wrote its answer: {error}; "
                "nothing was written again"
            ) from error


class _Running(threading.local):
    """The call that a thread runs."""

    call: RepeatableCall | None = None


_running = _Running()


def running_call() -> RepeatableCall | None:
    """Return the call that this thread runs for a request; None without a request."""
    return _running.call


def answered(result: object) -> None:
    """Commit what the call of this thread holds back, with a result as its answer so far.

    An operation says so before it reads what it wrote, or waits for a model. Without a request, nothing is
    held back, and nothing happens.
    """
    if _running.call is not None:
        _running.call.answered(result)


class Answers:
    """The requests of one open store. Safe to use from many threads.

    Args:
        graph, mirror: Where answers are, and what commits them.
    """

    def __init__(self, graph: GraphStore, mirror: Mirror) -> None:
        self._graph = graph
        self._mirror = mirror
        self._changed = threading.Condition()
        self._under_way: set[str] = set()
        self._dropped_at = datetime.min.replace(tzinfo=UTC)

    @contextmanager
    def call(self, operation: str) -> Iterator[RepeatableCall | None]:
        """Run an operation for the request of this context, after another call for it has ended.

        Yields the call, with its answer where it was carried out before; None without a request, and within
        another call. Writes of this thread are held back meanwhile, as `Mirror.holding` says.

        Raises:
            InvalidInputError: The request was one of another operation, or has no proper id.
        """
        request = _repeatable.get()
        if request is None or _running.call is not None:
            yield None
            return
        id = check_name(request, name="request")
        with self._alone(id):
            self._drop_old()
            row = self._graph.request(id)
            if row is not None and row.operation != operation:
                raise InvalidInputError(f"request: {id!r} was one of `{row.operation}`; give a new id")
            call = RepeatableCall(id, operation, None if row is None else row.answer, self._mirror)
            _running.call = call
            try:
                with self._mirror.holding():
                    yield call
            finally:
                _running.call = None

    @contextmanager
    def _alone(self, id: str) -> Iterator[None]:
        """Wait until no other thread carries out a request."""
        with self._changed:
            self._changed.wait_for(lambda: id not in self._under_way)
            self._under_way.add(id)
        try:
            yield
        finally:
            with self._changed:
                self._under_way.remove(id)
                self._changed.notify_all()

    def _drop_old(self) -> None:
        """Delete old answers, once an hour; the clock may also have been set back."""
        at = clock()
        with self._changed:
            if abs(at - self._dropped_at) < _DROPPED_EVERY:
                return
            self._dropped_at = at
        self._mirror.drop_requests(at - KEPT)
