"""Name the curated files that held entries and hold none now: a person emptied them, or they were damaged."""

import json
from pathlib import Path

from hydramem.core.row_types import Change
from hydramem.storage.files.curated_files import CuratedPlace
from hydramem.storage.store import GraphStore

OPERATION = "curate"
"""The operation of the changes that record what a curated file held."""


def history_name(path: Path) -> str:
    """Return how the history names a curated file."""
    return f"{path.parent.name}/{path.name}"


def emptied_file(place: CuratedPlace, graph: GraphStore) -> str | None:
    """Return what is wrong with a curated file that was read as empty; None where it held nothing.

    Args:
        place: The file.
        graph: Where the history is.
    """
    if not place.path.parent.is_dir():
        return None
    recorded = graph.changes(target=history_name(place.path), operation=OPERATION)
    return _problem(place.path, recorded[-1]) if recorded else None


def emptied_files(folder: Path, graph: GraphStore) -> tuple[str, ...]:
    """Return what is wrong with the curated files of all projects that hold nothing but did, a sentence each.

    Args:
        folder: The store's folder of curated files.
        graph: Where the history is.
    """
    last = {change.target: change for change in graph.changes(operation=OPERATION)}
    found = ((folder / name, last[name]) for name in sorted(last))
    empty = ((path, change) for path, change in found if not _holds_text(path))
    return tuple(problem for path, change in empty if (problem := _problem(path, change)) is not None)


def _holds_text(path: Path) -> bool:
    return path.is_file() and bool(path.read_bytes().strip())


def _problem(path: Path, change: Change) -> str | None:
    held = len(json.loads(change.after or "{}").get("entries", ()))
    if not held:
        return None
    there = "is empty" if path.exists() else "is gone"
    return (
        f"{path}: {there}, but held {held} entries on {change.at:%Y-%m-%d}; `hydramem history "
        f"{history_name(path)}` has them, and `hydramem curate` writes them again"
    )
