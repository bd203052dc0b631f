"""How many requests a caller may make: a token bucket for the rate, and a count of those that run.

https://en.wikipedia.org/wiki/Token_bucket
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MOST_CALLERS = 10_000


@dataclass(slots=True)
class _Caller:
    left: float
    at: float
    running: int = 0
    streams: int = 0

    @property
    def is_idle(self) -> bool:
        return not (self.running or self.streams)


class Limits:
    """The limits of every caller of a server. Not safe to use from several threads: the event loop's own.

    Args:
        per_minute: Requests a minute, and how many may come at once; 0 is without limit.
        concurrent: Requests of one caller that may run at a time, and as many streams that may be open beside
            them; 0 is without limit.
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self, *, per_minute: int, concurrent: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_minute = per_minute
        self.concurrent = concurrent
        self._clock = clock
        self._callers: OrderedDict[str, _Caller] = OrderedDict()

    def wait_for_rate(self, caller: str) -> int:
        """Count a request; return 0, or the seconds after which the caller may try again."""
        if self.per_minute <= 0:
            return 0
        held, now = self._caller(caller), self._clock()
        held.left = min(self.per_minute, held.left + (now - held.at) * self.per_minute / 60)
        held.at = now
        if held.left < 1:
            return max(1, math.ceil((1 - held.left) * 60 / self.per_minute))
        held.left -= 1
        return 0

    def begin(self, caller: str) -> bool:
        """Count a request as running; return whether it may."""
        held = self._caller(caller)
        if 0 < self.concurrent <= held.running:
            return False
        held.running += 1
        return True

    def end(self, caller: str) -> None:
        """Count a request as ended."""
        self._caller(caller).running -= 1

    def begin_stream(self, caller: str) -> bool:
        """Count a stream as open; return whether it may be. Streams last, and keep no request out."""
        held = self._caller(caller)
        if 0 < self.concurrent <= held.streams:
            return False
        held.streams += 1
        return True

    def end_stream(self, caller: str) -> None:
        """Count a stream as closed."""
        self._caller(caller).streams -= 1

    def _caller(self, name: str) -> _Caller:
        held = self._callers.get(name)
        if held is None:
            held = self._callers[name] = _Caller(left=self.per_minute, at=self._clock())
        self._callers.move_to_end(name)
        if len(self._callers) > _MOST_CALLERS:
            idle = next((each for each, one in self._callers.items() if one.is_idle), None)
            if idle is not None:
                del self._callers[idle]
        return held
