"""What the local page waits for: its calls, the first view in a browser, the end of its server.

The store has memories, entities and changes as one of some years has, and vectors of hashed words. The server
is a process of its own, as `hydramem view` runs it, and requests go over its connection.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import hydramem
from benchmarks import filling
from benchmarks.results import table, where, with_section
from hydramem.core.ids import new_id
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.write import Write

TITLE = "## The local page"
OVERVIEW: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "stats": ("stats", {}),
    "the last changes": ("changes", {"limit": 10}),
    "the newest memories": ("memories", {"limit": 5}),
    "conflicts": ("conflicts", {"limit": 100}),
    "open questions": ("review", {"limit": 1}),
    "quarantined memories": ("memories", {"states": ["quarantined"], "limit": 100}),
    "failed jobs": ("jobs", {"state": "failed", "limit": 100}),
}
"""The rows of the first view, with their arguments as the page gives them."""

_CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
_THINGS = (
    *("harbour", "crane", "ledger", "tide", "gate", "buoy", "ferry", "billing", "release", "deploy", "night"),
    *("guard", "cable", "valve", "pump", "signal", "quay", "cargo", "tariff", "permit", "engine", "rack"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTime:
    """Times of a request, from its first byte to the last one of the answer.

    Attributes:
        what: What was asked.
        count: How many requests.
        first_ms: The first of them, which may read what later ones have at hand.
        p50_ms, p95_ms: Of the others.
    """

    what: str
    count: int
    first_ms: float
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTimes:
    """What was measured.

    Attributes:
        memories, entities, changes: Rows of the store.
        rows: Requests by what they ask.
        first_view_seconds: From opening the address to the last number of the overview, in Chromium: of the
            first page after the start of the server, and of the next one; None without Chromium.
        stop_seconds: From SIGTERM to the end of the process, with a stream and a connection open.
        cores, load: Of the machine, when the measurement began.
    """

    memories: int
    entities: int
    changes: int
    rows: tuple[RowTime, ...]
    first_view_seconds: tuple[float, float] | None
    stop_seconds: float
    cores: int
    load: float


def measure(*, memories: int, entities: int, count: int) -> ViewTimes:
    """Fill a store and time the page's requests to it.

    Args:
        memories: Memories of the store; each has a change of its own.
        entities: Entities of the store.
        count: Requests of each kind.
    """
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        names = fill(store, memories=memories, entities=entities)
        with _served(store) as (process, address):
            first_view = _first_view(address)
            page = _PageRequests(address)
            rows = tuple(_timed(page, names, count))
            page.close()
            stop = _stopped(process, address)
    return ViewTimes(
        memories=memories,
        entities=entities,
        changes=memories,
        rows=rows,
        first_view_seconds=first_view,
        stop_seconds=stop,
        cores=os.cpu_count() or 1,
        load=load,
    )


def fill(store: Path, *, memories: int, entities: int) -> Sequence[str]:
    """Fill a new store; return names of entities, the most mentioned first."""
    chance = random.Random(entities)

    def some() -> str:
        return chance.choice(_THINGS)

    names = [f"{some()} {some()} {number}".title() for number in range(entities)]
    texts = [
        f"{name}\nThe {some()} of the {some()} needs a {some()} and a {some()}. "
        f"Every {some()} is checked by the {some()} team before {some()} {number}."
        for number, name in enumerate(names)
    ]
    filling.fill(store, texts, memories, HashEmbedder(), kind="note")
    with hydramem.connect(store, embedder=HashEmbedder(), project=filling.PROJECT) as memory:
        changes = [
            record(
                "remember",
                project=filling.PROJECT,
                target=f"c_{number}",
                after={"text": name},
                run=new_id("w"),
            )
            for number, name in zip(range(memories), names, strict=False)
        ]
        memory._opened.mirror.commit(Write(changes=tuple(changes)), {})
    return names


class _PageRequests:
    """Requests to the server over one connection, as a tab sends them."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=120)
        self._headers = {
            "Authorization": f"Bearer {parts.fragment.removeprefix('token=')}",
            "Content-Type": "application/json",
            "Origin": f"http://{parts.netloc}",
        }

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def call(self, operation: str, arguments: Mapping[str, object]) -> Any:
        """Call an operation; return its result."""
        body = json.dumps(arguments).encode()
        self._connection.request("POST", f"/api/call/{operation}", body, self._headers)
        answer = json.loads(self._connection.getresponse().read())
        if "error" in answer:
            raise SystemExit(f"{operation}: {answer['error']['message']}")
        return answer["result"]


def _timed(page: _PageRequests, names: Sequence[str], count: int) -> Iterator[RowTime]:
    """Time what the page asks, view by view."""

    def row(what: str, operation: str, asked: Sequence[Mapping[str, object]]) -> RowTime:
        times = []
        for arguments in asked:
            began = time.perf_counter()
            page.call(operation, arguments)
            times.append((time.perf_counter() - began) * 1000)
        later = times[1:] or times
        p50, p95 = np.percentile(later, (50, 95))
        return RowTime(what=what, count=len(times), first_ms=times[0], p50_ms=float(p50), p95_ms=float(p95))

    for what, (operation, arguments) in OVERVIEW.items():
        yield row(what, operation, [arguments] * count)
    ids = [{"id": memory["id"]} for memory in page.call("memories", {"limit": count})]
    yield row("a memory", "get", ids)
    yield row("its history", "history", ids)
    typed = [f"the {thing}"[:end] for thing in _THINGS for end in range(5, len(thing) + 5)]
    asked = [{"query": query, "limit": 20, "explain": True} for query in typed[: 4 * count]]
    yield row("search as you type", "recall", asked)
    around: list[dict[str, object]] = [
        {"center": name, "depth": 1, "limit": 60, "chunks": False} for name in names[:count]
    ]
    yield row("the graph around an entity", "graph", around)
    yield row("the same, as of another day", "graph", [{**one, "as_of": "2024-06-01"} for one in around])
    parts = [{"containing": thing, "limit": 20} for thing in _THINGS]
    yield row("entities by a part of their name", "entities", parts)
    yield row("communities", "communities", [{}] * max(2, count // 10))


@contextmanager
def _served(store: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run the server; yield its process and its address."""
    words = ("--store", str(store), "--project", filling.PROJECT, "view", "--no-open")
    environment = {**os.environ, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
    with subprocess.Popen(
        [sys.executable, "-m", "hydramem", *words], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            if process.stdout is None:
                raise SystemExit("the server has no output")
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def _first_view(address: str) -> tuple[float, float] | None:
    """Open the page twice in a new browser; return the seconds until its numbers are shown."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if not _CHROMIUM.exists():
        return None
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=_CHROMIUM)
        seconds = []
        for _ in range(2):
            page = browser.new_context().new_page()
            began = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.locator(".tiles strong").first.wait_for(timeout=120_000)
            seconds.append(time.perf_counter() - began)
        browser.close()
    return seconds[0], seconds[1]


def _stopped(process: "subprocess.Popen[str]", address: str) -> float:
    """Ask the server to end while a stream and a connection are open; return the seconds until it has."""
    page, watching = _PageRequests(address), _PageRequests(address)
    page._connection.request("POST", "/api/jobs/conflicts", b"{}", page._headers)
    job = json.loads(page._connection.getresponse().read())["job"]
    watching._connection.request("GET", f"/api/jobs/{job}/events", headers=watching._headers)
    stream = watching._connection.getresponse()
    began = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    process.wait(120)
    seconds = time.perf_counter() - began
    stream.close()
    page.close()
    watching.close()
    if process.returncode != 0:
        raise SystemExit(f"the server ended with {process.returncode}")
    return seconds


def shown(found: ViewTimes) -> str:
    """Return the figures as Markdown."""
    rows = [
        (row.what, row.count, f"{row.first_ms:.0f}", f"{row.p50_ms:.0f}", f"{row.p95_ms:.0f}")
        for row in found.rows
    ]
    first = found.first_view_seconds
    views = (
        "not measured: there is no Chromium" if first is None else f"{first[0]:.2f} s, then {first[1]:.2f} s"
    )
    return "\n".join(
        [
            f"{found.memories:,} memories, {found.entities:,} entities, {found.changes:,} changes; "
            f"{found.cores} cores, load {found.load:.1f} at the start.",
            "",
            *table(("request", "count", "first ms", "p50 ms", "p95 ms"), rows),
            "",
            f"First view in Chromium: {views}. SIGTERM with an open stream and a job that runs: "
            f"{found.stop_seconds:.2f} s.",
        ]
    )


def placed(page: str, found: ViewTimes) -> str:
    """Return a results page with the figures in their section."""
    made = f"Measured {where()['date']} on {where()['machine']}."
    about = "`python -m benchmarks view` asks what the page asks, over HTTP."
    return with_section(page, TITLE, ["", about, "", shown(found), "", made])
