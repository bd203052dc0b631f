"""Plan the change of a host's file of settings, so that what was there before can be had back to the byte."""

from collections.abc import Sequence
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.file_changes import FileChange, read_bytes
from hydramem.hosts.host_files.settings_formats import OurSettings, SettingsFormat

BACKUP_SUFFIX = ".hydramem-backup"
"""What the name of a file's backup ends in; it stands beside the file."""


def plan_writing(path: Path, form: SettingsFormat, ours: OurSettings) -> Sequence[FileChange]:
    """Return the changes that write our settings into a file, and its backup before the first of them.

    Raises:
        InvalidInputError: The file cannot be parsed, or has something else where ours belongs.
        StorageError: It cannot be read.
    """
    before = read_bytes(path)
    text = _text(path, before)
    try:
        after = _encoded(form.write(text, ours))
        is_first = not form.find(text)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}; nothing is written") from error
    if before is None or after == before:
        return (FileChange(path=path, before=before, after=after),)
    backup = _backup_of(path)
    old = read_bytes(backup)
    kept = before if is_first or old is None else old
    return (
        FileChange(path=backup, before=old, after=kept, mode_of=path, is_backup=True),
        FileChange(path=path, before=before, after=after),
    )


def plan_taking(path: Path, form: SettingsFormat, ours: OurSettings) -> Sequence[FileChange]:
    """Return the changes that take our settings out of a file.

    If only we have changed the file since its backup, it gets the bytes that it had then. A file that we
    have made, and nobody else has changed, goes.

    Args:
        path: The file.
        form: Its format.
        ours: Which kinds of settings go.

    Raises:
        InvalidInputError: The file cannot be parsed.
        StorageError: It cannot be read.
    """
    before = read_bytes(path)
    if before is None:
        return ()
    backup, text = _backup_of(path), _text(path, before)
    old = read_bytes(backup)
    try:
        there = form.find(text)
        if there == there.without(ours):
            return ()
        after = _restored(form, text, there, ours, _text(backup, old) if old is not None else None)
        if after is None:
            after = _encoded(form.take(text, ours, _text(backup, old)))
            left = form.find(after.decode("utf-8"))
        else:
            left = there.without(ours)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}; nothing is changed") from error
    result = old if not left and after == (old or b"") else after
    change = FileChange(path=path, before=before, after=result)
    if old is None or result != old:
        return (change,)
    return (change, FileChange(path=backup, before=old, after=None, is_backup=True))


def _restored(
    form: SettingsFormat, text: str, there: OurSettings, ours: OurSettings, backup: str | None
) -> bytes | None:
    """Return the file as it was without ours, if writing ours into the backup makes exactly this text."""
    base = backup or ""
    if form.find(base) or form.write(base, there) != text:
        return None
    left = there.without(ours)
    return _encoded(form.write(base, left) if left else base)


def _backup_of(path: Path) -> Path:
    return path.with_name(path.name + BACKUP_SUFFIX)


def _text(path: Path, data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: is no text in UTF-8; nothing is changed") from error


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInputError("a path is no text in UTF-8, so it cannot be written") from error
