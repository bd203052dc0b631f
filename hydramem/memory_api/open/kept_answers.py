"""Answers of reads that compare a whole project, kept for as long as nothing is written."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T")
_MOST = 16
_SECONDS = 60.0
"""How long an answer is kept at most: memories expire without a write."""


class KeptAnswers:
    """The answers of one open store. Safe to use from many threads.

    Args:
        revision: Says how many writes there were; None while vectors of one are still to come, since what is
            found without them is not kept.
    """

    def __init__(self, revision: Callable[[], int | None]) -> None:
        self._revision = revision
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[int, float, object]] = OrderedDict()

    def of(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """Return the answer to a question: the one that is kept, or what `find` returns now.

        Args:
            key: What is asked, with every argument.
            find: Finds the answer, always of the same type for a key.
        """
        revision, at = self._revision(), time.monotonic()
        with self._lock:
            written, since, answer = self._kept.get(key, (None, 0.0, None))
        if revision is not None and revision == written and at - since < _SECONDS:
            return answer  # type: ignore[return-value]  # what `find` returned for this key
        found = find()
        if revision is not None:
            with self._lock:
                self._kept[key] = (revision, at, found)
                self._kept.move_to_end(key)
                while len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return found
