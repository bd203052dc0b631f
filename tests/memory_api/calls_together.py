"""Runs calls of a memory so that they become one group."""

import contextvars
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hydramem.core.errors import HydraMemError
from hydramem.memory_api.memory import Memory
from tests.waiting import wait_for


def together(memory: Memory, calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run calls as one group, in their order; an error is returned instead of a result.

    A first call holds the turn until all of the others wait.
    """
    groups, release = memory._opened.groups, threading.Event()

    def outcome(run: Callable[[], Any]) -> Any:
        try:
            return run()
        except HydraMemError as error:
            return error

    with ThreadPoolExecutor(len(calls) + 1) as executor:
        holder = executor.submit(groups.run, None, "held", lambda members: release.wait(60))
        wait_for(lambda: groups._leader is not None)
        futures = []
        for number, each in enumerate(calls, 1):
            futures.append(executor.submit(contextvars.Context().run, outcome, each))
            wait_for(lambda number=number: groups.waiting == number)
        release.set()
        holder.result(60)
        return [future.result(60) for future in futures]
