"""The stages of an operation, for whoever observes them, such as spans of OpenTelemetry."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

StageObserver = Callable[[str], AbstractContextManager[object]]
"""Returns what surrounds a stage of this name; safe to call from any thread."""

_observer: ContextVar[StageObserver | None] = ContextVar("stage_observer", default=None)


@contextmanager
def observing(observer: StageObserver) -> Iterator[None]:
    """Have the stages of this context observed."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def current_observer() -> StageObserver | None:
    """Return who observes this context, for the threads that it starts."""
    return _observer.get()


def stage(name: str) -> AbstractContextManager[object]:
    """Surround a stage of an operation. Its name is no text of a memory."""
    observer = _observer.get()
    return nullcontext() if observer is None else observer(name)
