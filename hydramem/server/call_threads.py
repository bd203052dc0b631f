"""The threads that run the calls of a server: no caller has more than a share, and who has fewest is next."""

import asyncio
import contextvars
import itertools
import os
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")

_SHARE = min(32, (os.cpu_count() or 1) + 4)
_SHARES = 4
"""Callers that may have their whole share at once; one more still gets the next thread that is free."""


class CallThreads:
    """Runs calls in threads. To be used from one event loop.

    Args:
        share: Calls of one caller that run at a time; further ones wait.
        threads: Calls of all callers that run at a time.
    """

    def __init__(self, *, share: int = _SHARE, threads: int = _SHARES * _SHARE) -> None:
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix="hydramem-call")
        self._share = share
        self._free = threads
        self._running: Counter[str] = Counter()
        # Of each caller, its waiting calls, each with a number that grows.
        self._waiting: dict[str, deque[tuple[int, asyncio.Future[None]]]] = {}
        self._numbers = itertools.count()

    async def run(
        self, caller: str, call: Callable[_P, _T], *given: _P.args, **options: _P.kwargs
    ) -> _T:  # fmt: skip
        """Run a call in a thread and return what it returns; it keeps its thread to its end.

        Args:
            caller: In whose share it runs.
            call: What is run, in the context of this task.
            given, options: Its arguments.
        """
        await self._turn(caller)
        loop, context = asyncio.get_running_loop(), contextvars.copy_context()
        try:
            future = self.executor.submit(context.run, call, *given, **options)  # type: ignore[arg-type]
        except BaseException:
            self._end(caller)
            raise

        def ended(_: Future[_T]) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._end, caller)

        future.add_done_callback(ended)
        return await asyncio.wrap_future(future)

    async def _turn(self, caller: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        entry = next(self._numbers), turn
        self._waiting.setdefault(caller, deque()).append(entry)
        self._give_turns()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(caller, entry)
            else:
                self._end(caller)
            raise

    def _leave(self, caller: str, entry: tuple[int, "asyncio.Future[None]"]) -> None:
        queue = self._waiting[caller]
        queue.remove(entry)
        if not queue:
            del self._waiting[caller]

    def _end(self, caller: str) -> None:
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        self._free += 1
        self._give_turns()

    def _give_turns(self) -> None:
        while self._free:
            waiting = [name for name in self._waiting if self._running[name] < self._share]
            if not waiting:
                return
            caller = min(waiting, key=lambda name: (self._running[name], self._waiting[name][0][0]))
            entry = self._waiting[caller][0]
            self._leave(caller, entry)
            self._running[caller] += 1
            self._free -= 1
            entry[1].set_result(None)
