"""Processes forked from one that has every module loaded, which starts them in a fiftieth of the time.

The parent opens no store: the engines and LanceDB have threads, which a fork does not take along.
"""

import contextlib
import importlib
import json
import os
import random
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import Any

SECONDS = 300  # of a busy machine; what takes longer hangs


def load(modules: Iterable[str]) -> None:
    """Import modules once, instead of in each forked process."""
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LanceDB warns of forks
        return os.fork()


def forked(work: Callable[[], object], failure: object = None) -> tuple[int, Any]:
    """Run a function in a process of its own; return how it ended, and what it returned, as JSON holds it.

    Args:
        work: The function; it is ended by SIGALRM where it hangs.
        failure: What is returned where it raised, with the traceback where it is an outcome and its words.
    """
    reading, writing = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        code = 0
        try:
            answer = work()
        except BaseException:  # noqa: BLE001 -- a panic of LanceDB is one
            code, answer = 1, traceback.format_exc()[-3000:]
            if isinstance(failure, tuple):
                code, answer = 0, (failure[0], [answer])
        with os.fdopen(writing, "w") as file:
            json.dump(answer, file)
            file.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(text) if text else None


def killed(
    work: Callable[[Callable[..., None]], object], draw: random.Random, steps: int, *, seconds: float = 0.15
) -> list[dict[str, Any]]:
    """Run a function in a process of its own and kill it; return the steps that it had named by then.

    Args:
        work: Is given what names a step, and tells it to the parent at once.
        draw: Chooses when: a moment after one of the steps.
        steps: Most steps.
        seconds: The longest moment.
    """
    reading, writing = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

        def say(**step: object) -> None:
            os.write(writing, (json.dumps(step) + "\n").encode())

        try:
            work(say)
        except BaseException:  # noqa: BLE001
            say(failed=traceback.format_exc()[-3000:])
        os._exit(0)
    os.close(writing)
    wanted, said = draw.randint(1, steps), []
    with os.fdopen(reading) as file:
        while len(said) < wanted and (line := file.readline()):
            said.append(json.loads(line))
        time.sleep(draw.uniform(0.0, seconds))
        os.kill(child, signal.SIGKILL)
        said.extend(json.loads(line) for line in file if line.endswith("\n"))
    os.waitpid(child, 0)
    return said
