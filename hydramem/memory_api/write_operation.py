"""The decorator of the operations that write: one run of changes, and a result that says what is pending.

For a request that may be repeated, the result is stored with the last write; see `storage.answers`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

from hydramem.memory_api.handle import Handle
from hydramem.storage.changes import in_one_run

_Methods = TypeVar("_Methods", bound=Handle)
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

VECTORS = "vectors"
"""What is pending where the graph store has a write and the vector store could not take it."""


def write_operation(
    method: Callable[Concatenate[_Methods, _Parameters], _Result],
) -> Callable[Concatenate[_Methods, _Parameters], _Result]:
    """Make every call of a method one run; its result says where the vector store is behind."""

    @wraps(method)
    def operation(handle: _Methods, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        store = handle._use()
        store.require_writable()
        mirror = store.mirror
        with in_one_run(), store.answers.call(method.__name__) as call:
            if call is not None and call.answer is not None:
                return cast(_Result, call.result(get_type_hints(method)["return"]))
            before = mirror.writes
            result = method(handle, *args, **kwargs)
            if call is not None:
                call.answered(result)
            if mirror.behind and mirror.writes > before:
                result = cast(_Result, _with_pending(result))
                if call is not None:
                    call.answered(result)
            return result

    return operation


def _with_pending(result: Any) -> Any:
    """Return a result, or several, that say that the vectors follow; one without `pending` stays as it is."""
    if isinstance(result, tuple):
        return tuple(map(_with_pending, result))
    if not hasattr(result, "pending"):
        return result
    return replace(result, pending=(*result.pending, VECTORS))
