"""What the hooks of coding agents cost: each event as a process of its own, beside an owner.

Events alternate with `hydramem --version`, so that the machine is the same for both: that is the start of the
interpreter and little more.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.results import table
from hydramem.sharing.owners import stop_owner

PROJECT = "shop"
VERSION = "version"
_FILES = ("parser", "billing", "ledger", "export", "search", "cache", "login", "mailer")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """Times of an event, from the start of its process to its end.

    Attributes:
        p50_ms, p95_ms: Milliseconds.
        cpu_ms: Median of what the process itself computes, in milliseconds; the owner's work is not in it.
        ratio: Median in ratio to that of `hydramem --version`.
        characters: Median length of the answer.
    """

    event: str
    count: int
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    ratio: float
    characters: int


def measure(*, held: int, count: int) -> tuple[EventTime, ...]:
    """Time each event of a session of Claude Code.

    Args:
        held: Memories in the store.
        count: Events of each kind.
    """
    times: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    lengths: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder, _owner(Path(folder) / "store", held) as store:
        for number in range(count + 1):
            for name, raw in _events(Path(folder), number):
                words = ("--version",) if name == VERSION else ("--store", str(store), "hook", "claude-code")
                began, computed = time.perf_counter(), _computed()
                done = subprocess.run(
                    [sys.executable, "-m", "hydramem", *words], input=raw, capture_output=True, check=True
                )
                if number:  # the first of each warms the owner
                    times.setdefault(name, []).append((time.perf_counter() - began) * 1000)
                    cpu.setdefault(name, []).append((_computed() - computed) * 1000)
                    lengths.setdefault(name, []).append(len(done.stdout.decode()))
    base = float(np.median(times[VERSION]))
    return tuple(
        EventTime(
            event=name,
            count=len(found),
            p50_ms=float(np.median(found)),
            p95_ms=float(np.percentile(found, 95)),
            cpu_ms=float(np.median(cpu[name])),
            ratio=float(np.median(found)) / base,
            characters=int(np.median(lengths[name])),
        )
        for name, found in times.items()
    )


def _computed() -> float:
    """Return the seconds of processor that the children of this process have taken, of those that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _owner(store: Path, held: int) -> Iterator[Path]:
    """Fill a store and hold it in the background."""
    texts = [
        f"The module {_FILES[n % len(_FILES)]} {n} was moved to folder {n % 17} in release {n // 8}, and its "
        f"tests cover {n % 90 + 10} percent."
        for n in range(held)
    ]
    try:
        with hydramem.connect(store, project=PROJECT, background=True) as memory:
            for first in range(0, held, 100):
                memory.remember_many([hydramem.MemoryInput(text=text) for text in texts[first : first + 100]])
            memory.drain()
        yield store
    finally:
        stop_owner(store)


def _events(folder: Path, number: int) -> Iterator[tuple[str, bytes]]:
    """Yield the events of a session with one turn, and `hydramem --version`."""
    session = f"s{number}"
    transcript = folder / f"{session}.jsonl"
    asked = f"Where was the module {_FILES[number % len(_FILES)]} {number} moved to?"
    own = {"session_id": session, "cwd": f"/srv/ada/{PROJECT}", "transcript_path": str(transcript)}

    def event(name: str, **fields: object) -> tuple[str, bytes]:
        return name, json.dumps({**own, "hook_event_name": name, **fields}).encode()

    yield VERSION, b""
    yield event("SessionStart", source="startup")
    yield event("UserPromptSubmit", prompt=asked)
    told = f"It is in folder {number % 17}, as the notes of the release say."
    with transcript.open("w", encoding="utf-8") as file:
        for role, text in (("user", asked), ("assistant", told)):
            message = {"role": role, "content": text}
            line = {"type": role, "uuid": f"{role}-{number}", "sessionId": session, "message": message}
            file.write(f"{json.dumps(line)}\n")
    yield event("Stop", last_assistant_message=told)
    yield event("PreCompact", trigger="auto")
    yield event("SessionEnd", reason="other")


def shown(found: tuple[EventTime, ...]) -> str:
    """Return the table of a run."""
    rows = [
        [
            row.event,
            str(row.count),
            f"{row.p50_ms:.0f}",
            f"{row.p95_ms:.0f}",
            f"{row.cpu_ms:.0f}",
            f"{row.ratio:.1f}",
            str(row.characters),
        ]
        for row in found
    ]
    load = os.getloadavg()[0]
    heads = ["event", "count", "p50, ms", "p95, ms", "CPU, ms", "times `--version`", "characters"]
    lines = "\n".join(table(heads, rows))
    return f"{lines}\n\nLoad of the machine: {load:.1f} on {os.cpu_count()} cores.\n"
