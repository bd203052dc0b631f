"""Uses a memory while its disk fails: `python -m tests.faults.memory_child ENGINE FOLDER CASE...`.

Prints one JSON line for each step; an assertion that fails ends it with an error.
"""

import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hydramem
from hydramem import Config
from hydramem.core.config import EmbeddingConfig, StorageConfig
from tests.faults.failed_write_child import say
from tests.faults.failing_calls import ALL, WRITES, failing
from tests.memory_api.calls_together import together

TEXTS = tuple(f"Crate {number} rests in hall {number + 20}." for number in range(4))
FULL = {"error": errno.ENOSPC}


def connected(store: Path, engine: str) -> hydramem.Memory:
    """Open the store with small limits and an embedder without a model."""
    storage = StorageConfig(graph=engine, buffer_pool_mb=64, max_db_gb=1)  # type: ignore[arg-type]
    return hydramem.connect(store, config=Config(storage=storage, embedding=EmbeddingConfig(model="hash")))


def finds(memory: hydramem.Memory, text: str) -> bool:
    """Say whether a memory is recalled by its own words."""
    return text in {hit.text for hit in memory.recall(text, limit=20).hits}


def refused(memory: hydramem.Memory, text: str) -> str:
    """Try to remember something; return the message of the refusal."""
    try:
        memory.remember(text)
    except hydramem.DiskFullError as error:
        return str(error)
    raise AssertionError(f"was stored: {text}")


def all_there(memory: hydramem.Memory, *texts: str) -> None:
    """Assert that memories are stored once each, recalled, and that both stores agree."""
    assert memory.drain().left == 0
    assert sorted(row.text for row in memory.memories(limit=1000)) == sorted(texts)
    assert all(finds(memory, text) for text in texts)
    assert memory.doctor().problems == ()


def vectors_fail(store: Path, engine: str) -> None:
    """Remember, revise and forget while the vector store cannot be written."""
    with connected(store, engine) as memory:
        first, *_, last = memory.remember_many([hydramem.MemoryInput(text=text) for text in TEXTS])
        assert "vectors" not in first.pending
        with failing("*/vectors/*", WRITES, **FULL) as calls:
            new = memory.remember("Ada leads billing.")
            assert new.created and "vectors" in new.pending, new
            assert calls.failed() > 0
            assert memory.forget([last.id]).pending == ("vectors",)
            assert memory.forget([first.id], dry_run=True).pending == ()
            assert memory.get(new.id).text == "Ada leads billing."
            assert memory.stats().pending > 0
            assert finds(memory, TEXTS[0])
        say(step="failed", pending=memory.stats().pending)
        assert "vectors" not in memory.remember("Bob leads sales.").pending
        memory.revive([last.id])
        all_there(memory, *TEXTS, "Ada leads billing.", "Bob leads sales.")
        with failing("*/vectors/*", ALL, **FULL):
            assert "vectors" in memory.remember("Cy leads support.").pending
    with connected(store, engine) as memory:
        all_there(memory, *TEXTS, "Ada leads billing.", "Bob leads sales.", "Cy leads support.")


def log_fails(store: Path, engine: str) -> None:
    """Remember while the log of the graph cannot be written, and again once it can."""
    with connected(store, engine) as memory:
        for text in TEXTS:
            memory.remember(text)
        for number in range(3):
            with failing("*/graph/*.wal", WRITES, partial=50 * number, **FULL) as calls:
                assert "nothing of the write is stored" in refused(memory, "Ada leads billing.")
                assert calls.failed() > 0
                assert all(finds(memory, text) for text in TEXTS)
            say(step=f"failed {number}")
        assert memory.remember("Ada leads billing.").created
        all_there(memory, *TEXTS, "Ada leads billing.")
    with connected(store, engine) as memory:
        all_there(memory, *TEXTS, "Ada leads billing.")


def group_fails(store: Path, engine: str) -> None:
    """Remember by several threads at once while the log cannot be written, for a moment and for longer."""

    def remembers(*texts: str) -> list[Callable[[], Any]]:
        return [lambda text=text: memory.remember(text) for text in texts]

    one, many = ("Ada leads billing.", "Bob leads sales."), ("Cy leads support.", "Di leads research.")
    with connected(store, engine) as memory:
        memory.remember_many([hydramem.MemoryInput(text=text) for text in TEXTS])
        with failing("*/graph/*.wal", WRITES, **FULL) as calls:
            told = together(memory, remembers(*one))
            assert all(isinstance(each, hydramem.DiskFullError) for each in told), told
            assert calls.failed() > 0
        say(step="full")
        with failing("*/graph/*.wal", WRITES, times=1, error=errno.EIO) as calls:
            told = together(memory, remembers(*many))
            assert [getattr(each, "created", each) for each in told] == [True, True], told
            assert calls.failed() == 1
        say(step="failed once")
        assert all(each.created for each in together(memory, remembers(*one)))
        all_there(memory, *TEXTS, *one, *many)
    with connected(store, engine) as memory:
        all_there(memory, *TEXTS, *one, *many)


def fill_disk(folder: Path, left: int) -> None:
    """Fill the disk of a folder, but for some bytes."""
    import shutil

    free = shutil.disk_usage(folder).free
    with (folder / f"ballast {left}").open("wb") as file:
        try:
            file.write(bytes(max(0, free - left)))
        except OSError as error:
            assert error.errno == errno.ENOSPC


def disk_is_full(store: Path, engine: str) -> None:
    """Fill the disk nearly, then wholly; read, write, close and open the memory meanwhile."""
    with connected(store, engine) as memory:
        for text in TEXTS:
            memory.remember(text)
        fill_disk(store.parent, 9 << 20)
        message = refused(memory, "Ada leads billing.")
        assert "9 MiB are free" in message and "reads go on" in message, message
        assert all(finds(memory, text) for text in TEXTS)
        say(step="nearly full")
        fill_disk(store.parent, 0)
        assert all(finds(memory, text) for text in TEXTS)
        refused(memory, "Ada leads billing.")
    say(step="closed")
    open_full(store, engine)
    for ballast in store.parent.glob("ballast *"):
        ballast.unlink()
    with connected(store, engine) as memory:
        assert memory.remember("Ada leads billing.").created
        all_there(memory, *TEXTS, "Ada leads billing.")


def open_full(store: Path, engine: str) -> None:
    """Open a store, whose log was not checkpointed, on a full disk: to be read, or else refused by name."""
    try:
        memory = connected(store, engine)
    except hydramem.DiskFullError as error:
        assert engine == "kuzu", error  # the log of Kuzu has no checksums, and is copied to be tried
        assert "make room" in str(error), error
        return
    with memory:
        assert all(finds(memory, text) for text in TEXTS)
        refused(memory, "Ada leads billing.")


CASES = {"vectors": vectors_fail, "log": log_fails, "group": group_fails, "full": disk_is_full}

if __name__ == "__main__":
    for case in sys.argv[3:]:
        folder = Path(sys.argv[2]) / f"case {case}"  # not `vectors`, which is a pattern
        folder.mkdir()
        CASES[case](folder / "store", sys.argv[1])
        say(step=f"{case} ended")
