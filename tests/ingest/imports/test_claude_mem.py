"""The SQLite file of claude-mem comes in: of any version, in use or not, and broken ones are named."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hydramem
from hydramem import ImportCounts
from tests.ingest.imports.conftest import Put, content

AT = 1_750_000_000_000
SCHEMA = """
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
    title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
    files_modified TEXT,
    created_at TEXT, created_at_epoch INTEGER, later_column TEXT);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
    learned TEXT, completed TEXT, created_at_epoch INTEGER);
CREATE TABLE user_prompts (content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT,
    created_at_epoch INTEGER);
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "claude-mem.db")) as made:
        made.executescript(SCHEMA)
        made.execute(
            "INSERT INTO observations (id, memory_session_id, project, type, title, narrative, facts, "
            "concepts, files_read, created_at_epoch) VALUES (1, 's1', 'shop/api', 'bugfix', "
            "'Timeout found', 'The pool was too small.', ?, ?, 'no list', ?)",
            (json.dumps(["Pool size is 5", 7]), json.dumps(["gotcha"]), AT),
        )
        made.execute("INSERT INTO observations (id, title, facts) VALUES (2, NULL, '{')")
        made.execute("INSERT INTO observations (id, text, project) VALUES (3, 'An older row.', x'00ff')")
        made.execute(
            "INSERT INTO session_summaries (id, project, request, learned, created_at_epoch) "
            "VALUES (1, 'shop/api', 'Fix it', 'The pool size is set in pool.yml', ?)",
            (AT,),
        )
        made.executemany(
            "INSERT INTO user_prompts VALUES ('c1', ?, ?, ?)",
            [(2, "And the tests?", AT + 60_000), (1, "Why does checkout time out?", AT)],
        )
        made.commit()
        yield made


def test_observations_summaries_and_prompts_come_in_once(
    memory: hydramem.Memory, tmp_path: Path, database: sqlite3.Connection
) -> None:
    path = str(tmp_path / "claude-mem.db")
    done = memory.import_memories(path)
    assert done.format == "claude-mem"
    assert done.new == ImportCounts(memories=4, sessions=1, turns=2)
    assert [each.place for each in done.skipped] == ["claude-mem.db, observations 2"]
    rows = {row.text: row for row in memory.memories(kinds=["note", "fact"])}
    found = rows["Timeout found\nThe pool was too small.\n- Pool size is 5"]
    assert (found.kind, found.scope) == ("note", "/claude-mem/shop-api")
    assert found.categories == ("bugfix", "gotcha")
    assert found.happened_at == datetime.fromtimestamp(AT / 1000, UTC)
    assert rows["The pool size is set in pool.yml"].kind == "fact"
    assert rows["Request: Fix it"].kind == "note"
    turns = memory.memories(kinds=["turn"], session="claude-mem:c1")
    assert [row.text for row in sorted(turns, key=lambda row: row.position)] == [
        "Why does checkout time out?",
        "And the tests?",
    ]
    before = content(memory)
    assert memory.import_memories(path).new == ImportCounts()
    assert content(memory) == before


def test_rows_in_the_log_of_a_running_program_are_read_and_the_file_is_not_touched(
    memory: hydramem.Memory, tmp_path: Path, database: sqlite3.Connection
) -> None:
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("INSERT INTO observations (id, text) VALUES (9, 'Only in the log.')")
    database.commit()
    files = {file.name: file.read_bytes() for file in tmp_path.glob("claude-mem.db*")}
    assert "claude-mem.db-wal" in files
    memory.import_memories(str(tmp_path / "claude-mem.db"))
    assert "Only in the log." in {row.text for row in memory.memories()}
    assert {file.name: file.read_bytes() for file in tmp_path.glob("claude-mem.db*")} == files


def test_files_that_are_no_such_database_are_named(
    memory: hydramem.Memory, tmp_path: Path, put: Put, database: sqlite3.Connection
) -> None:
    data = (tmp_path / "claude-mem.db").read_bytes()
    with closing(sqlite3.connect(tmp_path / "views.db")) as made:
        made.execute("CREATE VIEW observations AS SELECT 1 AS id, 'from a view' AS text")
        made.commit()
    for path in (
        put("text.db", "no database"),
        put("cut.db", data[: len(data) // 2]),
        put("odd.db", data[:100] + b"x" * 5000),
        str(tmp_path / "views.db"),
    ):
        done = memory.import_memories(path, format="claude-mem")
        assert done.skipped and done.skipped[0].place.startswith(Path(path).name), path
    assert "from a view" not in {row.text for row in memory.memories()}
