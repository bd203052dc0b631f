"""The one place where calls are recorded: around every operation of a memory, whoever calls it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from functools import wraps
from time import perf_counter
from typing import Any, Protocol

from hydramem.storage.changes import current_actor
from hydramem.telemetry import otel
from hydramem.telemetry.observed_results import Observed, observed, outcome_of
from hydramem.telemetry.recorder import Telemetry

_within: ContextVar[bool] = ContextVar("within_recorded_call", default=False)
_NOTHING = Observed()
NOT_RECORDED = frozenset({"wipe_telemetry"})
"""What deletes telemetry leaves no trace in it."""
_NO_OPERATION = frozenset({"during", "session"})
"""Methods that surround the calls of others."""


class _OpenStore(Protocol):
    telemetry: Telemetry


class _Handle(Protocol):
    _opened: _OpenStore


def record_calls(kind: type) -> None:
    """Record the calls of the operations of a class: the public methods of its rooms, which are handles.

    A call within another one, as where `prime` reads curated files, is a part of it and is not recorded. What
    opens and closes a handle, which the class below all rooms does, is no operation.
    """
    left_out = NOT_RECORDED | _NO_OPERATION
    for room in kind.__mro__[1:-2]:
        for name, method in vars(room).items():
            if inspect.isfunction(method) and not name.startswith("_") and name not in left_out:
                setattr(kind, name, _recorded(method))


def _recorded(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__name__

    @wraps(method)
    def call(handle: _Handle, /, *args: Any, **kwargs: Any) -> Any:
        if _within.get() or not (handle._opened.telemetry.is_on or otel.is_provided()):
            return method(handle, *args, **kwargs)
        token, actor = _within.set(True), current_actor()
        try:
            with otel.traced(name, actor) if otel.is_provided() else nullcontext(_ignored) as ended:
                outcome, seen, started = "", _NOTHING, perf_counter()
                try:
                    result = method(handle, *args, **kwargs)
                    seen = _seen(result, args, kwargs)
                    return result
                except BaseException as error:
                    outcome = outcome_of(error)
                    raise
                finally:
                    ms = (perf_counter() - started) * 1000
                    # `restore` and `erase` have opened the store anew.
                    handle._opened.telemetry.note(name, actor, outcome, ms, seen)
                    ended(outcome, ms, seen)
        finally:
            _within.reset(token)

    return call


def _ignored(outcome: str, ms: float, seen: Observed) -> None:
    """Do nothing at the end of an operation that is not traced."""


def _seen(result: object, args: Sequence[object], options: Mapping[str, object]) -> Observed:
    """Return what a result shows: nothing where `garden` only returned the reports of earlier runs."""
    return _NOTHING if options.get("status") is True else observed(result, asked=_is_asked(args, options))


def _is_asked(args: Sequence[object], options: Mapping[str, object]) -> bool:
    """Say whether a call of `recall` or `prime` has a question, their first argument."""
    return (args[0] if args else options.get("query")) is not None
