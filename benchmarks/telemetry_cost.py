"""What telemetry costs a call: the same recalls with it and without it, in turns, and the note alone.

Times are of processor time of the process, its background thread included, since a busy machine changes the
time on the wall by more than telemetry takes.
"""

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, thread_time

import hydramem
from hydramem.core.config import TelemetryConfig
from hydramem.core.settings.config_loading import load_config
from hydramem.memory_api.memory import Memory

_WORDS = 400
_SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryCost:
    """Figures of a run.

    Attributes:
        off_ms, on_ms: Median milliseconds of processor time that the calling thread spends on a recall.
        off_wall_ms, on_wall_ms: Median milliseconds on the wall.
        added: Median of `on_ms` less `off_ms`, of pairs of equal recalls, as a share of `off_ms`.
        note_us: Microseconds of processor time of the note of one call, by itself.
        write_us: Microseconds of processor time, for each call, of writing a batch to the file.
    """

    memories: int
    recalls: int
    off_ms: float
    on_ms: float
    off_wall_ms: float
    on_wall_ms: float
    added: float
    note_us: float
    write_us: float


def measure(memories: int, recalls: int, embedder: str) -> TelemetryCost:
    """Fill two stores alike, one with telemetry, and ask both the same questions in turns."""
    plain = load_config(environment={"HYDRAMEM_EMBEDDING_MODEL": embedder})
    silent = replace(plain, telemetry=TelemetryConfig(enabled=False))
    texts = _texts(memories)
    with (
        tempfile.TemporaryDirectory() as folder,
        hydramem.connect(Path(folder) / "off", config=silent) as off,
        hydramem.connect(Path(folder) / "on", config=plain) as on,
    ):
        for memory in (off, on):
            memory.remember_many([hydramem.MemoryInput(text=text) for text in texts])
            memory.drain()
        return _compared(off, on, texts[:recalls], memories)


def _compared(off: Memory, on: Memory, queries: Sequence[str], memories: int) -> TelemetryCost:
    times: dict[str, list[tuple[float, float]]] = {"off": [], "on": []}
    for place, query in enumerate((*queries[:5], *queries)):
        pair = (("off", off), ("on", on))
        for name, memory in pair if place % 2 else pair[::-1]:
            began, wall = thread_time(), perf_counter()
            memory.recall(query)
            times[name].append(((thread_time() - began) * 1000, (perf_counter() - wall) * 1000))
    off_times, on_times = times["off"][5:], times["on"][5:]  # the first ones load what the others use
    added = median(one[0] - other[0] for one, other in zip(on_times, off_times, strict=True))
    off_ms = median(each[0] for each in off_times)
    note, write = _alone(on, queries[0])
    return TelemetryCost(
        memories=memories,
        recalls=len(queries),
        off_ms=off_ms,
        on_ms=median(each[0] for each in on_times),
        off_wall_ms=median(each[1] for each in off_times),
        on_wall_ms=median(each[1] for each in on_times),
        added=added / off_ms,
        note_us=note,
        write_us=write,
    )


def _alone(memory: Memory, query: str, calls: int = 200) -> tuple[float, float]:
    """Return the microseconds of one note, and of writing one call of a batch."""
    from hydramem.telemetry.observed_results import observed

    telemetry, found = memory._opened.telemetry, memory.recall(query)
    telemetry.flush()
    began = process_time()
    for _ in range(calls):
        telemetry.note("recall", "python", "", 1.0, observed(found, asked=True))
    noted = process_time()
    telemetry.flush()
    written = process_time()
    return (noted - began) / calls * 1e6, (written - noted) / calls * 1e6


def _texts(count: int) -> list[str]:
    drawn = random.Random(_SEED)
    names = [f"Name{place}" for place in range(_WORDS)]
    return [
        f"{drawn.choice(names)} moved the service {place} to {drawn.choice(names)}." for place in range(count)
    ]
