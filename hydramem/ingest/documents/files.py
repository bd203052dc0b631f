"""Finds the files of some sources and loads their bytes.

A file that cannot be read is a `SkippedSource` with its reason; only a missing path is an error.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.formats.decode import clean, is_binary
from hydramem.ingest.documents.formats.read_format import FORMATS, Format


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The bytes of a source.

    Attributes:
        format: The format that it has by its ending; None for plain text.
    """

    path: Path
    data: bytes
    content_hash: str
    format: Format | None = None

    @property
    def source(self) -> str:
        """The absolute path as text that every store can hold."""
        return source_name(self.path)


def source_name(path: Path) -> str:
    """Return the name that a document of this path is stored by."""
    return clean(str(path))


OUTSIDE = "outside the folders that may be read"
"""Reason of a link that leads where nothing may be read; whether something is there is not told."""


def find(
    sources: Sequence[str | Path], *, within: Callable[[Path], bool] | None = None
) -> list[Path | SkippedSource]:
    """List the files of some paths: files as given, folders walked in order, each file once.

    Args:
        sources: The paths.
        within: Whether a path, links resolved, may be read: a link to another is skipped, and no folder is
            listed there; by default every one may.

    Raises:
        InvalidInputError: A path does not exist.
    """
    if isinstance(sources, str | Path):
        sources = (sources,)
    paths = [_existing(source) for source in sources]
    found: dict[Path | SkippedSource, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_walk(path, set(), within)))
        else:
            found[path] = None
    return list(found)


def _existing(source: str | Path) -> Path:
    text = os.fspath(source)
    if not text.strip() or "\0" in text:
        raise InvalidInputError(f"sources: {text!r} is not a path")
    try:
        path = Path(text).expanduser().resolve()
        path.stat()
    except (OSError, RuntimeError) as error:
        # RuntimeError: a loop of symbolic links, or no home folder.
        raise InvalidInputError(f"sources: {text[:200]!r} cannot be found: {_reason(error)}") from error
    return path


def _walk(
    folder: Path, seen: set[tuple[int, int]], within: Callable[[Path], bool] | None
) -> Iterator[Path | SkippedSource]:
    """Yield the files under a folder, by name; hidden ones and folders met before are skipped."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            status = current.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedSource(source=clean(str(current)), reason=_reason(error))
            continue
        folders = []
        for entry in entries:
            # Office programs keep a file `~$name` beside a document that is open.
            if entry.name.startswith((".", "~$")) or entry.name in ("__pycache__", "node_modules"):
                continue
            path = Path(entry.path)
            if within is not None and entry.is_symlink() and not _leads_within(path, within):
                yield SkippedSource(source=clean(str(path)), reason=OUTSIDE)
            elif _is_folder(entry):
                folders.append(path)
            else:
                yield _real(path)
        waiting.extend(reversed(folders))


def _leads_within(link: Path, within: Callable[[Path], bool]) -> bool:
    try:
        return within(link.resolve())
    except (OSError, RuntimeError):  # a loop of links
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _real(path: Path) -> Path | SkippedSource:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return SkippedSource(source=clean(str(path)), reason=_reason(error))


def load(path: Path, *, max_bytes: int) -> Raw | SkippedSource:
    """Read the bytes of a regular file that is not too large."""
    source = source_name(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return SkippedSource(source=source, reason="not a regular file")
        if status.st_size > max_bytes:
            return _too_large(source, status.st_size, max_bytes)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        return SkippedSource(source=source, reason=_reason(error))
    if len(data) > max_bytes:
        return _too_large(source, len(data), max_bytes)
    format = FORMATS.get(path.suffix.lower())
    if format is None and is_binary(data):
        return SkippedSource(source=source, reason="binary")
    return Raw(path=path, data=data, content_hash=content_hash(data), format=format)


def _too_large(source: str, size: int, limit: int) -> SkippedSource:
    reason = f"too large: {size / 2**20:.1f} MB, the limit is {limit / 2**20:.0f} MB (ingest.max_file_mb)"
    return SkippedSource(source=source, reason=reason)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
