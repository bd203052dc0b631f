"""Restore: replace the files of a store by those of a backup; the old files are kept aside.

First everything is unpacked and checked in a folder next to the store's files. Then a note says what is
exchanged; if the process dies after that, the next opening finishes the exchange before anything else.
"""

import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.ids import new_id
from hydramem.storage.backup.archive import PARTS, BackupManifest, read_archive, read_manifest
from hydramem.storage.files.durable_files import storage_errors, sync_folder, sync_tree, write_whole

_NOTE = "restoring.json"
_STAGED = ".restoring-"
_VECTORS = "vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What a restore did to a folder: the backup's manifest, and where what was there is kept."""

    manifest: BackupManifest
    aside: Path | None


def restore(file: Path, folder: Path, *, engine: str, now: datetime) -> Exchange:
    """Replace the content of a store by that of a backup; the store is closed, and its lock is held.

    Args:
        folder: The store, or a folder that becomes one.
        engine: The graph engine that the store is to be opened with.
        now: Names the folder that is kept aside.

    Raises:
        InvalidInputError: It is no backup, is damaged, or is of another engine; nothing was changed.
        SchemaError: A newer version wrote it; nothing was changed.
        StorageError: The folder cannot be written.
    """
    with storage_errors(folder, "cannot be restored"):
        finish(folder)
        _check_fits(read_manifest(file), file, folder, engine)
        for left in folder.glob(f"{_STAGED}*"):
            shutil.rmtree(left)  # of a process that died before its note
        staged = Path(tempfile.mkdtemp(prefix=_STAGED, dir=folder))
        try:
            manifest = read_archive(file, staged)
            sync_tree(staged)
            aside = f"replaced-{now:%Y%m%dT%H%M%S}-{new_id('x')[-6:]}" if _stored_parts(folder) else None
            note = {"staged": staged.name, "aside": aside, "parts": _stored_parts(folder)}
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        write_whole(folder / _NOTE, json.dumps(note))
        finish(folder)
    return Exchange(manifest=manifest, aside=None if aside is None else folder / aside)


def is_unfinished(folder: Path) -> bool:
    """Say whether a restore was interrupted after its note."""
    return (folder / _NOTE).exists()


def finish(folder: Path) -> bool:
    """Finish a restore that was interrupted after its note; say whether there was one. The lock is held.

    Raises:
        StorageError: Its note cannot be read.
        OSError: A file cannot be moved.
    """
    note = folder / _NOTE
    if not note.exists():
        return False
    staged, aside, parts = _read_note(note)
    for part in parts:
        kept = folder / aside / part
        kept.parent.mkdir(exist_ok=True)
        # Where it is kept aside already, the file in its place is the backup's.
        if (folder / part).exists() and not kept.exists():
            (folder / part).rename(kept)
    for part in PARTS:
        if (folder / staged / part).exists():
            (folder / staged / part).rename(folder / part)
    sync_folder(folder)
    note.unlink()
    shutil.rmtree(folder / staged, ignore_errors=True)
    return True


def _read_note(note: Path) -> tuple[str, str, tuple[str, ...]]:
    try:
        values = json.loads(note.read_text(encoding="utf-8"))
        staged, aside, parts = values["staged"], values["aside"] or "", tuple(values["parts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{note}: cannot be read; it says how a restore is to be finished") from error
    if not staged.startswith(_STAGED) or any(set(name) & {"/", "\\"} for name in (staged, aside, *parts)):
        raise StorageError(f"{note}: was not written by a restore; look at it, and delete it")
    return staged, aside, parts


def _check_fits(manifest: BackupManifest, file: Path, folder: Path, engine: str) -> None:
    if manifest.engine != engine:
        raise InvalidInputError(
            f"{file}: is of a graph of {manifest.engine}, and {engine} cannot read it; "
            f"set storage.graph: {manifest.engine}"
        )
    needed, free = sum(one.bytes for one in manifest.files), shutil.disk_usage(folder).free
    if needed > free:
        raise StorageError(
            f"{folder}: {needed:,} bytes are needed and {free:,} are free; nothing was touched"
        )


def _stored_parts(folder: Path) -> tuple[str, ...]:
    """Return the names of a store's files that a restore replaces, and of its vectors."""
    names = sorted(path.name for path in folder.iterdir())
    return tuple(name for name in names if name in PARTS or name.split("-")[0] == _VECTORS)
