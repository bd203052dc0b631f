"""Runs every pattern on its attacks, in a process of its own, and prints what is worse than linear.

CPU time is compared between a length and four times it: linear is 4, quadratic is 16. A text that takes next
to no time at the shorter length cannot be quadratic; the others are measured again, the best of several.
"""

import json
import math
import re
import signal
import sys
import time
from collections import deque

from tests.patterns.attacks import ENDS, attacks
from tests.patterns.compiled import Compiled, compiled

_LENGTH = 2000
_QUICK = 2e-7
"""Seconds a character: a quadratic pattern takes 1e-6 and more at `_LENGTH`."""
_WORST = 8.0
_LIMIT = 20.0
"""Seconds by the clock, not of CPU: a timer of CPU time makes the measure coarse."""
_HOPELESS = 0.25
_TRIES = 8


class _TooLongError(Exception):
    pass


def main() -> None:
    """Print the slow patterns and the sites without a pattern as JSON."""
    signal.signal(signal.SIGALRM, _stop)
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    patterns, unseen = compiled()
    chosen = [each for each in patterns if only in each.file]
    slow = [found for each in chosen if (found := worst(each))]
    json.dump(
        {"patterns": len(chosen), "slow": slow, "unseen": [f"{site.file}:{site.first}" for site in unseen]},
        sys.stdout,
    )


def worst(one: Compiled) -> str:
    """Return what makes a pattern worse than linear, or nothing."""
    for prefix, body in attacks(one.pattern):
        for end in ENDS:
            short, long = (_text(prefix, body, length) + end for length in (_LENGTH, 4 * _LENGTH))
            if _seconds(one, short) < _QUICK * len(short) or _growth(one, short, long) < _WORST:
                continue
            return f"{one.file}:{one.line} {prefix[:20]!r} {body[:20]!r} {end!r}"
    return ""


def _text(prefix: str, body: str, length: int) -> str:
    return prefix + (body * (length // len(body) + 1))[:length]


def _growth(one: Compiled, short: str, long: str) -> float:
    """Return how many times longer the long text takes: measured again before it is believed."""
    least = [_seconds(one, short)]
    if least[0] > _HOPELESS:
        return math.inf
    least.append(_seconds(one, long))
    for _ in range(_TRIES):
        if least[1] < _WORST * least[0]:
            break
        # On a busy machine a single run takes several times too long: the quickest of each counts.
        least = [min(least[0], _seconds(one, short)), min(least[1], _seconds(one, long))]
    return least[1] / least[0]


def _seconds(one: Compiled, text: str) -> float:
    started = time.process_time()
    signal.setitimer(signal.ITIMER_REAL, _LIMIT)
    try:
        for method in one.methods:
            found = getattr(one.pattern, method)(text)
            if method == "finditer":
                deque(found, maxlen=0)
    except _TooLongError:
        return _LIMIT
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return max(time.process_time() - started, 1e-9)


def _stop(*_: object) -> None:
    raise _TooLongError


def is_linear(pattern: str) -> bool:
    """Say whether a pattern by itself is linear: the measure is tried on patterns whose answer is known."""
    signal.signal(signal.SIGALRM, _stop)
    return not worst(Compiled(re.compile(pattern), "", 0, ("finditer",)))


if __name__ == "__main__":
    main()
