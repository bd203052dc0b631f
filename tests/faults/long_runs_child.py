"""Uses a store for long and measures itself: `python -m tests.faults.long_runs_child CASE FOLDER TIMES`.

Prints one JSON line of counts. Memory is resident memory in MB; Linux only.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import hydramem
from tests.faults.stores import CONFIG, sentence

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SAMPLES = 10
_QUERIES = 40
_LOOKS, _SECONDS_BETWEEN_LOOKS = 6, 0.05


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE / 1e6


def count(part: str) -> int:
    """Return how many descriptors (`fd`) or threads (`task`) this process has.

    It is the least of some looks: a compaction that happens to run has files open for a moment.
    """
    looks = []
    for _ in range(_LOOKS):
        looks.append(len(list(Path(f"/proc/self/{part}").iterdir())))
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return min(looks)


def recall_seconds(memory: hydramem.Memory, rows: int) -> float:
    """Return the CPU time of a recall that three of four exceed.

    A busy machine does not matter to CPU time, and upkeep in the background is in some of the recalls alone.
    """
    step = max(1, rows // _QUERIES)
    taken = []
    for number in range(0, rows, step):
        begun = time.process_time()
        memory.recall(sentence(number), limit=5)
        taken.append(time.process_time() - begun)
    return statistics.quantiles(taken[3:], n=4)[0]


def growth(values: Sequence[float]) -> float:
    """Return how far values rise above the first ones, which loading and warming up have raised."""
    return round(max(values) - max(values[:2]), 1)


def writes(folder: Path, times: int) -> dict[str, float]:
    """Write memories one by one; compare recall with a store that was filled in bulk."""
    memories, descriptors = [], []
    often = min(CONFIG.storage.compact_fragments, times // 25)  # upkeep comes in a short run too
    config = replace(CONFIG, storage=replace(CONFIG.storage, compact_fragments=often))
    with hydramem.connect(folder / "single", config=config) as memory:
        for number in range(times):
            memory.remember(sentence(number), kind="note")
            if (number + 1) % (times // _SAMPLES) == 0:
                memories.append(resident())
                descriptors.append(count("fd"))
        left = memory.drain().left
        single = recall_seconds(memory, times)
        problems = len(memory.doctor().problems)
    with hydramem.connect(folder / "bulk", config=CONFIG) as memory:
        for start in range(0, times, 200):
            rows = range(start, min(times, start + 200))
            memory.remember_many([hydramem.MemoryInput(text=sentence(row), kind="note") for row in rows])
        memory.drain()
        bulk = recall_seconds(memory, times)
    return {
        "writes": times,
        "MB after a fifth": round(max(memories[:2])),
        "MB more": growth(memories),
        "descriptors more": growth(descriptors),
        "recall, times a bulk load's": round(single / bulk, 2),
        "problems": problems + left,
    }


def openings(folder: Path, times: int) -> dict[str, float]:
    """Open a store, use and close it, again and again."""
    memories, descriptors, threads = [], [], []
    for number in range(times):
        with hydramem.connect(folder / "store", config=CONFIG) as memory:
            if number < _SAMPLES:
                memory.remember(sentence(number), kind="note")
            memory.recall(sentence(1))
        if (number + 1) % (times // _SAMPLES) == 0:
            memories.append(resident())
            descriptors.append(count("fd"))
            threads.append(count("task"))
    return {
        "openings": times,
        "MB after a fifth": round(max(memories[:2])),
        "MB more": growth(memories),
        "descriptors more": growth(descriptors),
        "threads more": growth(threads),
    }


if __name__ == "__main__":
    case, folder, times = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    counts = writes(folder, times) if case == "writes" else openings(folder, times)
    sys.stdout.write(json.dumps(counts) + "\n")
