"""Reads the SQLite file of claude-mem: observations and summaries as memories, prompts as sessions.

Its tables have gained columns with each version, so only those are read that a file has. It is never written
to: a file with a log beside it, as a running program leaves, is copied first.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.transcript import Turn
from hydramem.ingest.imports.checked_records import scope_under
from hydramem.ingest.imports.json_values import MOST_BYTES, plain_name, plain_names, plain_text
from hydramem.ingest.imports.readers.conversations import conversation_record
from hydramem.ingest.imports.records import MemoryRecord, Meter, OmittedRecord, Record
from hydramem.text.dates.transcript_times import parse_loose

MAGIC = b"SQLite format 3\0"
_MOST_COPIED = 4 * 2**30
_ROWS = 200
_MOST_LABELS = 20
_LONGEST_LABEL = 100

_TABLES: Mapping[str, tuple[str, ...]] = {
    "observations": (
        *("id", "memory_session_id", "project", "merged_into_project", "text", "type", "title", "subtitle"),
        *("facts", "narrative", "concepts", "files_read", "files_modified", "created_at", "created_at_epoch"),
    ),
    "session_summaries": (
        *("id", "memory_session_id", "project", "request", "investigated", "learned", "completed"),
        *("next_steps", "notes", "created_at", "created_at_epoch"),
    ),
    "user_prompts": (
        *("content_session_id", "prompt_number", "prompt_text", "created_at", "created_at_epoch"),
    ),
}
_ORDER = {"user_prompts": ("content_session_id", "prompt_number")}
_SUMMARY = {
    "request": "Request",
    "investigated": "Investigated",
    "completed": "Completed",
    "next_steps": "Next steps",
    "notes": "Notes",
}
_Row = Mapping[str, Any]


def read_claude_mem(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield each observation as a note, what summaries say was learned as facts, and prompts as sessions.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        with _opened(path) as database:
            tables = {name: _columns(database, name) for name in _TABLES}
            if not tables["observations"] and not tables["session_summaries"]:
                yield SkippedRecord(place=path.name, reason="holds no tables of claude-mem")
            meter.total = sum(_count(database, name) for name, columns in tables.items() if columns)
            for name, columns in tables.items():
                if columns:
                    yield from _records(database, name, columns, path.name, scope=scope, meter=meter)
    except sqlite3.Error as error:
        yield SkippedRecord(place=path.name, reason=f"cannot be read on: {error}")


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file for reading, or a copy of it where its newest rows are in a log beside it."""
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or log.is_symlink():
        with closing(_connection(f"{path.as_uri()}?mode=ro&immutable=1")) as database:
            yield database
        return
    if path.stat().st_size + log.stat().st_size > _MOST_COPIED:
        raise OSError(f"is over {_MOST_COPIED // 2**30} GB, and is in use: close its program first")
    with tempfile.TemporaryDirectory(prefix="hydramem-import-") as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name("copy.db-wal"))
        with closing(_connection(copy.as_uri())) as database:
            yield database


def _connection(uri: str) -> sqlite3.Connection:
    database = sqlite3.connect(uri, uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    # What a stranger's schema defines is not run.
    database.execute("PRAGMA trusted_schema=OFF")
    database.execute("PRAGMA query_only=ON")
    return database


def _columns(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return the known columns that a table has; none where it is missing, or no table."""
    made = database.execute(
        "SELECT sql FROM sqlite_master WHERE type='table' AND name=?", (table,)
    ).fetchone()
    if made is None or not str(made[0]).upper().startswith(
        "CREATE TABLE"
    ):  # a view or virtual table runs code
        return ()
    has = {row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    return tuple(name for name in _TABLES[table] if name in has)


def _count(database: sqlite3.Connection, table: str) -> int:
    (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 -- a name of ours
    return int(count)


def _records(
    database: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    file: str,
    *,
    scope: str,
    meter: Meter,
) -> Iterator[Record]:
    if table == "user_prompts":
        yield from _sessions(_rows(database, table, columns, meter), file)
        return
    for number, row in enumerate(_rows(database, table, columns, meter), 1):
        place = f"{file}, {table} {plain_name(str(row.get('id', number)))[:80]}"
        if table == "observations":
            yield _observation(row, place, scope)
        else:
            yield from _summary(row, place, scope)


def _rows(
    database: sqlite3.Connection, table: str, columns: Sequence[str], meter: Meter
) -> Iterator[dict[str, Any]]:
    order = [name for name in _ORDER.get(table, ("id",)) if name in columns]
    by = f" ORDER BY {', '.join(order)}" if order else ""
    cursor = database.execute(f"SELECT {', '.join(columns)} FROM {table}{by}")  # noqa: S608 -- names of ours
    while rows := cursor.fetchmany(_ROWS):
        meter.done += len(rows)
        for row in rows:
            yield dict(zip(columns, row, strict=True))


def _observation(row: _Row, place: str, scope: str) -> Record:
    facts = plain_names(row.get("facts"))
    parts = [plain_text(row.get(key)) for key in ("title", "subtitle", "narrative")]
    text = "\n".join([part for part in parts if part] + [f"- {fact}" for fact in facts])
    text = text or plain_text(row.get("text"))
    if not text:
        return SkippedRecord(place=place, reason="observation without words")
    labels = (plain_name(row.get("type")), *plain_names(row.get("concepts")))
    memory = _memory(row, text, place, scope)
    categories = dict.fromkeys(each for each in labels if 0 < len(each) <= _LONGEST_LABEL)
    return MemoryRecord(
        place=place, memory=MemoryInput(**{**memory, "categories": tuple(categories)[:_MOST_LABELS]})
    )


def _summary(row: _Row, place: str, scope: str) -> Iterator[Record]:
    lines = [f"{title}: {text}" for key, title in _SUMMARY.items() if (text := plain_text(row.get(key)))]
    learned = plain_text(row.get("learned"))
    if learned:
        yield MemoryRecord(
            place=place, memory=MemoryInput(**{**_memory(row, learned, place, scope), "kind": "fact"})
        )
    if lines:
        yield MemoryRecord(place=place, memory=MemoryInput(**_memory(row, "\n".join(lines), place, scope)))
    if not lines and not learned:
        yield SkippedRecord(place=place, reason="summary without words")


def _memory(row: _Row, text: str, place: str, scope: str) -> dict[str, Any]:
    """Return the fields of a memory that observations and summaries share."""
    files = {key: plain_names(row.get(key)) for key in ("files_read", "files_modified")}
    kept = {key: list(names) for key, names in files.items() if names}
    kept |= {key: row[key] for key in ("id", "memory_session_id") if isinstance(row.get(key), int | str)}
    project = plain_name(row.get("merged_into_project")) or plain_name(row.get("project"))
    return {
        "text": text,
        "kind": "note",
        "source": f"import:claude-mem:{place.partition(', ')[0]}"[:200],
        "scope": scope_under(scope, project),
        "categories": (),
        "happened_at": _time(row),
        "metadata": {"claude_mem": kept},
    }


def _time(row: _Row) -> Any:
    return parse_loose(row.get("created_at_epoch")) or parse_loose(row.get("created_at"))


def _sessions(rows: Iterator[_Row], file: str) -> Iterator[Record]:
    """Yield the prompts of each session as its turns."""
    for id, prompts in groupby(rows, key=lambda row: plain_name(row.get("content_session_id"))):
        turns = [
            Turn(author="user", text=text, happened_at=_time(row))
            for row in prompts
            if (text := plain_text(row.get("prompt_text")))
        ]
        place = f"{file}, session {id[:80]}"
        if id:
            yield conversation_record(turns, format="claude-mem", id=id, title="", place=place)
        else:
            yield OmittedRecord(reason="prompt without a session", count=len(turns))
