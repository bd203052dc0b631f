"""A process that remembers on PostgreSQL until its input ends, and repeats what was not acknowledged.

`python -m tests.storage.postgres.retrying_child FOLDER NAME` writes a line for each memory that is
acknowledged: its number, its id, and when.
"""

import sys
import threading
import time
from pathlib import Path

from hydramem.core.errors import StorageError
from hydramem.core.results.write_results import Remembered
from hydramem.memory_api.memory import Memory, connect
from hydramem.operations import OPERATIONS, call
from tests.memory_api.postgres_child import memory_text, settings

REMEMBER = next(row for row in OPERATIONS if row.name == "remember")
SCHEMA = "hydramem"


def remembered(memory: Memory, name: str, number: int) -> str:
    """Remember a text in the name of a request until that is acknowledged; return its id."""
    arguments = {"text": memory_text(name, number)}
    while True:
        try:
            kept = call(memory, REMEMBER, arguments, actor="cli", request=f"{name}-{number}")
        except StorageError:
            time.sleep(0.05)
            continue
        assert isinstance(kept, Remembered)
        return kept.id


def main() -> None:
    folder, name = sys.argv[1:]
    stopped = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    with connect(Path(folder), project="p", config=settings(SCHEMA)) as memory:
        number = 0
        while not stopped.is_set():
            id = remembered(memory, name, number)
            sys.stdout.write(f"{number} {id} {time.monotonic()}\n")
            sys.stdout.flush()
            number += 1


if __name__ == "__main__":
    main()
