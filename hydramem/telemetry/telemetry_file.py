"""The SQLite file of telemetry: single calls of the last days, totals of earlier ones, and daily measures.

Every column is a number, a day, or a word of a closed list (operations, surfaces, classes of errors, names of
measures). Nothing is synced: after a power failure the file may be damaged, which costs no memory.
"""

import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hydramem.telemetry.latency_histogram import as_text, bucket, from_text
from hydramem.telemetry.totals import SUMS, Key, Measures, Totals, summed

T = TypeVar("T")
log = logging.getLogger(__name__)
_VERSION = 1
_TABLES = f"""
    CREATE TABLE IF NOT EXISTS calls(at INTEGER, operation TEXT, surface TEXT, outcome TEXT, ms REAL,
        hits INTEGER, relevance REAL, answered INTEGER, tokens INTEGER, baseline INTEGER);
    CREATE TABLE IF NOT EXISTS days(day TEXT, operation TEXT, surface TEXT, outcome TEXT, {", ".join(SUMS)},
        latency TEXT, PRIMARY KEY(day, operation, surface, outcome)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS measures(day TEXT, name TEXT, count INTEGER, total REAL,
        PRIMARY KEY(day, name)) WITHOUT ROWID;
    PRAGMA user_version = {_VERSION};
"""
_CALLS_BY_DAY = """
    SELECT date(at / 1000, 'unixepoch'), operation, surface, outcome, bucket(ms),
        count(*), total(hits), count(answered), total(answered), count(relevance), total(relevance),
        total(tokens), total(baseline), total(CASE WHEN baseline IS NULL THEN 0 ELSE tokens END)
    FROM calls WHERE at >= ? AND at < ? GROUP BY 1, 2, 3, 4, 5
"""
_SIDES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call, in the order of the columns.

    Attributes:
        at: Milliseconds since 1970, UTC.
        outcome: Class of the error; empty where the call returned.
        answered: 1 or 0; None where nothing was asked.
        tokens, baseline: None where nothing was given to an agent, or the sources are not known.
    """

    at: int
    operation: str
    surface: str
    outcome: str
    ms: float
    hits: int | None = None
    relevance: float | None = None
    answered: int | None = None
    tokens: int | None = None
    baseline: int | None = None


class TelemetryFile:
    """The file, created with the first call. Not safe for several threads at once.

    Args:
        file: Its path; None keeps everything in memory.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None

    def add(self, calls: Iterable[CallRow], measures: Measures) -> None:
        """Write calls and add measures in one transaction.

        Raises:
            sqlite3.Error: It cannot be written.
        """

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO calls VALUES (?,?,?,?,?,?,?,?,?,?)", map(astuple, calls))
            rows = [(*key, count, total) for key, (count, total) in measures.items()]
            connection.executemany(
                "INSERT INTO measures VALUES (?,?,?,?) ON CONFLICT(day, name) DO UPDATE SET "
                "count = count + excluded.count, total = total + excluded.total",
                rows,
            )

        self._in_transaction(work)

    def totals(self, since: str) -> dict[Key, Totals]:
        """Return the totals from a day on: of single calls, and of calls that were folded."""

        def work(connection: sqlite3.Connection) -> dict[Key, Totals]:
            folded = connection.execute("SELECT * FROM days WHERE day >= ?", (since,))
            start = _milliseconds(since)
            return summed([*map(_folded, folded), *_single_calls(connection, start, _END)])

        return self._in_transaction(work) if self._is_there() else {}

    def measures(self, since: str) -> dict[tuple[str, str], tuple[int, float]]:
        """Return the measures from a day on."""

        def work(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[int, float]]:
            rows = connection.execute("SELECT day, name, count, total FROM measures WHERE day >= ?", (since,))
            return {(day, name): (count, total) for day, name, count, total in rows}

        return self._in_transaction(work) if self._is_there() else {}

    def fold(self, before: str) -> None:
        """Fold the single calls before a day into totals."""
        self._in_transaction(lambda connection: _fold(connection, _milliseconds(before)))

    def drop(self, before: str) -> None:
        """Delete totals and measures before a day."""

        def work(connection: sqlite3.Connection) -> None:
            for table in ("days", "measures"):
                connection.execute(f"DELETE FROM {table} WHERE day < ?", (before,))  # noqa: S608 - two names

        self._in_transaction(work)

    def shrink(self, most_bytes: int) -> None:
        """Fold the older half of the single calls until the rest is small enough, then drop the oldest days.

        The file does not become smaller; the room is used for what follows.
        """
        while self._in_transaction(_used_bytes) > most_bytes:
            if not self._in_transaction(_fold_half) and not self._in_transaction(_drop_half):
                return

    def calls(self) -> int:
        """Return how many calls it knows of, folded ones included."""
        return sum(totals.calls for totals in self.totals("").values())

    def bytes(self) -> int:
        """Return the size of its files."""
        if self.file is None:
            return self._in_transaction(_used_bytes) if self._connection is not None else 0
        return sum(path.stat().st_size for path in self._paths() if path.exists())

    def delete(self) -> None:
        """Delete everything, a damaged file that was set aside included."""
        self.close()
        for path in (*self._paths(), *filter(None, [self._aside()])):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the file; harmless when repeated."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _paths(self) -> Iterator[Path]:
        if self.file is not None:
            yield from (self.file.with_name(self.file.name + side) for side in _SIDES)

    def _aside(self) -> Path | None:
        return (
            None if self.file is None else self.file.with_name(f"{self.file.stem}.damaged{self.file.suffix}")
        )

    def _is_there(self) -> bool:
        return self._connection is not None or (self.file is not None and self.file.exists())

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in one transaction; a damaged file is set aside, and the function runs on a new one.

        Raises:
            sqlite3.Error: The file cannot be read or written, or a newer version made it.
            OSError: A damaged file cannot be set aside.
        """
        try:
            return self._run(work)
        except sqlite3.OperationalError:
            raise  # the disk is full, or the file is not accessible
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return self._run(work)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            self._connection = _open(":memory:" if self.file is None else str(self.file))
        with self._connection as transaction:
            return work(transaction)

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        self.close()
        aside = self._aside()
        if self.file is None or aside is None:
            return
        log.warning("%s: %s; it is kept as %s, and a new one is begun", self.file, error, aside.name)
        self.file.replace(aside)
        for path in self._paths():
            path.unlink(missing_ok=True)


def _open(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False, timeout=1.0)
    try:
        connection.create_function("bucket", 1, bucket, deterministic=True)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise sqlite3.OperationalError(f"its version {version} is newer than this program")
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 100; "
            "PRAGMA journal_size_limit = 400000;"
        )
        if version < _VERSION:
            connection.executescript(_TABLES)
    except BaseException:
        connection.close()
        raise
    return connection


_END = 1 << 62


def _milliseconds(day: str) -> int:
    """Return when a day begins; an empty one is before all others."""
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else datetime.fromtimestamp(0, UTC)
    return int(begin.timestamp() * 1000)


def _single_calls(connection: sqlite3.Connection, start: int, end: int) -> Iterator[tuple[Key, Totals]]:
    for row in connection.execute(_CALLS_BY_DAY, (start, end)):
        sums = dict(zip(SUMS, row[5:], strict=True))
        whole = {name: value if name == "relevance" else int(value) for name, value in sums.items()}
        yield Key(*row[:4]), Totals(**whole, latency=Counter({row[4]: row[5]}))


def _folded(row: tuple[object, ...]) -> tuple[Key, Totals]:
    key, sums, latency = row[:4], row[4:-1], str(row[-1])
    values = dict(zip(SUMS, sums, strict=True))
    return Key(*map(str, key)), Totals(**values, latency=Counter(from_text(latency)))  # type: ignore[arg-type]


def _fold(connection: sqlite3.Connection, end: int) -> int:
    """Fold the calls before a moment into the totals of their days; return how many."""
    new = summed(_single_calls(connection, 0, end))
    for key in new:
        stored = connection.execute(
            "SELECT * FROM days WHERE day = ? AND operation = ? AND surface = ? AND outcome = ?", key
        ).fetchone()
        if stored is not None:
            new[key].add(_folded(stored)[1])
    rows = [
        (*key, *(getattr(totals, name) for name in SUMS), as_text(totals.latency))
        for key, totals in new.items()
    ]
    marks = ",".join("?" * (len(Key._fields) + len(SUMS) + 1))
    connection.executemany(f"INSERT OR REPLACE INTO days VALUES ({marks})", rows)  # noqa: S608 - marks only
    return connection.execute("DELETE FROM calls WHERE at < ?", (end,)).rowcount


def _fold_half(connection: sqlite3.Connection) -> int:
    middle = connection.execute(
        "SELECT at FROM calls ORDER BY at LIMIT 1 OFFSET (SELECT count(*) / 2 FROM calls)"
    ).fetchone()
    return 0 if middle is None else _fold(connection, int(middle[0]) + 1)


def _drop_half(connection: sqlite3.Connection) -> int:
    """Delete the older half of the days, but never the last; return how many rows went."""
    days = [
        row[0] for row in connection.execute("SELECT day FROM days UNION SELECT day FROM measures ORDER BY 1")
    ]
    before = days[(len(days) + 1) // 2] if len(days) > 1 else ""
    tables = ("days", "measures")
    return sum(
        connection.execute(f"DELETE FROM {table} WHERE day < ?", (before,)).rowcount  # noqa: S608 - two names
        for table in tables
    )


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
