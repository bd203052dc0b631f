"""Kills processes that use a store, again and again, and checks what is left after each.

`python -m tests.faults.kills_child mixed|clock|inside FOLDER TIMES SEED` prints JSON counts after each kill.
An error ends it where an acknowledged write is lost or doubled, a store does not open, or its parts disagree.
"""

import json
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import Any

import hydramem
from hydramem.core import time as clocks
from hydramem.core.errors import EmbeddingMismatchError
from hydramem.core.row_types import Chunk
from hydramem.llm.hash_embedder import HashEmbedder
from tests.engines import DISK_ENGINE
from tests.erase.readers import traces
from tests.faults.forking import forked, killed, load
from tests.faults.stores import CONFIG, sentence

Say = Callable[..., None]
States = dict[str, tuple[str, str]]
"""Text and state of each memory by id, as was acknowledged."""
PARTS = 4
_EARLIER, _LATER = 40, 20
_OTHER = 64
_MOST_DAYS = 400
ERASED = sentence(2)
_REPORTS = 4
_RECALLED = 5


def page(version: int) -> str:
    """Return a document whose every section names its version."""
    return "\n\n".join(f"## Part {part}\n\nReport {version}x keeps part {part}." for part in range(PARTS))


@dataclass(frozen=True, slots=True)
class Step:
    """What an operation works with: a store, a folder for files, a number, and memories to choose from."""

    memory: hydramem.Memory
    folder: Path
    number: int
    say: Say
    done: Say
    held: list[str]
    draw: random.Random


def work(memory: hydramem.Memory, folder: Path, seed: int, say: Say, held: list[str]) -> None:
    """Do operations of every kind at random, for ever."""
    draw, step = random.Random(seed), 0
    while True:
        step += 1
        name = draw.choice(list(OPERATIONS))
        say(begin=name)
        OPERATIONS[name](Step(memory, folder, seed * 1000 + step, say, partial(say, done=name), held, draw))


def _remember(at: Step) -> None:
    text = sentence(at.number)
    id = at.memory.remember(text, kind="note", wait=at.draw.random() < 0.5).id
    at.done(set={id: [text, "active"]})
    at.held.append(id)


def _revise(at: Step) -> None:
    if at.held:
        old, text = at.held.pop(at.draw.randrange(len(at.held))), sentence(at.number)
        new = at.memory.revise(old, text=text).id
        at.done(set={new: [text, "active"]}, gone=[old])
        at.held.append(new)


def _forget(at: Step) -> None:
    if at.held:
        id = at.held.pop(at.draw.randrange(len(at.held)))
        at.memory.forget([id])
        at.done(gone=[id])


def _revive(at: Step) -> None:
    if at.held:
        at.memory.forget([at.held[-1]])
        at.memory.revive([at.held[-1]])
        at.done()


def _ingest(at: Step) -> None:
    """Ingest a report, or the next version of one."""
    file = at.folder / f"report{at.draw.randrange(_REPORTS)}.md"
    file.write_text(page(at.number), encoding="utf-8")
    at.say(writes=[file.name, at.number])
    at.memory.ingest([str(file)])
    at.done(document=[file.name, at.number])


def _backup(at: Step) -> None:
    at.memory.backup(str(at.folder / f"backup{at.number}.tar.gz"))
    (at.folder / f"backup{at.number}.tar.gz").unlink()
    at.done()


def _dump(at: Step) -> None:
    at.memory.dump(str(at.folder / f"dump{at.number}"))
    shutil.rmtree(at.folder / f"dump{at.number}")
    at.done()


OPERATIONS: dict[str, Callable[..., None]] = {
    "remember": _remember,
    "remember again": _remember,
    "revise": _revise,
    "forget": _forget,
    "revive": _revive,
    "ingest": _ingest,
    "relate": lambda at: (
        at.memory.relate("Ada", "visits", f"Pier {at.number}"),
        at.done(relation=at.number),
    ),
    "night": lambda at: (at.memory.garden(), at.done()),
    "backup": _backup,
    "dump": _dump,
    "checkpoint": lambda at: (
        at.memory._opened.graph.checkpoint(),
        at.done(),
    ),
}


class Ledger:
    """What was acknowledged over all kills so far."""

    def __init__(self) -> None:
        self.states: States = {}
        self.versions: dict[str, set[int]] = {}
        self.documents: set[str] = set()
        self.relations: set[int] = set()
        self.acknowledged = 0

    def take(self, said: list[dict[str, Any]]) -> None:
        """Note the steps of a process that was killed; what it had begun last may have happened."""
        for step in said:
            assert "failed" not in step, step["failed"]
            if "writes" in step:
                name, version = step["writes"]
                self.versions.setdefault(name, set()).add(version)
            if "done" not in step:
                continue
            self.acknowledged += 1
            for id, (text, state) in step.get("set", {}).items():
                self.states[id] = (text, state)
            for id in step.get("gone", ()):
                self.states[id] = (self.states[id][0], "gone")
            if "document" in step:
                name, version = step["document"]
                self.versions[name] = {version}
                self.documents.add(name)
            self.relations |= {step["relation"]} if "relation" in step else set()

    def check(self, store: Path) -> list[str]:
        """Check that a store holds what was acknowledged; return the memories of another state."""
        with hydramem.connect(store, config=CONFIG) as memory:
            found = memory.doctor()
            assert found.problems == (), found.problems
            rows = {row.id: row for row in memory._opened.graph.chunks(list(self.states))}
            assert rows.keys() == self.states.keys(), "an acknowledged memory is lost"
            for id, (text, _) in self.states.items():
                assert rows[id].text == text, (id, rows[id].text)
            other = [
                id for id, (_, state) in self.states.items() if is_active(rows[id]) != (state == "active")
            ]
            texts = Counter(row.text for row in memory.memories(limit=1000))
            assert max(texts.values(), default=0) <= 1, "a memory is there twice"
            names = {one.object for one in memory.relations(limit=1000)}
            assert {f"Pier {number}" for number in self.relations} <= names, "a relation is lost"
            self.check_documents(memory)
            self.check_recall(memory, other, among=100)  # words alone find some
            assert memory.drain().left == 0 and memory.jobs() == ()
            assert all(row.vector_state == "ready" for row in memory.memories(limit=1000))
            self.check_recall(memory, other, among=20)
            assert memory.doctor().problems == ()
        return other

    def check_documents(self, memory: hydramem.Memory) -> None:
        """Check that one version of each document is there, whole: the last one, or one that was begun."""
        stored = memory.documents(limit=1000)
        names = Counter(Path(one.source).name for one in stored)
        assert self.documents <= names.keys() <= self.versions.keys(), names
        assert max(names.values(), default=0) <= 1, "a document is there twice"
        for one in stored:
            text = " ".join(chunk.text for chunk in memory.document(one.id).chunks)
            held = Counter(word for word in text.split() if word[:-1].isdigit() and word.endswith("x"))
            assert held in [{f"{number}x": PARTS} for number in self.versions[Path(one.source).name]], held

    def check_recall(self, memory: hydramem.Memory, unsure: list[str], among: int) -> None:
        """Check that the last memories are recalled by their own texts, and those that are gone are not."""
        sure = [(id, text, state) for id, (text, state) in self.states.items() if id not in unsure]
        for wanted in ("active", "gone"):
            for id, text, _ in [one for one in sure if one[2] == wanted][-_RECALLED:]:
                recalled = id in {hit.id for hit in memory.recall(text, limit=among).hits}
                assert recalled == (wanted == "active"), (text, wanted)


def is_active(row: Chunk) -> bool:
    """Say whether a memory is one that is recalled."""
    return row.state == "active"


def count(*, case: str, **counts: int) -> None:
    """Print what was done so far."""
    sys.stdout.write(json.dumps({"case": case, **counts}) + "\n")
    sys.stdout.flush()


def set_clock(by: timedelta) -> None:
    """Set the clock of this process ahead, or back."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + by

    clocks.datetime = Clock  # type: ignore[misc]


def mixed(folder: Path, times: int, seed: int, *, most_days: int = 0) -> None:
    """Kill processes in mixed operations, on one store.

    Args:
        folder, times, seed: Where, how many, and what chooses the operations and moments.
        most_days: Most days that the clock of each process is ahead, or behind.
    """
    store, ledger, draw = folder / "store", Ledger(), random.Random(seed)
    for number in range(1, times + 1):
        held = [id for id, (_, state) in ledger.states.items() if state == "active"][-20:]

        days = draw.randint(-most_days, most_days)

        def live(say: Say, number: int = number, held: list[str] = held, days: int = days) -> None:
            set_clock(timedelta(days=days))
            with hydramem.connect(store, config=CONFIG) as memory:
                work(memory, folder, seed * 1000 + number, say, held)

        ledger.take(killed(live, draw, 12))
        code, other = forked(lambda: ledger.check(store))
        assert code == 0, (number, code, other)
        # The step that was cut short had chosen one memory: it has its state before or after.
        assert len(other) <= 1, f"{len(other)} memories have another state than was acknowledged"
        for id in other:
            text, state = ledger.states[id]
            ledger.states[id] = (text, "gone" if state == "active" else "active")
        count(case="clock" if most_days else "mixed", kills=number, acknowledged=ledger.acknowledged)


def prepared(folder: Path) -> list[str]:
    """Make a store with a backup of its first memories; return the texts of all."""
    with hydramem.connect(folder / "store", config=CONFIG) as memory:
        for number in range(_EARLIER):
            memory.remember(sentence(number), kind="note")
        memory.backup(str(folder / "backup.tar.gz"))
        memory.backup()  # which an erase rewrites
        for number in range(_EARLIER, _EARLIER + _LATER):
            memory.remember(sentence(number), kind="note")
        return sorted(row.text for row in memory.memories(limit=1000))


def restore(memory: hydramem.Memory, folder: Path, say: Say) -> None:
    """Restore the backup."""
    memory.restore(str(folder / "backup.tar.gz"))


def reindex(memory: hydramem.Memory, folder: Path, say: Say) -> None:
    """Move to the vectors of another embedder, or back."""
    other = HashEmbedder(_OTHER)
    back = memory._opened.embedder.dimension == _OTHER
    memory._opened.reindex(HashEmbedder() if back else other, progress=None)


def checkpoint(memory: hydramem.Memory, folder: Path, say: Say) -> None:
    """Write the log into the file."""
    memory.remember("The clerk writes the log into the book.", kind="note")
    memory._opened.graph.checkpoint()
    memory.forget([row.id for row in memory.memories(limit=1000) if "clerk" in row.text])
    memory._opened.graph.checkpoint()


def erase(memory: hydramem.Memory, folder: Path, say: Say) -> None:
    """Erase one memory."""
    memory.erase([row.id for row in memory.memories(limit=1000) if row.text == ERASED])


INSIDE = {"restore": restore, "reindex": reindex, "checkpoint": checkpoint, "erase": erase}
"""Long operations; a store that was killed in one holds what it held before, or what the operation leaves."""


def any_embedder(store: Path) -> hydramem.Memory:
    """Open a store with whichever of the two embedders it has."""
    try:
        return hydramem.connect(store, config=CONFIG, embedder=HashEmbedder())
    except EmbeddingMismatchError:
        return hydramem.connect(store, config=CONFIG, embedder=HashEmbedder(_OTHER))


def look(store: Path) -> list[str]:
    """Return the texts of a store that is whole."""
    with any_embedder(store) as memory:
        found = memory.doctor()
        assert not list(store.glob(".erasing-*")) and not (store / "erasing.json").exists()
        if any("is empty although" in problem for problem in found.problems):
            found = memory.doctor(fix=True)  # restored, but for the vectors: that is named
        assert found.problems == (), found.problems
        rows = [row.text for row in memory.memories(limit=1000) if "clerk" not in row.text]
        assert memory.recall(sentence(1), limit=1).hits[0].text == sentence(1)
    if ERASED not in rows:
        assert not traces(store, ERASED, DISK_ENGINE)
    return sorted(rows)


def duration(case: str, folder: Path) -> float:
    """Return the seconds that a long operation takes on a copy of the store."""
    store = Path(shutil.copytree(folder / "store", folder / f"timed {case}"))

    def timed() -> float:
        with any_embedder(store) as memory:
            begun = time.monotonic()
            INSIDE[case](memory, folder, lambda **step: None)
            return time.monotonic() - begun

    code, seconds = forked(timed)
    assert code == 0, seconds
    return float(seconds)


def inside(case: str, folder: Path, whole: list[str], times: int, seed: int) -> None:
    """Kill processes inside one long operation, on copies of one store."""
    draw = random.Random(seed)
    earlier = sorted(sentence(number) for number in range(_EARLIER))
    erased = [text for text in whole if text != ERASED]
    afterwards = {"restore": earlier, "reindex": whole, "checkpoint": whole, "erase": erased}
    finished, lasts = 0, duration(case, folder)
    for number in range(times):
        store = folder / f"copy{number}"
        shutil.copytree(folder / "store", store)

        def live(say: Say, store: Path = store) -> None:
            with any_embedder(store) as memory:
                say(begin=case)
                INSIDE[case](memory, folder, say)
                say(done=case)

        said = killed(live, draw, 1, seconds=lasts)
        assert not any("failed" in step for step in said), said
        code, texts = forked(lambda store=store: look(store))  # type: ignore[misc]
        assert code == 0, (case, number, code, texts)
        done = any("done" in step for step in said)
        finished += done
        assert texts in ([] if done else [whole]) + [afterwards[case]], (case, number, done, len(texts))
        shutil.rmtree(store)
        count(case=case, **{"kills": number + 1, "finished before": finished})


def modules(folder: Path) -> list[str]:
    """Use a store of its own; return the modules that this took."""
    with hydramem.connect(folder / "first", config=CONFIG) as memory:
        memory.remember(sentence(0))
        memory.recall(sentence(0))
        memory.garden()
        memory.doctor()
    return sorted(sys.modules)


def main(case: str, folder: Path, times: int, seed: int) -> None:
    """Run a case."""
    load(forked(lambda: modules(folder))[1])
    if case in ("mixed", "clock"):
        mixed(folder, times, seed, most_days=_MOST_DAYS if case == "clock" else 0)
    else:
        code, whole = forked(lambda: prepared(folder))
        assert code == 0 and len(whole) == _EARLIER + _LATER, whole
        for case in INSIDE:
            inside(case, folder, whole, times, seed)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
