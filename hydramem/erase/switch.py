"""The switch from a store's files to those without what is erased: by one note, finished after any kill.

New files are made in a folder beside the store's own. Then a note names the paths that they replace and those
that go. A process that dies before the note leaves the store as it was, and after it the next opening
finishes. No step needs an engine.
"""

import json
import logging
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from hydramem.core.errors import StorageError
from hydramem.storage.files.durable_files import storage_errors, sync_folder, sync_tree, write_whole

log = logging.getLogger(__name__)
_NOTE = "erasing.json"
_STAGED = ".erasing-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """What a switch does, by paths relative to the store.

    Attributes:
        staged: The folder that holds the new files, under the paths that they are to have.
        replaced: Paths whose old content goes, and which get the new.
        deleted: Paths that go.
    """

    staged: str
    replaced: tuple[str, ...]
    deleted: tuple[str, ...]


def new_staged_folder(folder: Path) -> Path:
    """Make the folder for new files; what an interrupted erase left there is removed first."""
    finish(folder)
    return Path(tempfile.mkdtemp(prefix=_STAGED, dir=folder))


def switch(folder: Path, wanted: Switch) -> None:
    """Replace and delete files; from the note on, a kill only delays it.

    Raises:
        StorageError: A path is a link, or a file cannot be moved; where the note stands, the next opening
            tries again.
    """
    try:
        _require_no_links(folder, wanted)
        sync_tree(folder / wanted.staged)
        write_whole(folder / _NOTE, json.dumps(asdict(wanted)))
    except BaseException:
        if not is_unfinished(folder):
            shutil.rmtree(folder / wanted.staged, ignore_errors=True)
        raise
    finish(folder)


def _require_no_links(folder: Path, wanted: Switch) -> None:
    for path in (*wanted.replaced, *wanted.deleted):
        if (folder / path).is_symlink():
            raise StorageError(
                f"{folder / path}: is a link; put what it leads to in its place to erase from it"
            )


def is_unfinished(folder: Path) -> bool:
    """Say whether an erase of a store was interrupted after its note."""
    return (folder / _NOTE).exists()


def finish(folder: Path) -> bool:
    """Finish an interrupted switch; say whether there was one. The folder's lock is held.

    Files of an erase that had not come to its note are removed: nothing was erased.

    Raises:
        StorageError: The note is not one, or a file cannot be moved.
    """
    note = folder / _NOTE
    with storage_errors(folder, "an erase cannot be finished"):
        noted = is_unfinished(folder)
        if noted:
            _carry_out(folder, _read(note))
        for left in folder.glob(f"{_STAGED}*"):
            if not noted:
                log.warning(
                    "%s: an erase was interrupted before anything was erased; ask for it again", folder
                )
            shutil.rmtree(left)
        if noted:
            note.unlink()
            sync_folder(folder)
    return noted


def _carry_out(folder: Path, wanted: Switch) -> None:
    for path in wanted.replaced:
        new, old = folder / wanted.staged / path, folder / path
        if new.exists():  # else it is in its place already
            remove(old)
            old.parent.mkdir(parents=True, exist_ok=True)
            new.rename(old)
            sync_folder(old.parent)
    for path in wanted.deleted:
        remove(folder / path)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder; harmless where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _read(note: Path) -> Switch:
    try:
        values = json.loads(note.read_text(encoding="utf-8"))
        wanted = Switch(
            staged=str(values["staged"]),
            replaced=tuple(map(str, values["replaced"])),
            deleted=tuple(map(str, values["deleted"])),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{note}: cannot be read; it says how an erase is to be finished") from error
    paths = [Path(path) for path in (wanted.staged, *wanted.replaced, *wanted.deleted)]
    if not wanted.staged.startswith(_STAGED) or any(
        path.is_absolute() or ".." in path.parts for path in paths
    ):
        raise StorageError(f"{note}: was not written by an erase; look at it, and delete it")
    return wanted
