"""A model in memory: loaded at its first use, and given back where nobody else has come to use it.

A night of the gardener embeds a dozen texts before it writes, and a few names while it does: to hold a model
all night for them took a tenth of its memory.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from hydramem.core.runtime.freed_memory import return_freed_memory

T = TypeVar("T")

FEW_TEXTS = 64
"""Texts that a model which is loaded for one call reads as soon as one that is loaded to stay."""

_MOST_CALLS = 4
"""Calls for which a model is loaded anew; for more it pays to keep it."""


@dataclass(slots=True)
class _Sparing:
    """What is left of the calls for which a model may be loaded anew."""

    calls: int = _MOST_CALLS


_sparing: ContextVar[_Sparing | None] = ContextVar("sparing", default=None)


@contextmanager
def sparing_models() -> Iterator[None]:
    """Let models that this thread uses for little be loaded for the call alone, while this lasts."""
    before = _sparing.set(_Sparing())
    try:
        yield
    finally:
        _sparing.reset(before)


class HeldModel(Generic[T]):
    """A model that is loaded once, whichever thread asks first.

    Args:
        load: Loads it.
        load_light: Loads it sooner, in less memory, to run slower; None where there is no such way.
    """

    def __init__(self, load: Callable[[], T], load_light: Callable[[], T] | None = None) -> None:
        self._load, self._load_light = load, load_light
        self._lock = threading.Lock()
        self._model: T | None = None
        self._users: set[int] = set()

    @property
    def loaded(self) -> bool:
        """Whether it is in memory."""
        return self._model is not None

    def get(self, *, little: bool = False) -> T:
        """Return the model, loaded where it is not.

        Args:
            little: Whether it is needed for few texts; see `sparing_models`.
        """
        with self._lock:
            sparing = _sparing.get()
            if self._model is None and little and sparing and sparing.calls and self._load_light:
                sparing.calls -= 1
                return self._load_light()
            self._users.add(threading.get_ident())
            if self._model is None:
                self._model = self._load()
                return_freed_memory()
            return self._model

    def give_back(self) -> None:
        """Free its memory, unless another thread has used it too: the next use loads it again."""
        with self._lock:
            if self._users <= {threading.get_ident()}:
                self._model = None
                self._users.clear()


@runtime_checkable
class HoldsModel(Protocol):
    """What runs a model of this process."""

    @property
    def held(self) -> HeldModel[object]:
        """The model."""


def not_loaded(users: Iterable[object]) -> tuple[HeldModel[object], ...]:
    """Return the models that are not in memory, of those that some embedders and classifiers run."""
    return tuple(each.held for each in users if isinstance(each, HoldsModel) and not each.held.loaded)


def give_back(models: Iterable[HeldModel[object]]) -> None:
    """Free the memory of models that no other thread uses."""
    for each in models:
        each.give_back()
    return_freed_memory()
