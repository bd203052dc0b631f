"""Damages copies of a store: `python -m tests.faults.damaged_files_child STORE CASES`.

CASES is a JSON list of [file, damage, place]. Each case runs in a process of its own, forked from this one: a
damaged file may crash an engine, or stop it. One JSON line says what became of it:

- harmless: everything reads as before, and nothing is wrong
- refused: the store is not opened, by an error that names it
- repaired: `doctor --fix` puts it right
- named: an error, a warning or `doctor` says what is wrong
- silent: something reads otherwise, and nobody says so
- crashed, hung, broken: the process died, went on for too long, or raised an error that is not HydraMem's
"""

import contextlib
import json
import logging
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydramem
from hydramem.core.errors import HydraMemError
from tests.faults.forking import forked, load
from tests.faults.stores import CONFIG, sentence

BLOCK = 64
QUERIES = tuple(sentence(number) for number in (1, 6))
NEW = "The lighthouse keeper of pier forty paints the door green."
Contents = dict[str, Any]


def damage(file: Path, how: str, place: int) -> None:
    """Damage a file at a place: one bit, a block of zeros, the end, all of it."""
    if how == "delete":
        file.unlink()
        return
    data = bytearray(file.read_bytes())
    if how == "empty":
        data.clear()
    elif how == "cut":
        del data[place:]
    elif how == "zeros":
        data[place : place + BLOCK] = bytes(len(data[place : place + BLOCK]))
    else:
        data[place] ^= 1 << place % 8
    file.write_bytes(data)


READS: dict[str, Callable[[hydramem.Memory], Any]] = {
    "memories": lambda memory: sorted((row.id, row.text) for row in memory.memories(limit=1000)),
    "documents": lambda memory: [
        (one.source, [chunk.text for chunk in memory.document(one.id).chunks]) for one in memory.documents()
    ],
    "entities": lambda memory: sorted((one.id, one.name) for one in memory.entities()),
    "relations": lambda memory: sorted(
        (one.subject, one.type, one.object) for one in memory.relations(limit=1000)
    ),
    "curated": lambda memory: [list(one.entries) for one in memory.curated()],
    "recall": lambda memory: [[hit.text for hit in memory.recall(query, limit=1).hits] for query in QUERIES],
    "stats": lambda memory: memory.stats().counts.chunks,
}


@dataclass(slots=True)
class Words:
    """What was said of a damage, by errors, warnings and `doctor`."""

    said: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Note an error of HydraMem."""
        try:
            yield
        except HydraMemError as error:
            self.said.append(str(error))


class Warnings(logging.Handler):
    """Notes what is logged as a warning."""

    def __init__(self, words: Words) -> None:
        super().__init__(logging.WARNING)
        self._words = words

    def emit(self, record: logging.LogRecord) -> None:
        self._words.said.append(record.getMessage())


def contents(memory: hydramem.Memory, words: Words) -> Contents:
    """Return what each kind of read answers; one that raises an error of ours is left out."""
    found: Contents = {}
    for name, read in READS.items():
        with words.listening():
            found[name] = json.loads(json.dumps(read(memory)))
    return found


def wrong_in(found: Contents, whole: Contents) -> list[str]:
    """Return the reads that answered otherwise."""
    return [name for name, answer in found.items() if answer != whole[name]]


def outcome(store: Path, whole: Contents) -> tuple[str, list[str]]:
    """Use a damaged store; return what became of the damage, and what was said of it."""
    words = Words()
    logging.getLogger("hydramem").addHandler(Warnings(words))
    try:
        memory = hydramem.connect(store, config=CONFIG)
    except HydraMemError as error:
        return ("refused" if str(store) in str(error) else "unnamed"), [str(error)]
    with memory:
        before = contents(memory, words)
        with words.listening():
            words.said.extend(memory.doctor().problems)
        if wrong_in(before, whole) and not words.said:
            return "silent", wrong_in(before, whole)
        fixed = Words()
        with fixed.listening():
            fixed.said.extend(memory.doctor(fix=True).problems)
        after = contents(memory, fixed)
        new = None
        with fixed.listening():
            new = memory.remember(NEW)
            memory.forget([new.id])
    if new is not None:
        with hydramem.connect(store, config=CONFIG) as memory:
            if memory.get(new.id).text != NEW:
                return "silent", ["a memory that was written after the damage is not there"]
    if wrong_in(after, whole) and not (fixed.said or words.said):
        return "silent", wrong_in(after, whole)
    if wrong_in(after, whole) or fixed.said:
        return "named", [*words.said, *fixed.said]
    return ("repaired" if words.said else "harmless"), words.said


def run(original: Path, file: str, how: str, place: int, whole: Contents) -> tuple[str, list[str]]:
    """Damage a copy of a store in a process of its own; return its outcome."""
    with tempfile.TemporaryDirectory(prefix="damaged-") as folder:
        store = Path(shutil.copytree(original, Path(folder).resolve() / "store"))
        damage(store / file, how, place)
        code, answer = forked(lambda: outcome(store, whole), ("broken", []))
    if code == -signal.SIGALRM:
        return "hung", []
    if answer is None:
        return "crashed", [str(code)]
    return answer[0], answer[1]


def whole_contents(original: Path) -> Contents:
    """Read a copy of a store that is not damaged."""
    with tempfile.TemporaryDirectory(prefix="damaged-") as folder:
        store = Path(shutil.copytree(original, Path(folder) / "store"))

        def read() -> Contents:
            with hydramem.connect(store, config=CONFIG) as memory:
                return contents(memory, Words()) | {"modules": sorted(sys.modules)}

        _, answer = forked(read)
    return dict(answer)


def main(original: Path, cases: list[tuple[str, str, int]]) -> None:
    """Run each case and print its outcome."""
    warnings.simplefilter("ignore")
    whole = whole_contents(original)
    load(whole.pop("modules"))
    assert len(whole) == len(READS), whole
    for file, how, place in cases:
        became, said = run(original, file, how, place, whole)
        line = {"file": file, "how": how, "place": place, "outcome": became, "said": said}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
