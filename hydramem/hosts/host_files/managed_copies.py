"""Copies of our files in a folder of a host: brought up to date, but never over what a person has edited.

A manifest beside them holds the hash of each copy as it was written; a copy with another hash was edited.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.file_changes import FileChange, read_bytes

MANIFEST = ".hydramem-files.json"
"""The name of the manifest: an object of file names and SHA-256 hashes."""

CopyState = Literal["current", "outdated", "edited", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPlan:
    """The changes of a folder, and the files in it that stay since a person has edited them."""

    changes: tuple[FileChange, ...]
    edited: tuple[Path, ...]


def plan_copies(folder: Path, files: Mapping[str, bytes]) -> CopyPlan:
    """Plan to have these files in a folder, and none of those that an earlier version had put there.

    Args:
        folder: The folder.
        files: Bytes by name, with slashes.

    Raises:
        InvalidInputError: The manifest is none.
        StorageError: A file cannot be read.
    """
    known = _manifest(folder)
    # What is not of this version any more goes, as in `plan_removal`.
    gone = _removal(folder, [name for name in known if name not in files], known)
    changes, edited, kept = list(gone.changes), list(gone.edited), dict[str, str]()
    for name, data in files.items():
        path = folder / name
        there = read_bytes(path)
        is_edited = there is not None and there != data and _hash(there) != known.get(name)
        if is_edited or not _is_inside(folder, name):
            edited.append(path)
            kept |= {name: known[name]} if name in known else {}
        else:
            changes.append(FileChange(path=path, before=there, after=data))
            kept[name] = _hash(data)
    changes.append(_written_manifest(folder, kept))
    return CopyPlan(changes=tuple(changes), edited=tuple(edited))


def plan_removal(folder: Path, names: Sequence[str] | None = None) -> CopyPlan:
    """Plan to delete our copies; those that a person has edited stay, and are theirs from now on.

    Args:
        folder: The folder.
        names: Which copies; None for all.

    Raises:
        InvalidInputError: The manifest is none.
        StorageError: A file cannot be read.
    """
    known = _manifest(folder)
    chosen = [name for name in known if names is None or name in names]
    removal = _removal(folder, chosen, known)
    left = {name: value for name, value in known.items() if name not in chosen}
    changes = (*removal.changes, _written_manifest(folder, left))
    return CopyPlan(changes=changes, edited=removal.edited)


def copy_state(folder: Path, name: str, data: bytes) -> CopyState | None:
    """Return the state of one copy; None where it is not ours and not there."""
    there, known = read_bytes(folder / name), _manifest(folder).get(name)
    if there is None:
        return None if known is None else "missing"
    if there == data:
        return "current"
    return "outdated" if _hash(there) == known else "edited"


def _removal(folder: Path, names: Sequence[str], known: Mapping[str, str]) -> CopyPlan:
    changes, edited = list[FileChange](), list[Path]()
    for name in names:
        there = read_bytes(folder / name)
        if there is not None and _hash(there) == known[name] and _is_inside(folder, name):
            changes.append(FileChange(path=folder / name, before=there, after=None))
        elif there is not None:
            edited.append(folder / name)
    return CopyPlan(changes=tuple(changes), edited=tuple(edited))


def _is_inside(folder: Path, name: str) -> bool:
    """Whether no link leads out of the folder: a manifest of a repository must reach nothing else."""
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _manifest(folder: Path) -> dict[str, str]:
    path = folder / MANIFEST
    data = read_bytes(path)
    if data is None:
        return {}
    try:
        loaded = json.loads(data)
        known = {str(name): str(value) for name, value in loaded["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(f"{path}: is no list of files; move it away, then try again") from error
    if any(name.startswith("/") or ".." in name.split("/") or "\\" in name for name in known):
        raise InvalidInputError(f"{path}: names a file outside its folder; move it away, then try again")
    return known


def _written_manifest(folder: Path, known: Mapping[str, str]) -> FileChange:
    path = folder / MANIFEST
    text = json.dumps({"files": dict(sorted(known.items()))}, indent=2) + "\n" if known else None
    after = None if text is None else text.encode()
    return FileChange(path=path, before=read_bytes(path), after=after)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
