"""Recall as a store grows: latency by stage beside the embedder's, memory, load time, after single writes.

Every recall is a user's: the default configuration, a question not asked before, its project and what is
true now as filters, the graph walked. The embedder alone is timed on the same questions, round by round,
so that both have the same machine.
"""

import gc
import os
import platform
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import hydramem
from benchmarks.filling import PROJECT, fill, passages, questions
from hydramem.core.config import EmbeddingConfig
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder

ROUNDS = 3
WRITES = 100

_WARM = 10

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Questions asked one after the other; all figures are (p50, p95) in milliseconds.

    Attributes:
        embed: The embedder alone, on the same questions, just before.
        recall: The whole of recall.
        stages: Its parts; `text` runs beside `embed` and `vector`.
    """

    embed: Pair
    recall: Pair
    stages: Mapping[str, Pair] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Return how many times the embedding a recall costs, by their medians."""
        return self.recall[0] / self.embed[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a store of one size measured.

    Attributes:
        questions: Asked in each round, no two alike.
        rounds: Rounds with the store as it was filled.
        after_writes: One right after single writes.
        writes: How many those were.
        write_ms: The writes, each embedded and committed.
        fill_seconds: Filling the store, on an earlier run where it was kept; None where nobody noted it.
        snapshot_seconds, snapshot_mb: Loading the snapshot from the graph store, and its memory.
        vectors_mb: Memory that came with the first questions: vectors, filters and what the stores cache.
        rss_mb: Resident memory at the end.
    """

    chunks: int
    nodes: int
    edges: int
    embedder: str
    questions: int
    rounds: tuple[Round, ...]
    after_writes: Round
    writes: int
    write_ms: Pair
    fill_seconds: float | None
    snapshot_seconds: float
    snapshot_mb: float
    vectors_mb: float
    rss_mb: float
    machine: str
    date: str

    @property
    def best(self) -> Round:
        """Return the quickest round: the one that other work on the machine held up least."""
        return min(self.rounds, key=lambda one: one.recall[0])


def measure(
    folder: Path, size: int, *, embedder: str, queries: int, writes: int = WRITES, keep: Path | None = None
) -> Scale:
    """Fill a store and ask it.

    Args:
        folder: A set; its documents are the text, its questions the queries.
        size: Chunks.
        embedder: Of a sample of the chunks, and of the queries.
        queries: Questions a round; fewer where the set has not enough for no two to be alike.
        writes: Single writes before the last round.
        keep: Folder where filled stores are kept; one that is there is not filled again.
    """
    asked = questions(folder)
    random.Random(0).shuffle(asked)
    count = max(1, min(queries, (len(asked) - _WARM) // (ROUNDS + 1)))
    asked = list(islice(cycle(asked), _WARM + count * (ROUNDS + 1)))
    model = choose_embedder(EmbeddingConfig(model=embedder))
    model.embed_query("loads the model, which is not counted")
    with tempfile.TemporaryDirectory() as scratch:
        filled = (keep or Path(scratch)) / f"scale-{size}"
        took = filled.with_suffix(".seconds")
        if not filled.is_dir():
            started = perf_counter()
            fill(Path(scratch) / "filling", passages(folder), size, model)
            took.write_text(str(perf_counter() - started), encoding="ascii")
            shutil.move(Path(scratch) / "filling", filled)
        seconds = float(took.read_text(encoding="ascii")) if took.is_file() else None
        path = Path(shutil.copytree(filled, Path(scratch) / "store"))
        with hydramem.connect(path, embedder=model, project=PROJECT) as memory:
            return _measured(memory, asked, count, size, model, writes, seconds)


def _measured(
    memory: hydramem.Memory,
    asked: Sequence[str],
    count: int,
    size: int,
    model: Embedder,
    single: int,
    fill_seconds: float | None,
) -> Scale:
    before, started = _resident(), perf_counter()
    snapshot = memory._opened.snapshots.of(PROJECT)
    loaded, snapshot_mb = perf_counter() - started, _resident() - before
    parts = [asked[_WARM + count * number :][:count] for number in range(ROUNDS + 1)]
    before = _resident()
    for query in asked[:_WARM]:
        memory.recall(query)
    vectors_mb = _resident() - before
    rounds = tuple(_round(memory, part, model) for part in parts[:ROUNDS])
    notes = [f"Note {number}: {parts[0][number % count]}" for number in range(single)]
    writes = _times(memory.remember, notes)
    return Scale(
        chunks=size,
        nodes=snapshot.size,
        edges=len(snapshot.edges.source),
        embedder=model.fingerprint,
        questions=count,
        rounds=rounds,
        after_writes=_round(memory, parts[ROUNDS], model),
        writes=single,
        write_ms=writes,
        fill_seconds=fill_seconds,
        snapshot_seconds=loaded,
        snapshot_mb=snapshot_mb,
        vectors_mb=vectors_mb,
        rss_mb=_resident(),
        machine=f"{os.cpu_count()} {platform.machine()} cores, load {os.getloadavg()[0]:.1f}",
        date=datetime.now(UTC).date().isoformat(),
    )


def _round(memory: hydramem.Memory, asked: Sequence[str], model: Embedder) -> Round:
    stages: dict[str, list[float]] = {}

    def ask(query: str) -> None:
        for stage, milliseconds in memory.recall(query).milliseconds.items():
            stages.setdefault(stage, []).append(milliseconds)

    # Recalls first: right after writes, they and not the embedder are the first to come.
    recall = _times(ask, asked)
    embed = _times(model.embed_query, asked)
    return Round(
        embed=embed, recall=recall, stages={name: _percentiles(found) for name, found in stages.items()}
    )


def _times(act: Callable[[Any], object], items: Iterable[Any]) -> Pair:
    found = []
    for item in items:
        started = perf_counter()
        act(item)
        found.append((perf_counter() - started) * 1000)
    return _percentiles(found)


def _percentiles(found: Sequence[float]) -> Pair:
    return float(np.percentile(found, 50)), float(np.percentile(found, 95))


def _resident() -> float:
    """Return resident memory in MiB, without what only waits to be given back."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def shown(scale: Scale) -> str:
    """Return the figures as a person reads them."""
    spread = " ".join(f"{one.ratio:.1f}" for one in scale.rounds)
    after = scale.after_writes
    stages = "   ".join(f"{stage} {_pair(found)}" for stage, found in scale.best.stages.items())
    later = "   ".join(f"{stage} {_pair(found)}" for stage, found in after.stages.items())
    return "\n".join(
        [
            f"{scale.chunks:,} chunks, {scale.edges:,} edges; {scale.machine}; milliseconds are p50/p95",
            f"  recall {_pair(scale.best.recall)}   embedder alone {_pair(scale.best.embed)}   "
            f"ratio {scale.best.ratio:.1f} (rounds: {spread})",
            f"    {stages}",
            f"  after {scale.writes} writes {_pair(after.recall)}   embedder alone {_pair(after.embed)}   "
            f"ratio {after.ratio:.1f}   a write {_pair(scale.write_ms)}",
            f"    {later}",
            f"  snapshot loaded in {scale.snapshot_seconds:.2f} s, {scale.snapshot_mb:.0f} MB; "
            f"vectors {scale.vectors_mb:.0f} MB; resident {scale.rss_mb:.0f} MB",
        ]
    )


def _pair(milliseconds: Pair) -> str:
    return f"{milliseconds[0]:.1f}/{milliseconds[1]:.1f}"
