"""Changes of files: planned from what is there, shown as a difference, and written all at once per file."""

import difflib
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hydramem.core.errors import StorageError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What becomes of one file.

    Attributes:
        path: The file.
        before: Its bytes as they were read; None where there is none.
        after: Its bytes to be; None deletes it.
        mode_of: The file whose permissions a new file gets; None for the usual ones.
        is_backup: Whether it is a copy of a file before its change.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    mode_of: Path | None = None
    is_backup: bool = False

    @property
    def kind(self) -> str:
        """Return created, changed, deleted or unchanged."""
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "deleted" if self.after is None else "changed"


def read_bytes(path: Path) -> bytes | None:
    """Return the bytes of a file; None where there is none.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error


def apply_changes(changes: Iterable[FileChange], *, within: Sequence[Path]) -> None:
    """Write changes in their order; each file has its old content or its new one at any moment.

    Args:
        changes: What becomes of the files.
        within: Folders below which a folder that a deleted file leaves empty goes too.

    Raises:
        StorageError: A file cannot be written, or has changed since the changes were planned.
    """
    for change in changes:
        if change.kind == "unchanged":
            continue
        if read_bytes(change.path) != change.before:
            raise StorageError(f"{change.path}: another program has changed it meanwhile; try again")
        # A link of a folder of dot-files stays one: what it points to is written.
        target = Path(os.path.realpath(change.path))
        try:
            if change.after is None:
                target.unlink()
                _remove_empty(change.path.parent, within)
            else:
                _write(target, change.after, change.mode_of)
        except OSError as error:
            raise StorageError(f"{change.path}: cannot be written: {error.strerror}") from error


def _write(target: Path, data: bytes, mode_of: Path | None) -> None:
    existing = target if target.exists() else mode_of
    status = existing.stat() if existing is not None else None
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(None, "it is write-protected")
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(stat.S_IMODE(status.st_mode) if status is not None else 0o666 & ~_mask())
        if status is not None and hasattr(os, "chown") and status.st_uid != os.geteuid():
            os.chown(name, status.st_uid, status.st_gid)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _mask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove_empty(folder: Path, within: Sequence[Path]) -> None:
    while any(folder != base and folder.is_relative_to(base) for base in within):
        try:
            folder.rmdir()
        except OSError:  # it holds something, or is a link
            return
        folder = folder.parent


def difference(changes: Iterable[FileChange]) -> str:
    """Return what changes as a unified difference; a backup is one line."""
    lines: list[str] = []
    for change in changes:
        if change.kind == "unchanged":
            continue
        if change.is_backup:
            verb = "delete" if change.after is None else "write"
            lines.append(f"# {verb} the backup {change.path}\n")
            continue
        before, after = (
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for data in (change.before, change.after)
        )
        old, new = (
            "/dev/null" if data is None else str(change.path) for data in (change.before, change.after)
        )
        lines += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(before, after, old, new)
        ]
    return "".join(lines)
