"""Settings of the interpreter that keep other threads responsive while a run works in one of them.

With the defaults two things delay others longer than any batch: a full garbage collection visits every object
of the process, a third of a second where a memory is large; and a computing thread yields only every five
milliseconds, while one recall needs dozens of turns.
"""

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_RARELY = 1_000_000
"""Collections of the middle generation between two full ones."""

_TURN_SECONDS = 0.0005
"""Seconds after which a computing thread yields to one that waits."""

_lock = threading.Lock()
_active = 0
"""How many callers use the settings now."""

_defaults = (gc.get_threshold(), sys.getswitchinterval())


@contextmanager
def tuned_interpreter() -> Iterator[None]:
    """Defer full collections and shorten the turns of threads; restore the settings at the end.

    Young objects are collected as usual. Several threads may use it at the same time.
    """
    global _active, _defaults
    with _lock:
        if not _active:
            _defaults = gc.get_threshold(), sys.getswitchinterval()
            gc.set_threshold(*_defaults[0][:2], _RARELY)
            sys.setswitchinterval(min(_TURN_SECONDS, _defaults[1]))
        _active += 1
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if not _active:
                gc.set_threshold(*_defaults[0])
                sys.setswitchinterval(_defaults[1])
