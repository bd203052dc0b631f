"""A night of the gardener at scale: how long, in how much memory, and how long others wait meanwhile.

The memory is a made-up one (`benchmarks.overgrown`), tended without a model. One thread recalls and one
remembers, first alone and then beside the night.
"""

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count, cycle
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

import hydramem
from benchmarks.overgrown import EACH, PROJECT, Engine, grow
from hydramem.ingest.documents.ingest import Progress
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.writer_lock import WriterLock

SIZES = (1_000, 10_000)

_ALONE_SECONDS = 8.0
_RECALL_PAUSE, _REMEMBER_PAUSE = 0.02, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long calls of one kind took, in milliseconds.

    Attributes:
        worst_in: What the night was at in the longest of them; empty without a night.
    """

    calls: int
    p50: float
    p95: float
    longest: float
    worst_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What a phase of the night came to."""

    name: str
    state: str
    seconds: float
    proposals: int
    applied: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NightAtScale:
    """What a night of a made-up memory measured.

    Attributes:
        plan_seconds, apply_seconds: Of all phases but maintain, and of making what they propose.
        peak_mb: The most memory that the process held, opening and the other threads included.
        longest_hold_ms: The longest time that the night had the writer lock.
        hold_in: What it was at then.
        over_50_ms: Holds that took longer than that, of how many.
        waits: Of calls alone and beside the night, by name.
    """

    entities: int
    relations: int
    engine: str
    state: str
    seconds: float
    plan_seconds: float
    apply_seconds: float
    phases: tuple[Phase, ...]
    peak_mb: float
    longest_hold_ms: float
    hold_in: str
    over_50_ms: int
    holds: int
    waits: Mapping[str, Waits]


def measure(
    entities: int, *, engine: Engine = "ladybug", keep: Path | None = None, alone: bool = False
) -> NightAtScale:
    """Tend a made-up memory for a night, in a process of its own.

    Args:
        entities: How many; with five relations for each.
        engine: Of the graph.
        keep: Folder where filled stores are kept; one that is there is not filled again.
        alone: Leave out the threads that recall and remember.
    """
    with tempfile.TemporaryDirectory() as scratch:
        filled = (keep or Path(scratch)) / f"grown-{engine}-{entities}"
        if not filled.is_dir():
            _apart(grow, Path(scratch) / "filling", entities, engine=engine)
            shutil.move(Path(scratch) / "filling", filled)
        store = shutil.copytree(filled, Path(scratch) / "store")
        night: NightAtScale = _apart(_night, Path(store), entities, engine, alone)
        return night


def _apart(work: Callable[..., Any], *given: object, **options: object) -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *given, **options).result()


@dataclass(slots=True)
class _Doing:
    """What the night is at."""

    what: str = ""

    def told(self, progress: Progress) -> None:
        self.what = progress.what


@dataclass(slots=True)
class _Holds:
    """How long the thread that made it had a writer lock each time, in milliseconds, and what it did."""

    doing: _Doing
    found: list[tuple[float, str]] = field(default_factory=list)
    _thread: int = field(default_factory=threading.get_ident)
    _depth: int = 0
    _since: float = 0.0

    def watch(self, lock: WriterLock) -> None:
        """Note each time that the lock is taken and given back from now on."""
        acquire, release = lock.acquire, lock.release

        def acquire_and_note(*given: Any, **named: Any) -> bool:
            got = acquire(*given, **named)
            if got and threading.get_ident() == self._thread:
                if not self._depth:
                    self._since = perf_counter()
                self._depth += 1
            return got

        def release_and_note() -> None:
            if threading.get_ident() == self._thread:
                self._depth -= 1
                if not self._depth:
                    self.found.append((1000 * (perf_counter() - self._since), self.doing.what))
            release()

        vars(lock).update(acquire=acquire_and_note, release=release_and_note)


@dataclass(slots=True)
class _Others:
    """Threads that use the memory, and how long each of their calls took."""

    doing: _Doing
    took: dict[str, list[tuple[float, str]]] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def busy(self, calls: Mapping[str, tuple[Callable[[], object], float]]) -> Iterator[None]:
        """Have a thread for each call make it again and again while this lasts."""
        threads = [
            threading.Thread(target=self._repeat, args=(name, call, pause), daemon=True)
            for name, (call, pause) in calls.items()
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _repeat(self, name: str, call: Callable[[], object], pause: float) -> None:
        took = self.took.setdefault(name, [])
        while not self._stop.is_set():
            began, what = perf_counter(), self.doing.what
            call()
            took.append((1000 * (perf_counter() - began), what or self.doing.what))
            sleep(pause)

    def waits(self) -> dict[str, Waits]:
        """Return how long calls took, by name; the first few of each, which find nothing in memory, apart."""
        return {name: _waits(took[3:] or took) for name, took in self.took.items() if took}


def _waits(took: Sequence[tuple[float, str]]) -> Waits:
    milliseconds = [one for one, _ in took]
    longest, what = max(took)
    return Waits(
        calls=len(took),
        p50=float(np.percentile(milliseconds, 50)),
        p95=float(np.percentile(milliseconds, 95)),
        longest=longest,
        worst_in=what,
    )


def _night(path: Path, entities: int, engine: Engine, alone: bool) -> NightAtScale:
    default = hydramem.Config()
    config = replace(default, storage=replace(default.storage, graph=engine))
    doing = _Doing()
    with hydramem.connect(path, config=config, embedder=HashEmbedder(), project=PROJECT) as memory:
        holds = _Holds(doing)
        holds.watch(memory._opened.mirror.one_writer)
        calls = {} if alone else _calls(memory)
        before, beside = _Others(doing), _Others(doing)
        if calls:
            with before.busy(calls):
                sleep(_ALONE_SECONDS)
        holds.found.clear()
        with beside.busy(calls):
            report = memory.garden(progress=doing.told)[0]
    upkeep = sum(one.seconds for one in report.phases if one.phase == "maintain")
    looked = sum(one.seconds for one in report.phases) - upkeep
    longest, hold_in = max(holds.found, default=(0.0, ""))
    waits = {f"{name} alone": one for name, one in before.waits().items()}
    return NightAtScale(
        entities=entities,
        relations=EACH * entities,
        engine=engine,
        state=report.state,
        seconds=report.seconds,
        plan_seconds=looked,
        apply_seconds=report.seconds - looked - upkeep,
        phases=tuple(
            Phase(
                name=one.phase,
                state=one.state,
                seconds=one.seconds,
                proposals=one.proposals,
                applied=one.applied,
            )
            for one in report.phases
        ),
        peak_mb=_peak_mb(),
        longest_hold_ms=longest,
        hold_in=hold_in,
        over_50_ms=sum(one > 50 for one, _ in holds.found),
        holds=len(holds.found),
        waits=waits | {f"{name} beside": one for name, one in beside.waits().items()},
    )


def _calls(memory: hydramem.Memory) -> dict[str, tuple[Callable[[], object], float]]:
    """Return a recall that asks for another thing each time, and a remember that tells another."""
    names = [row.name for row in memory.entities(limit=200)]
    asked, told, numbers = cycle(names), cycle(names[::-1]), count()
    return {
        "recall": (lambda: memory.recall(f"who knows {next(asked)}?"), _RECALL_PAUSE),
        "remember": (
            lambda: memory.remember(f"{next(told)} was seen on day {next(numbers)}."),
            _REMEMBER_PAUSE,
        ),
    }


def _peak_mb() -> float:
    """Return the most memory that this program has held; `ru_maxrss` would count who started it too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
