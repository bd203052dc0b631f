"""What a store costs that another process holds: latency, writers, take-over, short commands.

Owner and clients are processes of their own. Calls in process and through a client alternate on one store,
so that both have the same machine.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import hydramem
from benchmarks.filling import PROJECT, fill, passages
from benchmarks.results import table, where, with_section
from benchmarks.writers import writers
from benchmarks.writes import Pair, sentences
from hydramem.core.config import Config, EmbeddingConfig
from hydramem.llm.choose import choose_embedder

WRITERS = (1, 2, 4, 8)
TITLE = "## Sharing"
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A command from the start of its process to its end, beside an owner; medians.

    Attributes:
        wall_ms, cpu_ms: Milliseconds; CPU is user and system.
        peak_mb: Most memory that it took.
    """

    command: str
    count: int
    wall_ms: float
    cpu_ms: float
    peak_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a number of short commands leave: of the owner before and after, and of themselves."""

    sessions: int
    processes: int
    owner_mb: tuple[float, float]
    descriptors: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """One run; (p50, p95) in milliseconds, in process and through a client.

    Attributes:
        held: Passages in the store.
        count: Calls of each kind.
        bare: A call that does nothing in the owner, through a client.
        written: Memories a second by number of writers, each with a connection of its own.
        take_over: Seconds from the kill of the owner to the first answer to a client: one that has nothing
            loaded, and one that has modules and model loaded.
    """

    held: int
    embedder: str
    count: int
    recall: tuple[Pair, Pair]
    remember: tuple[Pair, Pair]
    bare: Pair
    written: dict[int, float]
    take_over: tuple[float, float]
    starts: tuple[Start, ...]
    left: Left


class Process:
    """A process that runs functions of this module one after the other, as an owner or a client."""

    def __init__(self, folder: Path, embedder: str, *, prepare: Callable[[str], None] | None = None) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        if prepare is not None:
            self.run(prepare, embedder)
        self.kind = self.run(_open, folder, embedder)
        self.pid = self.run(os.getpid)

    def run(self, work: Callable[..., Any], *given: Any) -> Any:
        """Run a function there and return its result."""
        return self._pool.submit(work, *given).result()

    def kill(self) -> None:
        """End it as a crash does."""
        os.kill(self.pid, signal.SIGKILL)
        self._pool.shutdown()

    def end(self) -> None:
        """Close the store and end it."""
        self.run(_close)
        self._pool.shutdown()


def measure(data: Path, *, held: int, count: int, each: int, sessions: int, embedder: str) -> Sharing:
    """Measure all of it on one store.

    Args:
        data: Folder of the sets, whose text fills the store.
        held: Passages to begin with.
        count: Calls of each kind.
        each: Memories that each writer writes.
        sessions: Short commands, half of them `recall` and half `remember`.
        embedder: Makes the vectors.
    """
    model = choose_embedder(EmbeddingConfig(model=embedder))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "store"
        first = next(path.parent for path in sorted(data.glob("*/docs.jsonl")))
        fill(folder, passages(first), held, model)
        texts = sentences(data, 4 * count + sum(WRITERS) * each)
        random.Random(held).shuffle(texts)
        owner = Process(folder, embedder)
        client = Process(folder, embedder)
        assert (owner.kind, client.kind) == ("Memory", "Client")
        recall = _alternating(owner, client, "recall", texts[: 2 * count])
        remember = _alternating(owner, client, "remember", texts[2 * count : 4 * count])
        bare = client.run(_bare, count)
        written, rest = {}, texts[4 * count :]
        for number in WRITERS:
            own, rest = rest[: number * each], rest[number * each :]
            written[number] = client.run(_written, number, each, own)
        client.end()
        over, last = _take_overs(folder, embedder, owner)
        starts, left = _sessions(folder, last.pid, sessions)
        last.end()
    return Sharing(
        held=held,
        embedder=model.fingerprint,
        count=count,
        recall=recall,
        remember=remember,
        bare=bare,
        written=written,
        take_over=over,
        starts=starts,
        left=left,
    )


def _take_overs(folder: Path, embedder: str, owner: Process) -> tuple[tuple[float, float], Process]:
    """Kill the owner beside a client that has nothing loaded, then that one beside a client that has."""
    seconds = []
    for prepare in (None, _load):
        client = Process(folder, embedder, prepare=prepare)
        client.run(_recalls, ["Where is the harbour?"])
        owner.kill()
        began = time.perf_counter()
        client.run(_recalls, ["Who leads the billing team?"])
        seconds.append(time.perf_counter() - began)
        owner = client
    return (seconds[0], seconds[1]), owner


def _alternating(owner: Process, client: Process, operation: str, texts: Sequence[str]) -> tuple[Pair, Pair]:
    """Time calls in process and through a client in turns, each with texts of its own."""
    times: dict[Process, list[float]] = {owner: [], client: []}
    work = {"recall": _recalls, "remember": _remembers}[operation]
    for process in (owner, client):
        process.run(work, [f"The first {operation} loads what the others need in {process.kind}."])
    parts = iter(np.array_split(np.array(texts, dtype=object), 2 * _ROUNDS))
    for turn in range(_ROUNDS):
        for process in (owner, client) if turn % 2 else (client, owner):
            times[process] += process.run(work, next(parts).tolist())
    return _pair(times[owner]), _pair(times[client])


def _sessions(folder: Path, owner: int, count: int) -> tuple[tuple[Start, ...], Left]:
    """Run short commands beside an owner; return what they cost and what they leave."""
    process = psutil.Process(owner)
    commands = {"recall": "Who leads the billing team?", "remember": "Session {} was short."}
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for name in commands:  # loads what the others need
        _command([name, "The first session.", "--store", str(folder), "--project", PROJECT])
    before = (process.memory_info().rss / 1e6, process.num_fds())
    for number in range(count):
        name = list(commands)[number % 2]
        words = [name, commands[name].format(number), "--store", str(folder), "--project", PROJECT]
        found[name].append(_command(words))
    after = (process.memory_info().rss / 1e6, process.num_fds())
    named = [each for each in psutil.process_iter() if _names(each, str(folder))]
    starts = tuple(
        Start(command=name, count=len(rows), wall_ms=wall, cpu_ms=cpu, peak_mb=peak)
        for name, rows in found.items()
        for wall, cpu, peak in [np.median(np.array(rows), axis=0).tolist()]
    )
    left = Left(
        sessions=count,
        processes=len(named),
        owner_mb=(before[0], after[0]),
        descriptors=(before[1], after[1]),
    )
    return starts, left


# The system counts the memory of the process that starts another as that one's own: this one is small.
_STARTER = """
import json, os, sys, time
began = time.perf_counter()
child = os.posix_spawn(sys.executable, [sys.executable, "-m", "hydramem", *sys.argv[1:]], os.environ)
status, usage = os.wait4(child, 0)[1:]
wall, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), wall * 1000, cpu * 1000, usage.ru_maxrss]))
"""
_RSS_BYTES = 1 if sys.platform == "darwin" else 1024


def _command(words: Sequence[str]) -> tuple[float, float, float]:
    """Run a command; return milliseconds of wall and CPU, and megabytes."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _STARTER, *words], capture_output=True, text=True, check=True
    )
    code, wall, cpu, peak = json.loads(done.stdout.splitlines()[-1])
    if code:
        raise RuntimeError(f"hydramem {' '.join(words)} ended with {code}: {done.stderr}")
    return wall, cpu, peak * _RSS_BYTES / 1e6


def _names(process: psutil.Process, folder: str) -> bool:
    try:
        return folder in process.cmdline()
    except psutil.Error:
        return False


# In the processes ---------------------------------------------------------------------------------
_memory: Any = None


def _open(folder: Path, embedder: str) -> str:
    global _memory
    config = Config(embedding=EmbeddingConfig(model=embedder))
    _memory = hydramem.connect(folder, project=PROJECT, config=config)
    return type(_memory).__name__


def _load(embedder: str) -> None:
    """Load modules and model, as a process that had the store before has them."""
    with tempfile.TemporaryDirectory() as scratch:
        _open(Path(scratch), embedder)
        _remembers(["Ada leads the billing team."])
        _recalls(["Who leads the billing team?"])
        _close()


def _close() -> None:
    _memory.close()


def _recalls(queries: Sequence[str]) -> list[float]:
    return list(_timed(_memory.recall, queries))


def _remembers(texts: Sequence[str]) -> list[float]:
    found = list(_timed(_memory.remember, texts))
    _memory.drain()
    return found


def _bare(count: int) -> Pair:
    """Time a call that the owner answers from memory."""
    return _pair(list(_timed(lambda _: _memory.config, [""] * count)))


def _written(number: int, each: int, texts: Sequence[str]) -> float:
    found = writers(_memory, number, each, texts=texts)
    _memory.drain()
    return found


def _timed(act: Callable[[str], object], items: Sequence[str]) -> Iterator[float]:
    for item in items:
        began = time.perf_counter()
        act(item)
        yield (time.perf_counter() - began) * 1000


def _pair(times: Sequence[float]) -> Pair:
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


# The section of the results page ------------------------------------------------------------------
_INTRODUCTION = (
    "What it costs to use a store through the process that holds it (`python -m benchmarks sharing`).",
    "Times are p50 / p95 in milliseconds; in process and through a client alternate on one store.",
)


def shown(found: Sharing) -> str:
    """Return the figures as Markdown."""
    rows = [
        ("`recall`", *_both(found.recall)),
        ("`remember`", *_both(found.remember)),
        ("a call that does nothing", "", _shown(found.bare), ""),
    ]
    writing = [
        (count, f"{rate:.1f}", f"{rate / found.written[1]:.2f}") for count, rate in found.written.items()
    ]
    started = [
        (
            f"`hydramem {each.command}`",
            each.count,
            f"{each.wall_ms:.0f}",
            f"{each.cpu_ms:.0f}",
            f"{each.peak_mb:.0f}",
        )
        for each in found.starts
    ]
    left, cold, warm = found.left, *found.take_over
    return "\n".join(
        [
            *table(("call", "in process", "through a client", "p50 added"), rows),
            "",
            *table(("writers", "memories a second", "times one writer"), writing),
            "",
            *table(("command beside an owner", "runs", "wall ms", "CPU ms", "peak MB"), started),
            "",
            f"From the kill of the owner to the first answer: {warm:.2f} s by a client that has modules and",
            f"model loaded, {cold:.2f} s by one that has not. After {left.sessions} short commands",
            f"{left.processes} of their processes remain; the owner has {left.owner_mb[0]:.0f} MB before and "
            f"{left.owner_mb[1]:.0f} after, and {left.descriptors[0]} descriptors before and "
            f"{left.descriptors[1]} after.",
        ]
    )


def placed(page: str, found: Sharing) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = (
        f"{found.held:,} passages, {found.count} calls of each kind, embedder {found.embedder}. Measured "
        f"{about['date']} on {about['machine']}."
    )
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(found), "", made])


def _both(times: tuple[Pair, Pair]) -> tuple[str, str, str]:
    return _shown(times[0]), _shown(times[1]), f"{times[1][0] - times[0][0]:+.1f}"


def _shown(times: Pair) -> str:
    return f"{times[0]:.1f} / {times[1]:.1f}"
