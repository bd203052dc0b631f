"""Curated memory: `MEMORY.md` and `USER.md`, short plain files that an agent keeps and a person edits.

Each project has a folder of its own under `curated/`. Entries are parted by a line that holds only `§`, and
the whole file keeps within a number of characters: it goes into a prompt as it is. Hermes Agent reads and
writes the same form. A file is written whole or not at all, under a lock that other programs can take too.
"""

import os
import re
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from filelock import FileLock, Timeout

from hydramem.core.argument_checks import check_choice
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError, StoreBusyError
from hydramem.core.ids import content_hash
from hydramem.core.inputs import CuratedAction, CuratedChange
from hydramem.core.results.write_results import Curated
from hydramem.storage.files.durable_files import storage_errors, sync_folder

CuratedTarget = Literal["memory", "user"]
DELIMITER = "\n§\n"
FILES: dict[CuratedTarget, str] = {"memory": "MEMORY.md", "user": "USER.md"}

_TITLES: dict[CuratedTarget, str] = {
    "memory": "MEMORY (your personal notes)",
    "user": "USER PROFILE (who the user is)",
}

_RULE = "═" * 46

# A person may leave blanks around the sign; what is written back has none.
_PARTED = re.compile(r"(?:^|\n)[ \t]*§[ \t]*(?=\n|$)")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}")
_MOST_BYTES = 4_000_000
_MOST_PREVIEW = 80
_LOCK_SECONDS = 10.0
_MOST_SESSIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratedText:
    """What a curated file holds.

    Attributes:
        entries: Stripped, without repeats, in the file's order.
        text: The content of the file; empty if there is none.
        drift: How a person left it in a form that writing it back would not keep; empty where not.
    """

    entries: tuple[str, ...] = ()
    text: str = ""
    drift: str = ""

    @property
    def chars(self) -> int:
        """Characters of the entries together, with what parts them."""
        return len(DELIMITER.join(self.entries))


def curated_file(folder: Path, project: str, target: CuratedTarget) -> Path:
    """Return the path of a project's curated file, under the folder of curated memory."""
    plain = _PLAIN_NAME.fullmatch(project)
    readable = re.sub(r"[^a-z0-9]+", "-", project.casefold())[:40].strip("-")
    # `~` is in no plain name, so that no two projects share a folder, on no file system.
    return folder / (project if plain else f"{readable}~{content_hash(project)[:12]}") / FILES[target]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratedPlace:
    """A curated file: where it is, and what it may hold.

    Attributes:
        folder: The store's folder of curated memory.
        project: Whose file.
        target: Which file.
        settings: How long it may be, and how entries are screened.
    """

    folder: Path
    project: str
    target: CuratedTarget
    settings: MemoryConfig

    @property
    def path(self) -> Path:
        """The file."""
        return curated_file(self.folder, self.project, self.target)

    @property
    def limit(self) -> int:
        """Most characters of its entries together."""
        settings = self.settings
        return settings.curated_memory_chars if self.target == "memory" else settings.curated_user_chars


def read_curated(path: Path, *, limit: int) -> CuratedText:
    """Read a curated file; one that is not there is empty.

    Raises:
        StorageError: It cannot be read, or is no text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return CuratedText()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise StorageError(f"{path}: is larger than {_MOST_BYTES:,} bytes; that is no curated memory")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: is not UTF-8 text at byte {error.start}; save it as UTF-8") from error
    if "\0" in text:
        raise StorageError(f"{path}: holds zero bytes, as damage leaves them; correct it by hand")
    return _parsed(text.replace("\r\n", "\n"), limit)


def _parsed(text: str, limit: int) -> CuratedText:
    entries = tuple(dict.fromkeys(filter(None, map(normal, _PARTED.split(text)))))
    long = next((entry for entry in entries if len(entry) > limit), None)
    if long is not None:
        drift = f"the entry {_preview(long)!r} is longer than the {limit:,} characters of the whole file"
    elif DELIMITER.join(entries) != text.strip():
        drift = "it is not entries parted by lines that hold only §, each entry once"
    else:
        drift = ""
    return CuratedText(entries=entries, text=text, drift=drift)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Hold the lock of a curated file; its folder is made.

    Raises:
        StoreBusyError: Another program holds it.
        StorageError: The folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        real = Path(os.path.realpath(path))
        lock = FileLock(real.with_name(f"{real.name}.lock"), timeout=_LOCK_SECONDS, mode=0o600)
        lock.acquire()
    except Timeout as error:
        raise StoreBusyError(f"{path}: another program writes it; try again") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


def changed(
    current: CuratedText,
    changes: Sequence[CuratedChange],
    *,
    limit: int,
    name: str,
    shown: Callable[[str], str],
) -> tuple[str, ...]:
    """Return the entries after a batch of changes, made one after the other; only the end must fit.

    Args:
        changes: What to change, contents checked.
        limit: Most characters of the entries together.
        name: The file's name, for error messages.
        shown: Turns an entry into what an error message may show of it.

    Raises:
        NotFoundError: No entry holds the words of a change.
        InvalidInputError: Several do, a change is wrong, or the result is too long.
    """
    entries = list(current.entries)
    for index, change in enumerate(changes):
        _change(entries, change, f"changes[{index}]", name, shown)
    kept = tuple(dict.fromkeys(entries))
    chars = len(DELIMITER.join(kept))
    if chars > limit and chars >= current.chars:
        raise InvalidInputError(
            f"{name}: would hold {chars:,} of {limit:,} characters (now {current.chars:,}); replace entries "
            f"by shorter ones or remove some in the same batch. It holds: {_listed(current.entries, shown)}"
        )
    return kept


def normal(text: str) -> str:
    """Return an entry as a file gives it back: stripped, lines ended one way."""
    return text.replace("\r\n", "\n").strip().lstrip("\ufeff").strip()


def _change(
    entries: list[str], change: CuratedChange, where: str, name: str, shown: Callable[[str], str]
) -> None:
    content, words = normal(change.content), normal(change.old_text)
    if (check_choice(change.action, get_args(CuratedAction), name=f"{where}.action") == "remove") == bool(
        content
    ):
        problem = (
            "is not wanted where an entry is removed" if content else "is empty; to take out, use remove"
        )
        raise InvalidInputError(f"{where}.content: {problem}")
    if (change.action == "add") == bool(words):
        problem = "is not wanted where an entry is added" if words else "is empty; give words of the entry"
        raise InvalidInputError(f"{where}.old_text: {problem}")
    if _PARTED.search(content):
        raise InvalidInputError(f"{where}.content: holds a line that is only §, which parts entries")
    if change.action == "add":
        entries.append(content)
        return
    place = _find(entries, words, where, name, shown)
    entries[place : place + 1] = [content] if content else []


def _find(entries: list[str], words: str, where: str, name: str, shown: Callable[[str], str]) -> int:
    found = [place for place, entry in enumerate(entries) if words == entry] or [
        place for place, entry in enumerate(entries) if words in entry
    ]
    if not found:
        raise NotFoundError(
            f"{where}.old_text: no entry of {name} holds {_preview(words)!r}. It holds: "
            f"{_listed(entries, shown)}"
        )
    matches = list(dict.fromkeys(entries[place] for place in found))
    if len(matches) > 1:
        raise InvalidInputError(
            f"{where}.old_text: {len(matches)} entries of {name} hold {_preview(words)!r}; give words of one "
            f"alone. They are: {_listed(matches, shown)}"
        )
    return found[0]


def _listed(entries: Sequence[str], shown: Callable[[str], str]) -> str:
    return "; ".join(repr(_preview(shown(entry))) for entry in entries) or "nothing"


def _preview(text: str) -> str:
    return text if len(text) <= _MOST_PREVIEW else f"{text[:_MOST_PREVIEW]}…"


def write_curated(path: Path, entries: Sequence[str]) -> None:
    """Replace a curated file by entries, whole or not at all; the lock is held.

    Raises:
        StorageError: It cannot be written; the old content stays.
    """
    # If the path is a symbolic link, its target is written.
    real = Path(os.path.realpath(path))
    with storage_errors(path, "cannot be written"):
        _remove_leftovers(real)
        _replace(real, DELIMITER.join(entries).encode("utf-8"))


def _replace(path: Path, data: bytes) -> None:
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(made)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _remove_leftovers(path: Path) -> None:
    """Delete unfinished files of writers that were killed."""
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(".tmp"):
            left.unlink(missing_ok=True)


def keep_copy(path: Path, current: CuratedText) -> Path:
    """Copy a file whose form writing would not keep; return the copy, the same for the same text.

    Raises:
        StorageError: It cannot be written.
    """
    data = current.text.encode("utf-8")
    for copy in sorted(path.parent.glob(f"{path.name}.bak.*")):
        if copy.stat().st_size == len(data) and copy.read_bytes() == data:
            return copy
    copy = path.with_name(f"{path.name}.bak.{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
    with storage_errors(copy, "cannot be written"):
        _replace(copy, data)
    return copy


def block(target: CuratedTarget, entries: Sequence[str], *, limit: int) -> str:
    """Return entries as a prompt shows them: a heading with how full the file is; empty where none are."""
    if not entries:
        return ""
    body = DELIMITER.join(entries)
    if len(body) > limit:  # a person wrote past it: a prompt has no room for more
        body = f"{body[:limit]}…\n[cut: the file is longer than its limit]"
    percent = min(100, len(body) * 100 // limit)
    header = f"{_TITLES[target]} [{percent}% — {len(body):,}/{limit:,} chars]"
    return f"{_RULE}\n{header}\n{_RULE}\n{body}"


def gone(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return the entries that a change took out."""
    return tuple(entry for entry in before if entry not in after)


@dataclass(slots=True)
class SessionBlocks:
    """The block that each session was shown first, so that its prompts stay the same to the letter.

    Kept while the store is open, for the sessions that asked last.
    """

    _blocks: OrderedDict[tuple[str, str, str], str] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def frozen(self, project: str, session: str, file: Curated) -> str:
        """Return the block of a file that this session was shown first; the one given where that is now."""
        key = (project, session, file.target)
        with self._lock:
            block = self._blocks.setdefault(key, file.block)
            self._blocks.move_to_end(key)
            while len(self._blocks) > _MOST_SESSIONS * len(FILES):
                self._blocks.popitem(last=False)
            return block
