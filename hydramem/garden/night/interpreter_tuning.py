"""Calm: while a night works in one thread of a process, the others get their turn soon.

Two habits of the interpreter would hold them up for far longer than any batch: a full collection of garbage
looks at every object of the process, a third of a second where a memory is large; and a thread that computes
is asked to make room only every five milliseconds, of which one recall needs dozens.
"""

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_HARDLY_EVER = 1_000_000
"""Collections of the middle generation between two full ones."""

_TURN = 0.0005
"""Seconds after which a thread that computes makes room for another that waits."""

_lock = threading.Lock()

_nights = 0

_before = (gc.get_threshold(), sys.getswitchinterval())


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Put full collections off and have threads take shorter turns; what was set before is set again after.

    Young garbage is collected as ever. Several nights of one process may overlap.
    """
    _begin()
    try:
        yield
    finally:
        _end()


def _begin() -> None:
    global _nights, _before
    with _lock:
        if not _nights:
            _before = gc.get_threshold(), sys.getswitchinterval()
            gc.set_threshold(*_before[0][:2], _HARDLY_EVER)
            sys.setswitchinterval(min(_TURN, _before[1]))
        _nights += 1


def _end() -> None:
    global _nights
    with _lock:
        _nights -= 1
        if not _nights:
            gc.set_threshold(*_before[0])
            sys.setswitchinterval(_before[1])
