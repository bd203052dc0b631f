"""Many processes write and read one store while owner and clients are killed; what is left is checked.

`python -m tests.sharing.soak_child FOLDER SECONDS SEED [PROCESSES]` prints its counts as a JSON line. It ends
with an error where an acknowledged write is lost or doubled, a call is refused, or something is left behind.
"""

import contextlib
import json
import os
import random
import selectors
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydramem
from hydramem.storage.files.owner_note import read_note
from tests.faults.forking import _fork, forked, load
from tests.faults.kills_child import modules
from tests.faults.stores import CONFIG, sentence
from tests.sharing.sockets import sockets_of

_BETWEEN_KILLS = (0.3, 1.6)


@dataclass
class Worker:
    """A process that works, and what it has said so far."""

    pid: int
    reading: int
    left: bytes = b""
    steps: list[dict[str, Any]] = field(default_factory=list)


def work(store: Path, number: int, until: float, writing: int) -> None:
    """Write and read until a moment; say each step before and after it."""
    draw, own, step = random.Random(number), list[tuple[str, str]](), 0

    def say(**what: object) -> None:
        os.write(writing, (json.dumps({**what, "at": time.monotonic()}) + "\n").encode())

    with hydramem.connect(store, config=CONFIG) as memory:
        while time.monotonic() < until:
            step += 1
            kind = draw.random()
            if kind < 0.6 or not own:
                text = sentence(number * 10_000 + step)
                say(begin=text)
                id = memory.remember(text, kind="note").id
                own.append((id, text))
                say(done=text, id=id)
            elif kind < 0.8:
                id, text = draw.choice(own)
                assert memory.get(id).text == text
                say(read=id)
            else:
                text = draw.choice(own)[1]
                memory.recall(text, limit=3)
                say(read=text)


def start(store: Path, number: int, until: float) -> Worker:
    """Start a process that works."""
    reading, writing = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reading)
        code = 0
        try:
            work(store, number, until, writing)
        except BaseException:  # noqa: BLE001 -- a panic of LanceDB is one
            code = 1
            os.write(writing, (json.dumps({"failed": traceback.format_exc()[-3000:]}) + "\n").encode())
        os._exit(code)
    os.close(writing)
    os.set_blocking(reading, False)
    return Worker(child, reading)


class Soak:
    """Keeps a number of processes at work, and kills one after the other."""

    def __init__(self, store: Path, seconds: float, seed: int, processes: int) -> None:
        self._store = store
        self._draw = random.Random(seed)
        self._until = time.monotonic() + seconds
        self._processes = processes
        self._started = 0
        self._waiting = selectors.DefaultSelector()
        self.live: dict[int, Worker] = {}
        self.over: list[Worker] = []
        self.killed_owners: list[float] = []
        self.killed_clients = 0

    def run(self) -> None:
        """Work, kill, and wait for the end of all."""
        while time.monotonic() < self._until - 2:
            while len(self.live) < self._processes:
                self._started += 1
                worker = start(self._store, self._started, self._until)
                self.live[worker.pid] = worker
                self._waiting.register(worker.reading, selectors.EVENT_READ, worker)
            self._listen(self._draw.uniform(*_BETWEEN_KILLS))
            self._kill()
        limit = time.monotonic() + 120
        while self.live:
            self._listen(0.2)
            for pid in list(self.live):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    self._end(pid)
            assert time.monotonic() < limit, f"{len(self.live)} processes do not end"

    def _listen(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for key, _ in self._waiting.select(left):
                self._read(key.data)

    def _read(self, worker: Worker) -> None:
        with contextlib.suppress(BlockingIOError):
            while part := os.read(worker.reading, 65536):
                worker.left += part
            self._waiting.unregister(worker.reading)
        *lines, worker.left = worker.left.split(b"\n")
        worker.steps += map(json.loads, lines)

    def _kill(self) -> None:
        note = read_note(self._store)
        owner = note.pid if note is not None and note.pid in self.live else None
        clients = [pid for pid in self.live if pid != owner]
        if owner is not None and self._have_gone_on() and (self._draw.random() < 0.7 or not clients):
            self.killed_owners.append(time.monotonic())
            pid = owner
        elif clients:
            self.killed_clients += 1
            pid = self._draw.choice(clients)
        else:
            return
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self._end(pid)

    def _have_gone_on(self) -> bool:
        """Say whether no call is under way that the last owner died in: it would be taken for the cause."""
        last = self.killed_owners[-1] if self.killed_owners else 0.0
        return all(each.steps and each.steps[-1]["at"] > last for each in self.live.values())

    def _end(self, pid: int) -> None:
        worker = self.live.pop(pid)
        with contextlib.suppress(KeyError):
            self._read(worker)
        with contextlib.suppress(KeyError):
            self._waiting.unregister(worker.reading)
        os.close(worker.reading)
        self.over.append(worker)


def check(store: Path, acknowledged: dict[str, str], begun: set[str]) -> dict[str, int]:
    """Check that a store holds each acknowledged write once, and nothing that nobody began."""
    with hydramem.connect(store, config=CONFIG) as memory:
        found = memory.doctor()
        assert found.problems == (), found.problems
        texts: Counter[str] = Counter()
        while rows := memory.memories(limit=1000, offset=sum(texts.values())):
            texts.update(row.text for row in rows)
        lost = sorted(text for text in acknowledged.values() if not texts[text])
        doubled = sorted(text for text, count in texts.items() if count > 1)
        assert not lost, f"{len(lost)} lost: {lost[:3]}"
        assert not doubled, f"{len(doubled)} doubled: {doubled[:3]}"
        assert set(texts) <= begun
        for id in random.Random(1).sample(sorted(acknowledged), min(30, len(acknowledged))):
            assert memory.get(id).text == acknowledged[id]
        return {"memories": sum(texts.values())}


def take_overs(killed: list[float], steps: list[dict[str, Any]]) -> list[float]:
    """Return the seconds from each kill of an owner to the next step that any process finished."""
    done = sorted(step["at"] for step in steps if "done" in step or "read" in step)
    later = ((kill, next((at for at in done if at > kill), None)) for kill in killed)
    return sorted(at - kill for kill, at in later if at is not None)


def main(folder: Path, seconds: float, seed: int, processes: int) -> None:
    """Run the soak, check what is left, and print the counts."""
    load(forked(lambda: modules(folder))[1])
    store = folder / "store"
    soak = Soak(store, seconds, seed, processes)
    soak.run()
    steps = [step for worker in soak.over for step in worker.steps]
    failed = [step["failed"] for step in steps if "failed" in step]
    assert not failed, failed[0]
    acknowledged = {step["id"]: step["done"] for step in steps if "done" in step}
    begun = {step["begin"] for step in steps if "begin" in step}
    assert sockets_of(store) == [], "names of sockets are left"
    code, counts = forked(lambda: check(store, acknowledged, begun))
    assert code == 0, counts
    overs = take_overs(soak.killed_owners, steps)
    told = {"seconds": seconds, "processes": processes, "writes acknowledged": len(acknowledged)}
    told |= {"owners killed": len(soak.killed_owners), "clients killed": soak.killed_clients}
    told |= {"reads": sum("read" in step for step in steps), "lost": 0, "doubled": 0, "refused": 0}
    if overs:
        told |= {"take-over p50 s": round(overs[len(overs) // 2], 2), "take-over max s": round(overs[-1], 2)}
    sys.stdout.write(json.dumps(told | (counts or {})) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else 8)
