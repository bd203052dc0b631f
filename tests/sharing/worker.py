"""A process that does what it is told: `python -m tests.sharing.worker FOLDER [HOOK]`.

Each line that it reads is a JSON list: what to do, and its arguments. Each line that it writes is the answer.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import hydramem
from hydramem.sharing.client import Client
from hydramem.sharing.wire.channel import Channel
from hydramem.sharing.wire.messages import CallResult
from hydramem.storage.files.owner_note import read_note
from tests.sharing.served import settings


def die_before_the_reply(text: str) -> None:
    """Have this process die when it has done a write, and before the client hears of it."""
    send = Channel.send

    def dying(self: Channel, message: Any) -> None:
        if isinstance(message, CallResult) and text.encode() in bytes(message.value):
            os.kill(os.getpid(), signal.SIGKILL)
        send(self, message)

    Channel.send = dying  # type: ignore[method-assign]


def until_another_owns(memory: Any, number: int, pid: int) -> list[str]:
    """Write and read until another process than the given one owns the store; return what was written."""
    texts: list[str] = []
    while (note := read_note(memory.folder)) is None or note.pid == pid or len(texts) < 3:
        texts.append(f"Worker {number} wrote line {len(texts)} about crate {number * 1000 + len(texts)}.")
        id = memory.remember(texts[-1]).id
        assert memory.get(id).text == texts[-1]
        assert texts[-1] in {hit.text for hit in memory.recall(texts[-1], limit=3).hits}
    return texts


def do(memory: Any, what: str, *given: Any) -> Any:
    """Do one thing; return what JSON holds."""
    match what:
        case "kind":
            owns = isinstance(memory, Client) and memory._opened is not None
            return "owner" if owns else type(memory).__name__
        case "work":
            return until_another_owns(memory, *given)
        case "texts":
            return [row.text for row in memory.memories(limit=1000)]
        case "remember":
            done = memory.remember(given[0])
            return [done.id, done.created]
        case "die before the reply":
            return die_before_the_reply(*given)
        case "close":
            return memory.close()
    raise ValueError(what)


def say(answer: Any) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main(folder: Path, wait_seconds: float) -> None:
    """Open the store, and do what each line says."""
    memory = hydramem.connect(folder, config=settings(wait_seconds))
    say(type(memory).__name__)
    for line in sys.stdin:
        try:
            answer = do(memory, *json.loads(line))
        except Exception as error:  # noqa: BLE001 -- the test says what it expects
            answer = {"error": type(error).__name__, "text": str(error)}
        say(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
