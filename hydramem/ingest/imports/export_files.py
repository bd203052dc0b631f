"""Opens the JSON files of a chat export: the file itself, or those of a zip archive or folder by their name.

Nothing is unpacked to disk: a name in an archive is only compared and shown, and no link is followed.
"""

import fnmatch
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, cast

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.decode import clean
from hydramem.ingest.imports.records import Meter

MOST_UNPACKED = 4 * 2**30
"""Most bytes that are read of one archive."""

_MOST_PARTS = 50_000
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


class MeteredFile:
    """A file that is read in order, and counted; what is wrong with it is an `OSError`."""

    def __init__(self, file: IO[bytes], meter: Meter, most: int) -> None:
        self._file = file
        self._meter = meter
        self._left = most

    def read(self, size: int) -> bytes:
        """Return at most so many bytes; none at the end.

        Raises:
            OSError: It is damaged, encrypted, or longer than what may be read.
        """
        try:
            piece = self._file.read(size)
        except _BROKEN as error:
            raise OSError(f"broken: {error}") from error
        self._meter.done += len(piece)
        self._left -= len(piece)
        if self._left < 0:
            raise OSError(f"unpacks to more than {MOST_UNPACKED // 2**30} GB")
        return piece

    def close(self) -> None:
        """Close it."""
        self._file.close()


def export_files(path: Path, pattern: str, meter: Meter) -> Iterator[tuple[str, IO[bytes]] | SkippedRecord]:
    """Yield the name and the content of each file of an export; one that cannot be opened is skipped.

    Args:
        path: A JSON file, a zip archive, or the folder that one was unpacked to.
        pattern: Fits the names of files in an archive or folder, such as `conversations*.json`.
        meter: Gets the bytes.

    Raises:
        OSError: The path cannot be read.
    """
    if path.is_dir():
        fitting = sorted(
            each for each in path.iterdir() if fnmatch.fnmatch(each.name, pattern) and not each.is_symlink()
        )
        meter.total = sum(each.stat().st_size for each in fitting)
        for each in fitting:
            yield from _opened(each.name, each, meter)
    elif zipfile.is_zipfile(path):
        yield from _members(path, pattern, meter)
    else:
        meter.total = path.stat().st_size
        yield from _opened(path.name, path, meter)


def _opened(name: str, path: Path, meter: Meter) -> Iterator[tuple[str, IO[bytes]]]:
    with path.open("rb") as file:
        yield name, cast(IO[bytes], MeteredFile(file, meter, path.stat().st_size + MOST_UNPACKED))


def _members(path: Path, pattern: str, meter: Meter) -> Iterator[tuple[str, IO[bytes]] | SkippedRecord]:
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        yield SkippedRecord(place=path.name, reason=f"is no whole zip archive: {error}")
        return
    with closing(archive):
        parts = archive.infolist()
        if len(parts) > _MOST_PARTS:
            yield SkippedRecord(place=path.name, reason=f"holds over {_MOST_PARTS:,} files")
            return
        fitting = [each for each in parts if fnmatch.fnmatch(PurePosixPath(each.filename).name, pattern)]
        meter.total = sum(each.file_size for each in fitting)
        for part in sorted(fitting, key=lambda each: each.filename):
            name = f"{path.name}, {clean(part.filename)[:200]}"
            try:
                file = archive.open(part)
            except (*_BROKEN, OSError) as error:
                yield SkippedRecord(place=name, reason=f"cannot be opened: {error}")
                continue
            with file:
                left = MOST_UNPACKED - meter.done
                yield name, cast(IO[bytes], MeteredFile(file, meter, left))
