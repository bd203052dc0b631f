"""Memories that were stored without comparison are compared by night: links are stored, and nothing ends."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hydramem
from hydramem.core.row_types import Chunk, Link, LinkType, Times
from tests.garden.memories import night, opened, put, rows
from tests.storage.rows import chunk

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


def note(id: str, text: str, day: int, **values: object) -> Chunk:
    times = Times(recorded_at=datetime(2025, 3, day, tzinfo=UTC))
    return chunk(id, text, **({"project": "default", "times": times} | values))


OLD = note("c_old", "The Kestrel office is in Room 4.", 1)
NEW = note("c_new", "The Kestrel office is in Room 9.", 8)
OTHER = note("c_other", "Lunch at the Kestrel office costs nine euros.", 5)


def links(memory: hydramem.Memory) -> set[tuple[str, str, str]]:
    return {(row.source, row.type, row.target) for row in rows(memory)["LINKS"] if row.state == "active"}


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["memory", ENGINE])
def test_an_update_that_was_not_compared_is_linked_once(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, STORAGE_GRAPH=engine) as memory:
        put(memory, chunks=(OLD, NEW, OTHER))
        before = rows(memory)
        report = night(memory, "supersede")
        assert links(memory) == {("c_new", "may_supersede", "c_old")}
        (change,) = report.changes
        assert change.score is not None and change.score >= 0.5
        assert {row.state for row in rows(memory)["Chunk"]} == {"active"}
        assert memory.review().questions[0].kind == "may_supersede"
        with memory.during(None):  # a recall that leaves no row
            found = memory.recall("Kestrel office room", limit=2)
        assert [hit.id for hit in found.hits] == ["c_new", "c_old"]
        assert night(memory, "supersede").phases[0].proposals == 0
        memory.undo(report.run)
        assert rows(memory) == before
        assert night(memory, "supersede").phases[0].proposals == 0, "what was undone is not done again"


@pytest.mark.parametrize("type", ["may_supersede", "extends", "contradicts"])
@pytest.mark.parametrize("state", ["active", "superseded"])
def test_a_pair_that_was_compared_is_left(tmp_path: Path, type: LinkType, state: str) -> None:
    link = Link(
        id="l_1",
        source="c_new",
        target="c_old",
        type=type,
        weight=0.7,
        state=state,  # type: ignore[arg-type]
        times=Times(recorded_at=NEW.times.recorded_at),
    )
    with opened(tmp_path) as memory:
        put(memory, chunks=(OLD, NEW), links=(link,))
        assert night(memory, "supersede").phases[0].proposals == 0


def test_a_memory_of_an_earlier_time_supersedes_nothing(tmp_path: Path) -> None:
    early = Times(recorded_at=NEW.times.recorded_at, valid_from=datetime(2019, 1, 1, tzinfo=UTC))
    with opened(tmp_path) as memory:
        put(memory, chunks=(OLD, note("c_new", NEW.text, 8, times=early)))
        night(memory, "supersede")
        assert not links(memory)


def test_memories_of_other_scopes_are_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        away = note("c_new", NEW.text, 8, scope="/elsewhere")
        put(memory, chunks=(note("c_old", OLD.text, 1, scope="/here"), away))
        night(memory, "supersede")
        assert not links(memory)
