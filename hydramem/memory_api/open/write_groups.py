"""Groups of concurrent calls: one thread stores a group, and calls that arrive meanwhile form the next."""

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from hydramem.core.errors import StoreBusyError

_Member = TypeVar("_Member")

MOST_WAITING = 256
"""Calls that may wait; one more is refused."""

_MOST_TOGETHER = 32
_GATHER_SECONDS = 0.005
"""How long a group waits for the callers of the last one; a single caller never waits."""


@dataclass(slots=True, eq=False)
class _Call(Generic[_Member]):
    member: _Member
    kind: Hashable
    finished: bool = False


class WriteGroups(Generic[_Member]):
    """Forms groups; safe to use from many threads.

    Args:
        wait_seconds: How long a call waits for its turn.
        most_waiting: How many calls may wait.
    """

    def __init__(self, *, wait_seconds: float = 10.0, most_waiting: int = MOST_WAITING) -> None:
        self._changed = threading.Condition()
        self._waiting: list[_Call[_Member]] = []
        self._leader: _Call[_Member] | None = None
        # How many callers there are, by the last group: they are likely to come again at once.
        self._expected = 1
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds

    @property
    def waiting(self) -> int:
        """How many calls wait."""
        with self._changed:
            return len(self._waiting)

    def run(self, member: _Member, kind: Hashable, store: Callable[[Sequence[_Member]], None]) -> None:
        """Have a member stored in a group, by this thread or by another one that leads it.

        Args:
            member: What is to be stored.
            kind: Members of one kind can share a group.
            store: Stores a group, called by the thread that leads it. What it raises, the leader's call
                raises; the others return, and see by their member how it went.

        Raises:
            StoreBusyError: Too many calls wait, or this one waited too long; it is not stored.
        """
        call = _Call(member, kind)
        group: list[_Call[_Member]] = []
        try:
            with self._changed:
                self._join(call)
                leads = self._wait_to_lead(call)
                if leads:
                    self._gather(call, group)
            if leads:
                store([each.member for each in group])
        finally:  # an interrupted call too lets the others go on
            with self._changed:
                self._leave(call, group)

    def _join(self, call: _Call[_Member]) -> None:
        if len(self._waiting) >= self._most_waiting:
            raise StoreBusyError(f"{len(self._waiting)} calls wait to write already; try again later")
        self._waiting.append(call)
        self._changed.notify_all()

    def _wait_to_lead(self, call: _Call[_Member]) -> bool:
        """Wait until a call is stored, or is to lead the next group."""
        deadline = time.monotonic() + self._wait_seconds
        while not call.finished:
            if call in self._waiting:
                if self._leader is None:
                    self._leader = call
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    raise StoreBusyError(
                        f"waited {self._wait_seconds:g} s to write, and {len(self._waiting) - 1} other calls "
                        "wait too; try again later"
                    )
                self._changed.wait(left)
            else:
                self._changed.wait()
        return False

    def _gather(self, leader: _Call[_Member], group: list[_Call[_Member]]) -> None:
        """Take the calls of the next group, the leader's among them, in the order in which they came."""
        if self._expected > 1:
            self._changed.wait_for(lambda: len(self._waiting) >= self._expected, _GATHER_SECONDS)
        alike = [call for call in self._waiting if call is not leader and call.kind == leader.kind]
        chosen = {leader, *alike[: _MOST_TOGETHER - 1]}
        group += (call for call in self._waiting if call in chosen)
        self._waiting = [call for call in self._waiting if call not in chosen]

    def _leave(self, call: _Call[_Member], group: Sequence[_Call[_Member]]) -> None:
        """Release what a call holds: its place in the queue, or its turn and the calls that it led."""
        if call in self._waiting:
            self._waiting.remove(call)
        if self._leader is call:
            for each in group:
                each.finished = True
            self._expected = min(len(group) + len(self._waiting), _MOST_TOGETHER)
            self._leader = None
            self._changed.notify_all()
