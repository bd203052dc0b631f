"""What the processes of a run do: commits, recalls and searches, each in a process of its own."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import hydramem
from benchmarks.filling import PROJECT
from hydramem.core.config import Config
from hydramem.core.ids import passage_id
from hydramem.core.row_types import Chunk, Mention, Times
from hydramem.core.time import now
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.write import Write

_memory: Any = None

Span = tuple[float, float, list[float]]
"""When the first call began and the last one ended, by the clock, and milliseconds of each."""


class Worker:
    """A process that runs functions of this module one after the other.

    Args:
        folder, config: The store, and its settings.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        self.run(_open, folder, config)

    def run(self, work: Callable[..., Any], *given: Any) -> Any:
        """Run a function there and return its result."""
        return self.begin(work, *given).result()

    def begin(self, work: Callable[..., Any], *given: Any) -> Any:
        """Begin to run a function there; return its future."""
        return self._pool.submit(work, *given)

    def end(self) -> None:
        """Close the store and end the process."""
        self.run(_close)
        self._pool.shutdown()


def _open(folder: Path, config: Config) -> None:
    global _memory
    _memory = hydramem.connect(folder, project=PROJECT, config=config)


def _close() -> None:
    _memory.close()


def commits(each: int, project: str) -> Span:
    """Commit memories whose vectors are made: what one `remember` writes, without what decides on it."""
    mirror = _memory._opened.mirror
    known = _entities()
    draw = np.random.default_rng(os.getpid() + time.time_ns() % 1_000_000)
    dimension = _memory._opened.vectors.dimension
    found, began = [], time.time()
    for _ in range(each):
        write, vectors = _one(draw, known, dimension, project)
        started = time.perf_counter()
        mirror.commit(write, vectors)
        found.append((time.perf_counter() - started) * 1000)
    return began, time.time(), found


def threads_commit(threads: int, each: int, project: str) -> Span:
    """Commit from several threads of this process."""
    start = threading.Barrier(threads)

    def work() -> Span:
        start.wait()
        return commits(each, project)

    with ThreadPoolExecutor(threads) as executor:
        spans = [one.result() for one in [executor.submit(work) for _ in range(threads)]]
    return together(spans)


def together(spans: Sequence[Span]) -> Span:
    """Return the span of several that ran at once."""
    return min(one[0] for one in spans), max(one[1] for one in spans), [ms for one in spans for ms in one[2]]


def _entities() -> list[str]:
    from hydramem.storage.store import Listing

    return [row.id for row in _memory._opened.graph.list_entities(PROJECT, Listing(limit=500))]


def _one(
    draw: np.random.Generator, known: Sequence[str], dimension: int, project: str
) -> tuple[Write, dict[str, Any]]:
    numbers = draw.integers(0, 50_000, 12)
    text = f"Note {draw.integers(1 << 60)}: " + " ".join(f"term{number}" for number in numbers)
    chunk = Chunk(
        id=passage_id("note", 0, text),
        project=project,
        text=text,
        kind="note",
        times=Times(recorded_at=now()),
        vector_state="ready",
    )
    named = draw.choice(len(known), 2, replace=False)
    write = Write(
        changes=(record("remember", project=project, target=chunk.id),),
        chunks=(chunk,),
        mentions=tuple(Mention(chunk=chunk.id, entity=known[place]) for place in named),
    )
    vector = draw.standard_normal(dimension).astype(np.float32)
    return write, {chunk.id: vector / np.linalg.norm(vector)}


def recalls(queries: Sequence[str]) -> Span:
    """Recall the answers of questions."""
    found, began = [], time.time()
    for query in queries:
        started = time.perf_counter()
        _memory.recall(query)
        found.append((time.perf_counter() - started) * 1000)
    return began, time.time(), found


def hits(queries: Sequence[str], limit: int) -> list[tuple[str, ...]]:
    """Return the ids of what each question finds, best first."""
    return [tuple(hit.id for hit in _memory.recall(query, limit=limit).hits) for query in queries]


def stages(queries: Sequence[str]) -> dict[str, float]:
    """Return the median milliseconds of each stage of recall."""
    found: dict[str, list[float]] = {}
    for query in queries:
        for name, took in _memory.recall(query).milliseconds.items():
            found.setdefault(name, []).append(took)
    return {name: float(np.median(took)) for name, took in found.items()}


def approximate(vectors: Any, index_rows: int) -> tuple[float, list[float]]:
    """Build the vector index; return the share of the exact 20 nearest that it finds, and milliseconds."""
    from dataclasses import replace

    from hydramem.storage.postgres.vectors.vectors import open_vectors

    store = _memory._opened
    where = ChunkFilter(projects=(PROJECT,))
    exact = [{hit.id for hit in store.vectors.nearest(vector, where, 20)} for vector in vectors]
    settings = replace(store.config.storage, index_rows=index_rows)
    indexed = open_vectors(store.graph.database, store.space.folder, store.vectors.dimension, settings)
    indexed.maintain(force=True)
    if not indexed.stats().indexed:
        raise RuntimeError("the vector index was not built")
    found, took = 0, []
    for vector, wanted in zip(vectors, exact, strict=True):
        started = time.perf_counter()
        found += len(wanted & {hit.id for hit in indexed.nearest(vector, where, 20)})
        took.append((time.perf_counter() - started) * 1000)
    return found / sum(map(len, exact)), took
