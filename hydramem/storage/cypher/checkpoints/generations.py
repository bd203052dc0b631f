"""The generations of a graph file: a checkpoint makes the next one, and a pointer says which one serves.

The first is `NAME.db`, later ones are `NAME.2.db`, `NAME.3.db` and so on, each with its own log. The file
`CURRENT` beside them names the one that serves; a store that has none serves its first. A generation is never
changed while it serves, but for its log. Another one takes its place by one write of `CURRENT`, so a kill
leaves the old one or the new one; which of them is left over is deleted at the next opening.
"""

import logging
import re
import shutil
from pathlib import Path

from hydramem.core.errors import StorageError
from hydramem.storage.files.durable_files import storage_errors, sync_folder, write_whole

log = logging.getLogger(__name__)
POINTER = "CURRENT"
"""Name of the file that names the generation that serves."""
SCRATCH = ".checkpoint-"
"""What the names of folders begin with in which a generation is made."""

_NAME = re.compile(r"(?P<stem>.+?)(?:\.(?P<number>\d+))?\.db")
_COMPANIONS = ("", ".wal", ".shadow", ".wal.checkpoint", ".wal.closed", ".tmp")


def serving_file(file: Path) -> Path:
    """Return the generation that serves, given the path of any.

    Where the pointer is damaged or lost and there is but one generation, that one serves.

    Raises:
        StorageError: The pointer names none of several generations, or cannot be read.
    """
    pointer = file.with_name(POINTER)
    with storage_errors(pointer, "cannot be read"):
        named = pointer.read_bytes().strip().decode(errors="replace") if pointer.exists() else None
        there = generations(file)
    serving = first_file(file) if named is None else file.with_name(Path(named).name or POINTER)
    if serving in there or not there:
        return serving if _stem(serving) == _stem(file) else first_file(file)
    if len(there) == 1:
        log.warning("%s: does not name %s, the only generation of the graph, which serves", pointer, there[0])
        return there[0]
    raise StorageError(
        f"{pointer}: names none of {', '.join(each.name for each in there)}; write the name of the newest "
        "into it, or restore a backup"
    )


def generations(file: Path) -> tuple[Path, ...]:
    """Return the generations that are there, oldest first, given the path of any."""
    stem = _stem(file)
    found = [(_number(each), each) for each in file.parent.glob("*.db") if _stem(each) == stem]
    return tuple(each for _, each in sorted(found))


def first_file(file: Path) -> Path:
    """Return the path of the first generation, given that of any."""
    return file.with_name(f"{_stem(file)}.db")


def next_file(file: Path) -> Path:
    """Return the path of the generation after one."""
    return file.with_name(f"{_stem(file)}.{_number(file) + 1}.db")


def _stem(file: Path) -> str:
    matched = _NAME.fullmatch(file.name)
    return file.name if matched is None else matched["stem"]


def _number(file: Path) -> int:
    matched = _NAME.fullmatch(file.name)
    return int(matched["number"] or 1) if matched else 1


def serve(file: Path) -> None:
    """Make a file the generation that serves, from the next opening on; its content is on the disk already.

    Raises:
        StorageError: The pointer cannot be written.
    """
    with storage_errors(file.with_name(POINTER), "cannot be written"):
        sync_folder(file.parent)
        write_whole(file.with_name(POINTER), f"{file.name}\n")


def remove_others(serving: Path) -> None:
    """Delete every other generation, and what killed processes left of making one; `serving` is open."""
    for folder in serving.parent.glob(f"{SCRATCH}*"):
        shutil.rmtree(folder, ignore_errors=True)
    for file in serving.parent.iterdir():
        for ending in _COMPANIONS:
            base = file.with_name(file.name.removesuffix(ending))
            if file.name.endswith(f".db{ending}") and base != serving and _stem(base) == _stem(serving):
                log.info("%s: is left of an older generation and deleted", file)
                file.unlink(missing_ok=True)


def remove_generation(file: Path) -> None:
    """Delete a generation that does not serve, with its log."""
    for ending in _COMPANIONS:
        file.with_name(file.name + ending).unlink(missing_ok=True)
