"""A cache of model replies about claims, by content, so that the same question is paid for once.

One SQLite file, created with the first reply. A reply that cannot be read is asked for again. Each reply is
stored with the chunks that it was read from, so that erasing a chunk erases replies about it.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hydramem.core.errors import StorageError

T = TypeVar("T")
log = logging.getLogger(__name__)
_MOST = 20_000

_TABLES = """
    PRAGMA secure_delete = ON;
    CREATE TABLE IF NOT EXISTS replies(place INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, reply TEXT);
    CREATE TABLE IF NOT EXISTS read_from(chunk TEXT, place INTEGER, PRIMARY KEY(chunk, place)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A reply to store: its key, its JSON text, and the ids of the chunks that it was read from."""

    key: str
    reply: str
    chunks: tuple[str, ...]


class Replies:
    """A bounded store of replies. Safe to use from many threads.

    Args:
        file: The file; None stores them for this process only.
        most: Most replies; the oldest are dropped first.
    """

    def __init__(self, file: Path | None, *, most: int = _MOST) -> None:
        self._file = file
        self._most = most
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the replies that are stored under these keys; others are left out."""

        def look(connection: sqlite3.Connection) -> dict[str, str]:
            select = "SELECT key, reply FROM replies WHERE key = ?"
            return dict(row for key in keys for row in connection.execute(select, (key,)))

        return self._or_none(look) or {}

    def put(self, kept: Iterable[Kept]) -> None:
        """Store replies, in place of those with the same key."""
        self._or_none(lambda connection: self._put(connection, tuple(kept)), make=True)

    def purge(self, chunks: Iterable[str]) -> int:
        """Erase every reply that was read from one of these chunks; return how many.

        Raises:
            StorageError: They cannot be erased.
        """
        try:
            return self._in_transaction(lambda connection: _purge(connection, tuple(chunks))) or 0
        except (sqlite3.Error, OSError) as error:
            raise StorageError(f"{self._file}: replies cannot be erased: {error}; delete the file") from error

    def close(self) -> None:
        """Release the file; harmless when repeated."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _put(self, connection: sqlite3.Connection, kept: Sequence[Kept]) -> None:
        for one in kept:
            _drop(connection, "SELECT place FROM replies WHERE key = ?", (one.key,))
            insert = "INSERT INTO replies(key, reply) VALUES (?, ?)"
            place = connection.execute(insert, (one.key, one.reply)).lastrowid
            rows = [(chunk, place) for chunk in dict.fromkeys(one.chunks)]
            connection.executemany("INSERT INTO read_from VALUES (?, ?)", rows)
        oldest = "SELECT place FROM replies ORDER BY place DESC LIMIT -1 OFFSET ?"
        _drop(connection, oldest, (self._most,))

    def _or_none(self, work: Callable[[sqlite3.Connection], T], *, make: bool = False) -> T | None:
        try:
            return self._in_transaction(work, make=make)
        except (sqlite3.Error, OSError) as error:
            log.warning("%s: %s; models are asked again", self._file, error)
            return None

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T], *, make: bool = False) -> T | None:
        """Run a function in one transaction; None where there is no file and `make` is False."""
        with self._lock:
            if self._connection is None:
                if not make and (self._file is None or not self._file.exists()):
                    return None
                self._connection = _open(self._file)
            with self._connection as transaction:
                return work(transaction)


def _open(file: Path | None) -> sqlite3.Connection:
    """Open the file; a missing or damaged one is created."""
    if file is None:
        return _prepared(":memory:")
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _prepared(str(file))
    except sqlite3.DatabaseError as error:
        log.warning("%s: %s; it is made anew", file, error)
        file.unlink()
        return _prepared(str(file))


def _prepared(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False)
    try:
        connection.executescript(_TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


def _purge(connection: sqlite3.Connection, chunks: Sequence[str]) -> int:
    select = "SELECT place FROM read_from WHERE chunk = ?"
    return sum(_drop(connection, select, (chunk,)) for chunk in chunks)


def _drop(connection: sqlite3.Connection, select: str, values: tuple[object, ...]) -> int:
    places = connection.execute(select, values).fetchall()
    connection.executemany("DELETE FROM read_from WHERE place = ?", places)
    connection.executemany("DELETE FROM replies WHERE place = ?", places)
    return len(places)
