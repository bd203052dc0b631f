"""Settings of the interpreter for long work: full garbage collections wait, and threads take short turns.

With the defaults a full collection visits every object of the process: a third of a second where a memory is
large, and a tenth of the processor time of an ingest without its model. And a computing thread yields only
every five milliseconds, while one recall of another thread needs dozens of turns.
"""

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_RARELY = 1_000_000
"""Collections of the middle generation between two full ones."""

_TURN_SECONDS = 0.0005
"""Seconds after which a computing thread yields to one that waits."""


class _Setting:
    """A setting of the process that several threads may want changed at the same time.

    Args:
        change: Changes the setting, and returns what restores it.
    """

    def __init__(self, change: Callable[[], Callable[[], Any]]) -> None:
        self._change = change
        self._lock = threading.Lock()
        self._users = 0
        self._restore: Callable[[], Any] = bool

    @contextmanager
    def changed(self) -> Iterator[None]:
        """Keep it changed until the last user leaves."""
        with self._lock:
            if not self._users:
                self._restore = self._change()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._restore()


def _collect_rarely() -> Callable[[], Any]:
    before = gc.get_threshold()
    gc.set_threshold(*before[:2], _RARELY)
    return lambda: gc.set_threshold(*before)


def _take_short_turns() -> Callable[[], Any]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(_TURN_SECONDS, before))
    return lambda: sys.setswitchinterval(before)


_collections = _Setting(_collect_rarely)
_turns = _Setting(_take_short_turns)


@contextmanager
def rare_full_collections() -> Iterator[None]:
    """Defer full collections while this lasts; young objects are collected as usual."""
    with _collections.changed():
        yield


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Defer full collections and shorten the turns of threads; restore the settings at the end.

    Several threads may use it at the same time.
    """
    with _collections.changed(), _turns.changed():
        yield
