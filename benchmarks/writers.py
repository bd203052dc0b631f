"""Concurrent writers of one memory: how many single calls of `remember` threads make a second, together."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from time import perf_counter, process_time

from hydramem.memory_api.memory import Memory

_names = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Memories a second, and milliseconds of processor time that each took in this process."""

    per_second: float
    cpu_ms: float


def writers(memory: Memory, threads: int, each: int, *, texts: Sequence[str] = ()) -> float:
    """Return how many memories a second some threads remember together, one call a memory.

    Args:
        memory: Where they are stored; jobs that follow are left to its queue.
        threads: How many threads write.
        each: How many memories each thread writes, one after the other.
        texts: What is remembered, at least `threads * each`, no two alike; invented sentences by default.
    """
    return rate(memory, threads, each, texts=texts).per_second


def rate(memory: Memory, threads: int, each: int, *, texts: Sequence[str] = (), kind: str = "note") -> Rate:
    """Return the same with the processor time.

    Args:
        memory, threads, each, texts: As `writers` has them.
        kind: Of the memories: the pair classifier compares notes and no events.
    """
    texts = texts or [_sentence(next(_names)) for _ in range(threads * each)]
    start = threading.Barrier(threads + 1)

    def write(number: int) -> None:
        start.wait()
        for text in texts[number * each : (number + 1) * each]:
            if kind == "event":
                memory.remember(text, kind="event", happened_at="2026-11-01")
            else:
                memory.remember(text)

    with ThreadPoolExecutor(threads) as executor:
        done = [executor.submit(write, number) for number in range(threads)]
        start.wait()
        began, busy = perf_counter(), process_time()
        for one in done:
            one.result()
        seconds, cpu = perf_counter() - began, process_time() - busy
    written = threads * each
    return Rate(per_second=written / seconds, cpu_ms=cpu / written * 1000)


def scaling(
    memory: Memory, *, each: int = 8, rounds: int = 5, texts: Sequence[str] = (), kind: str = "note"
) -> str:
    """Return a sentence on eight writers beside one: writes a second, processor time, and their ratios.

    Rounds of one and of eight take turns, and the best of each counts: other work of the machine disturbs
    both alike.

    Args:
        memory: Where they write.
        each: Memories of a writer in a round of eight; the one writer of the other rounds writes as many.
        rounds: Of each.
        texts: At least `9 * each * rounds`, no two alike; invented sentences by default.
        kind: As `rate` has it.
    """
    alone, eight, left = list[Rate](), list[Rate](), list(texts)
    for _ in range(rounds):
        for found, threads in ((alone, 1), (eight, 8)):
            some, left = left[: threads * each], left[threads * each :]
            found.append(rate(memory, threads, each, texts=some, kind=kind))
            memory.drain()
    one, many = (max(each.per_second for each in rates) for rates in (alone, eight))
    cpu_one, cpu_many = (min(each.cpu_ms for each in rates) for rates in (alone, eight))
    return (
        f"{kind}: 1 writer {one:.1f} a second ({cpu_one:.1f} ms of CPU each), 8 writers {many:.1f} "
        f"({cpu_many:.1f} ms): {many / one:.2f} times as many, {cpu_one / cpu_many:.2f} times as many for "
        "the same CPU"
    )


_WHO = ("Ada", "Bela", "Chidi", "Dana", "Emre", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kofi")
_DOES = ("repaired", "sold", "painted", "described", "lost", "borrowed", "photographed", "weighed", "opened")
_WHAT = (
    "the harbour crane",
    "a violin",
    "the tax form",
    "an old map",
    "the beehive",
    "a telescope",
    "the kiln",
)
_WHERE = ("in Lisbon", "near the mill", "before the storm", "for the museum", "at the depot")


def _sentence(number: int) -> str:
    """Return a sentence of its own for each number."""
    who, does = _WHO[number % len(_WHO)], _DOES[number % len(_DOES)]
    what, where = _WHAT[number % len(_WHAT)], _WHERE[number % len(_WHERE)]
    return f"{who} {does} {what} {where}, says note {number}."
