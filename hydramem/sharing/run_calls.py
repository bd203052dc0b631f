"""The calls of clients, run on the memory that this process has open."""

import inspect
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING

from hydramem.core.config import SharingConfig
from hydramem.core.errors import CallCancelledError, InvalidInputError, StoreBusyError
from hydramem.memory_api.handle import embedder_fingerprint, sibling
from hydramem.memory_api.methods.session_methods import end_session
from hydramem.operations import BY_NAME, Operation, call
from hydramem.sharing.turns import CallTurns
from hydramem.sharing.wire.exact_values import from_wire
from hydramem.sharing.wire.messages import CONFIG, EMBEDDER, END_SESSION, Call
from hydramem.storage.files.owner_note import OwnerNote

if TYPE_CHECKING:
    from hydramem.memory_api.memory import Memory

_ALONE = frozenset({"restore", "erase"})
"""Operations that close the stores on the way: nothing else may run meanwhile."""


class CallRunner:
    """Runs calls once the memory is open, each when its turn comes. Safe to use from many threads."""

    def __init__(self, note: OwnerNote, settings: SharingConfig) -> None:
        self._note = note
        self._turns = CallTurns(seconds=settings.wait_seconds, readers=max(2, os.cpu_count() or 1))
        self._changed = threading.Condition()
        self._memory: Memory | None = None
        self._whole = False
        self._error: BaseException | None = None

    def serve(self, memory: "Memory", *, whole: bool) -> None:
        """Run calls on a memory; see `OwnerServer.serve`."""
        with self._changed:
            self._memory, self._whole = memory, whole
            self._changed.notify_all()

    def refuse(self, error: BaseException) -> None:
        """Raise an error for each call that waits for the memory, now and later."""
        with self._changed:
            self._error = error
            self._changed.notify_all()

    def run(self, said: Call, report: Callable[..., None]) -> object:
        """Run a call and return its result.

        Args:
            said: The call.
            report: Called as the operation reports its progress; may raise CallCancelledError.

        Raises:
            StoreBusyError: Its turn does not come in time, or it must be alone and cannot be.
            Exception: What the operation raises.
        """
        opened = self._opened()
        if said.operation == CONFIG:
            return opened.config
        if said.operation == EMBEDDER:
            return embedder_fingerprint(opened)
        operation = BY_NAME.get(said.operation)
        if operation is None and said.operation != END_SESSION:
            raise InvalidInputError(f"{said.operation!r}: no such operation")
        given = from_wire(said.arguments)
        alone = said.operation in _ALONE and not given.get("dry_run")
        # On PostgreSQL they refuse, and say what to do instead.
        if alone and not self._whole and opened.config.storage.graph != "postgres":
            raise StoreBusyError(
                f"{opened.folder}: {self._note} works with it; close it there before you {said.operation}"
            )
        with self._turns.taken(alone=alone, reads=operation is not None and operation.effect == "read"):
            memory = opened if alone else sibling(opened, said.project)
            if operation is None:
                end_session(memory, **given)
                return None
            if alone and given.get("project") is None and operation.name == "erase":
                given["project"] = said.project  # the handle that works alone has another one
            arguments = _arguments(operation, given, report)
            session, private = said.recalls_for or (None, False)
            recording = nullcontext() if said.recalls_for is None else memory.during(session, private=private)
            with recording:
                return call(
                    memory,
                    operation,
                    arguments,
                    actor=said.actor,
                    request=said.request,
                    within=said.within,
                )

    def _opened(self) -> "Memory":
        """Return the memory, once it is open."""
        with self._changed:
            self._changed.wait_for(lambda: self._memory or self._error)
            if self._memory is not None:
                return self._memory
        if isinstance(self._error, Exception):
            raise self._error.with_traceback(None)
        raise CallCancelledError


def _arguments(
    operation: Operation, given: dict[str, object], report: Callable[..., None]
) -> dict[str, object]:
    signature = _signature(operation.name)
    try:
        signature.bind(None, **given)
    except TypeError as error:
        raise InvalidInputError(f"{operation.name}: {error}") from error
    return {**given, "progress": report} if "progress" in signature.parameters else given


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(BY_NAME[name].method)
