"""Folders in the making: what a kill leaves goes with the next dump, and nothing else does."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydramem.storage.exchange.manifest import MANIFEST
from tests import ROOT
from tests.storage.exchange.stores import Store

DUMPING = """
import sys, time
from pathlib import Path
from tests.storage.exchange.stores import Store
from tests.storage.rows import document, write
store = Store()
store.put(write(documents=(document(),)))
store.dump(Path(sys.argv[1]), progress=lambda *told: (print("writing", flush=True), time.sleep(60)))
"""


@contextmanager
def dumping(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that is in the middle of a dump."""
    words = [sys.executable, "-c", DUMPING, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT) as child:
        assert child.stdout is not None and child.stdout.readline() == b"writing\n"
        try:
            yield child
        finally:
            child.kill()


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_what_a_killed_dump_left_goes_with_the_next_one(tmp_path: Path) -> None:
    with dumping(tmp_path / "first") as child:
        child.send_signal(signal.SIGKILL)
    (left,) = names(tmp_path)
    assert left.startswith(".first-")
    Store().dump(tmp_path / "second")
    assert names(tmp_path) == ["second"]


def test_what_another_process_still_writes_stays(tmp_path: Path) -> None:
    with dumping(tmp_path / "first"):
        (before,) = names(tmp_path)
        Store().dump(tmp_path / "second")
        assert names(tmp_path) == [before, "second"]
        assert (tmp_path / before / "documents.jsonl").exists()


def test_a_folder_of_a_like_name_that_holds_something_else_stays(tmp_path: Path) -> None:
    for number, name in enumerate(("mine.txt", "documents.jsonl.bak", "folder")):
        like = tmp_path / f".first-abcd123{number}.dump"
        like.mkdir()
        (like / MANIFEST).write_text("{}")
        (like / name).mkdir() if name == "folder" else (like / name).write_text("mine")
    Store().dump(tmp_path / "first")
    assert len(names(tmp_path)) == 4


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / MANIFEST).write_text("{}")
    (tmp_path / "dumps").mkdir()
    (tmp_path / "dumps" / ".first-abcd1234.dump").symlink_to(tmp_path / "kept")
    Store().dump(tmp_path / "dumps" / "first")
    assert names(tmp_path / "kept") == [MANIFEST]
