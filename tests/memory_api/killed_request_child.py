"""Carries out a request and dies after its commit.

`python -m tests.memory_api.killed_request_child STORE OPERATION` reads the arguments as JSON. It ends without
an answer, as a process that is killed does.
"""

import json
import os
import signal
import sys

import hydramem
from hydramem.core.inputs import SaidTurn
from hydramem.operations import OPERATIONS, call
from hydramem.storage.write import Write


def die(write: Write) -> None:
    """Kill this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    store, name = sys.argv[1:]
    arguments = json.load(sys.stdin)
    if "turns" in arguments:
        arguments["turns"] = [SaidTurn(**turn) for turn in arguments["turns"]]
    with hydramem.connect(store) as memory:
        memory._opened.mirror._committed = die
        operation = next(row for row in OPERATIONS if row.name == name)
        call(memory, operation, arguments, actor="cli", request="r1")
