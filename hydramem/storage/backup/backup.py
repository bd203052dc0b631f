"""Backup: the files that a store cannot derive, as of one moment, in one file that appears when complete."""

import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.results.upkeep_results import BackedUp
from hydramem.storage.backup.archive import PARTS, BackupManifest, fits, member, read_archive, write_archive
from hydramem.storage.files.durable_files import storage_errors, sync_folder

log = logging.getLogger(__name__)
FOLDER = "backups"
_NAME = re.compile(r"hydramem-\d{8}T\d{12}Z\.tar\.gz")

# Caches of model replies are derived; and an open database cannot be copied as a file.
_DERIVED = re.compile(r".*\.db(-wal|-shm|-journal)?")
_PARTIAL = ".making-"


def backup(
    store: Path,
    save_graph: Callable[[Path], None],
    *,
    engine: str,
    created_by: str,
    made_at: datetime,
    to: Path | None = None,
    keep: int = 0,
) -> BackedUp:
    """Write a backup and read it back; it appears once it is complete.

    Args:
        save_graph: Writes the graph into a folder, as it is at one moment.
        engine: Which graph engine it has.
        created_by: Program and version, for the manifest.
        to: A new file, or a folder to put it in; the store's own `backups` where not given, where only the
            newest are kept.
        keep: How many of those; 0 keeps all.

    Raises:
        InvalidInputError: The file is there already, its folder is not, or it is in what is backed up.
        StorageError: It cannot be written, or does not read back; nothing is left.
    """
    with storage_errors(to or store / FOLDER, "a backup cannot be written"):
        file = _target(store, to, made_at)
        file.parent.mkdir(parents=True, exist_ok=True)
        _sweep(file.parent)
        with _beside(file) as (staged, partial):
            _stage(store, save_graph, staged)
            names = sorted(
                path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file()
            )
            files = tuple(member(staged / name, name) for name in names)
            manifest = BackupManifest(engine=engine, created_by=created_by, made_at=made_at, files=files)
            with partial.open("xb") as data:
                write_archive(manifest, staged, data)
                data.flush()
                os.fsync(data.fileno())
            _check(partial)
            partial.replace(file)
            sync_folder(file.parent)
        removed = _roll(file, keep) if to is None and keep else ()
        return BackedUp(
            file=str(file), made_at=made_at, bytes=file.stat().st_size, files=len(files), removed=removed
        )


def backups(store: Path) -> tuple[Path, ...]:
    """Return the rolling backups of a store, oldest first."""
    folder = store / FOLDER
    if not folder.is_dir():
        return ()
    return tuple(sorted(file for file in folder.iterdir() if _NAME.fullmatch(file.name)))


def _target(store: Path, to: Path | None, made_at: datetime) -> Path:
    name = f"hydramem-{made_at:%Y%m%dT%H%M%S%f}Z.tar.gz"
    if to is None:
        return store / FOLDER / name
    file = to / name if to.is_dir() else to
    if file.exists():
        raise InvalidInputError(f"to: {file} is there already; name a new file, or a folder")
    if not file.is_relative_to(store) and not file.parent.is_dir():
        raise InvalidInputError(f"to: there is no folder {file.parent}; make it first")
    if file.is_relative_to(store) and file.relative_to(store).parts[0] != FOLDER:
        raise InvalidInputError(f"to: {file} is in the store; name a place outside it")
    return file


@contextmanager
def _beside(file: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a temporary folder, and a file next to the requested one; both are removed in the end."""
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=file.parent) as scratch:
        staged = Path(scratch) / "staged"
        staged.mkdir()
        yield staged, Path(scratch) / file.name


def _sweep(folder: Path) -> None:
    """Remove unfinished backups of processes that were killed."""
    for left in folder.glob(f"{_PARTIAL}*"):
        shutil.rmtree(left, ignore_errors=True)


def _stage(store: Path, save_graph: Callable[[Path], None], staged: Path) -> None:
    """Copy what is backed up; the graph last, so that it is not older than any file."""
    for part in PARTS:
        source = store / part
        if part != "graph" and source.is_dir() and not source.is_symlink():
            _copy_tree(store, source, staged)
        elif part != "graph" and source.is_file():
            shutil.copyfile(source, staged / part)
    (staged / "graph").mkdir()
    save_graph(staged / "graph")


def _copy_tree(store: Path, source: Path, staged: Path) -> None:
    for path in sorted(source.rglob("*")):
        name = path.relative_to(store)
        if path.is_symlink() or not path.is_file() or _DERIVED.fullmatch(path.name):
            continue
        if not fits(name.as_posix()):
            log.warning("%s: has a name that not every system can have; it is not in the backup", path)
            continue
        copied = staged / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, copied)
        except FileNotFoundError:
            copied.unlink(missing_ok=True)  # it was deleted meanwhile, as old reports are


def _check(partial: Path) -> None:
    try:
        read_archive(partial)
    except InvalidInputError as error:
        raise StorageError(f"{error}; it was just written: the disk may be full or failing") from error


def _roll(newest: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest backups over the number that is kept; the one just made and read always stays."""
    old = [file for file in backups(newest.parent.parent) if file != newest]
    gone = old[: max(0, len(old) + 1 - keep)]
    for file in gone:
        file.unlink(missing_ok=True)
    return tuple(file.name for file in gone)
