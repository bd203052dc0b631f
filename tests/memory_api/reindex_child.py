"""Reindexes a store and is killed at a named point: `python -m tests.memory_api.reindex_child STORE POINT`.

The points: `begun`, `half` (of the rows), `caught-up` (while writers wait), `switched` (the old folder is
still there).
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.vector_rows import Vector

LATE = "A late note that only the last look before the switch finds."


class Fatal(HashEmbedder):
    """Embeds, and at the point `caught-up` kills the process where it is to embed the late note."""

    def __init__(self, point: str) -> None:
        super().__init__(64)
        self.point = point

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Return vectors, unless this is the end."""
        if self.point == "caught-up" and LATE in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)


def report(memory: hydramem.Memory, point: str, done: int, total: int) -> None:
    """Die, or prepare to, once enough rows are done."""
    if point == "begun" or (point == "half" and done >= total / 2):
        os.kill(os.getpid(), signal.SIGKILL)
    if point == "caught-up" and done == total:
        memory.remember(LATE)


def die_once_switched(memory: hydramem.Memory) -> None:
    """Keep the old vectors open, so that they are not deleted, and die when others serve."""
    with memory._opened.reading() as old:
        while memory._opened.space is old:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGKILL)


def main(store: str, point: str) -> None:
    """Reindex until killed."""
    with hydramem.connect(store, config=load_config()) as memory:
        if point == "switched":
            threading.Thread(target=die_once_switched, args=(memory,), daemon=True).start()
        memory._opened.reindex(Fatal(point), progress=lambda done, total: report(memory, point, done, total))


if __name__ == "__main__":
    main(*sys.argv[1:])
