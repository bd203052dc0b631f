"""Waiting for what must happen, however busy the machine is."""

import time
from collections.abc import Callable


def wait_for(is_so: Callable[[], object], what: str = "it did not happen", *, seconds: float = 60) -> None:
    """Wait until something is so; fail with `what` where it is not within seconds."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.01)
