"""Checksums of a table's files: LanceDB keeps none, and zeros in its index of words read as no such words.

LanceDB never changes a file of rows, of deleted rows or of an index, so each is summed once.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from hydramem.storage.files.durable_files import write_whole

_log = logging.getLogger(__name__)
INDICES = "_indices"
_KINDS = ("data", "_deletions", INDICES)


def note_checksums(table: Path) -> None:
    """Note the checksums of files that have none yet, and forget those that are gone.

    The caller sees to it that nothing writes to the table meanwhile: of a file that is not whole yet, the
    wrong sum would be noted. A disk that takes no note is no error; the files are noted next time.

    Args:
        table: The folder of the table.
    """
    known = _noted(table)
    sums = {
        name: known.get(name) or _checksum(file)
        for name, file in ((str(file.relative_to(table)), file) for file in _files(table))
    }
    if sums == known:
        return
    try:
        write_whole(_note(table), json.dumps(sums, indent=0))
    except OSError as error:
        _log.warning("%s: the checksums were not noted: %s", table, error)


def damaged_files(table: Path) -> tuple[str, ...]:
    """Return the names of the files whose checksum is another one than was noted, from the table's folder.

    A file that is gone is passed over: upkeep deletes files, and LanceDB says which it misses.

    Raises:
        OSError: A file cannot be read.
    """
    return tuple(name for name, noted in _noted(table).items() if _differs(table / name, noted))


def is_of_index(name: str) -> bool:
    """Say whether a file belongs to an index, which can be made anew from the rows."""
    return Path(name).parts[0] == INDICES


def _differs(file: Path, noted: str) -> bool:
    try:
        return _checksum(file) != noted
    except FileNotFoundError:
        return False


def _files(table: Path) -> Iterator[Path]:
    for kind in _KINDS:
        yield from (file for file in sorted((table / kind).rglob("*")) if file.is_file())


def _checksum(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _noted(table: Path) -> Mapping[str, str]:
    """Return what is noted; nothing where the note is missing or damaged itself."""
    try:
        noted = json.loads(_note(table).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _note(table: Path) -> Path:
    return table.with_suffix(".checksums.json")
