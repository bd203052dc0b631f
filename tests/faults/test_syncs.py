"""What an operation puts in place lasts through a power cut: its files are synced before, their folder after.

No test pulls the plug, so calls are watched: each rename, and the syncs before and after it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hydramem
from hydramem.storage.cypher.checkpoints.generations import POINTER
from tests.engines import DISK_ENGINE  # noqa: F401 -- these tests run on both engines
from tests.faults.stores import CONFIG, remember, sentence

ASIDE = "replaced-"
"""Where a restore keeps what it replaces, for a person to look at."""
NOTES = ("erasing.json", "restoring.json")
"""Files that say what is to be finished; without them nobody does."""
_IN_A_CHILD = """
import os
sync = os.fsync
def synced(handle):
    sync(handle)
    with open({log!r}, "a") as log:
        log.write(os.readlink(f"/proc/self/fd/{{handle}}") + chr(10))
os.fsync = synced
"""
"""Notes the syncs of a child process, which makes a checkpoint: every Python imports `sitecustomize`."""


class Watched:
    """The renames of this process, and the syncs of this one and of its children, in their order."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.synced: list[Path] = []
        self.renamed: list[tuple[int, Path]] = []
        """How many syncs came before a rename, and the new name."""
        self.wrong: list[str] = []

    def begin(self) -> None:
        """Forget what came before."""
        for noted in (self.synced, self.renamed, self.wrong):
            noted.clear()

    def note_rename(self, old: Path, new: Path) -> None:
        files = (old,) if old.is_file() else tuple(path for path in old.rglob("*") if path.is_file())
        self.synced += map(Path, self.log.read_text().splitlines())
        if new.name == POINTER:
            self.check()  # the file that it names is there
        if not any(part.startswith(ASIDE) for part in new.parts):
            self.wrong += [f"{file} is not synced" for file in files if file not in self.synced]
            self.renamed.append((len(self.synced), new))

    def note_deletion(self, file: Path) -> None:
        if file.name in NOTES:
            self.check()

    def check(self) -> None:
        """Assert that a power cut would undo nothing of what was renamed."""
        folders = [new for before, new in self.renamed if new.parent not in self.synced[before:]]
        assert (self.wrong, folders) == ([], []), "not synced, or their folders are not"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Watched:
    log, watched = tmp_path / "synced.txt", Watched(tmp_path / "synced.txt")
    log.touch()
    (tmp_path / "sitecustomize.py").write_text(_IN_A_CHILD.format(log=str(log)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    sync, unlink = os.fsync, os.unlink

    def noting(move: Callable[..., None]) -> Callable[..., None]:
        def moved(old: str | Path, new: str | Path) -> None:
            watched.note_rename(Path(old), Path(new))
            move(old, new)

        return moved

    def synced(handle: int) -> None:
        sync(handle)
        watched.synced.append(Path(f"/proc/self/fd/{handle}").readlink())

    def deleted(file: str | Path, **folder: int) -> None:
        watched.note_deletion(Path(file))
        unlink(file, **folder)

    monkeypatch.setattr(os, "rename", noting(os.rename))
    monkeypatch.setattr(os, "replace", noting(os.replace))
    monkeypatch.setattr(os, "unlink", deleted)
    monkeypatch.setattr(os, "fsync", synced)
    return watched


OPERATIONS: dict[str, Callable[[hydramem.Memory, Path], object]] = {
    "curate": lambda memory, folder: memory.curate(
        "memory", [hydramem.CuratedChange(action="add", content="Ada prefers tea.")]
    ),
    "checkpoint": lambda memory, folder: memory._opened.graph.checkpoint(),
    "backup": lambda memory, folder: memory.backup(str(folder / "backup.tar.gz")),
    "dump": lambda memory, folder: memory.dump(str(folder / "dump")),
    "erase": lambda memory, folder: memory.erase(
        [row.id for row in memory.memories() if row.text == sentence(1)]
    ),
    "restore": lambda memory, folder: memory.restore(str(folder / "backup.tar.gz")),
}


@pytest.mark.costly  # a process for each checkpoint
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_gets_a_name_is_synced_before_and_its_folder_after(tmp_path: Path, watched: Watched) -> None:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        for number in range(3):
            remember(memory, number)
        memory.drain()
        for name, operation in OPERATIONS.items():
            watched.begin()
            operation(memory, tmp_path)
            assert watched.renamed, name
            watched.check()
