"""Answers to the conflicts that `conflicts` lists: which side holds, both or neither, and undo."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.garden_results import Answer, Reviewed
from hydramem.core.results.verdicts import Conflict
from hydramem.core.row_types import Chunk, Link, Times
from tests.garden.memories import opened, put, rows
from tests.graph.graphs import THEN
from tests.storage.rows import chunk, document

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


def note(id: str, text: str, day: int, **values: object) -> Chunk:
    times = Times(recorded_at=THEN + timedelta(days=day))
    return chunk(id, text, project="default", times=times, **{"kind": "note", **values})


OLD = note("old", "The archive is kept in the Lisbon vault.", 1)
NEW = note("new", "The archive is kept in the Porto vault.", 5)
CONTRADICTS = Link(
    id="l1", source="new", target="old", type="contradicts", weight=0.9, times=Times(recorded_at=THEN)
)


def fill(memory: hydramem.Memory, older: Chunk = OLD) -> Conflict:
    """Store two memories that a link calls contradictory; the queue of questions has nothing on them."""
    put(memory, chunks=(older, NEW), links=(CONTRADICTS,))
    assert memory.review().waiting == 0
    (one,) = memory.conflicts().conflicts
    return one


def answer(memory: hydramem.Memory, conflict: Conflict, choice: str) -> Reviewed:
    return memory.review([Answer(id=conflict.id, choice=choice, reviewer="Eve")])


def states(memory: hydramem.Memory) -> dict[str, str]:
    return {id: memory.get(id).state for id in ("old", "new")}


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["memory", ENGINE])
@pytest.mark.parametrize(
    ("choice", "after"),
    [
        ("old", {"old": "active", "new": "archived"}),
        ("1", {"old": "active", "new": "archived"}),
        ("new", {"old": "superseded", "new": "active"}),
        ("both", {"old": "active", "new": "active"}),
        ("neither", {"old": "archived", "new": "archived"}),
    ],
)
def test_a_conflict_of_memories_is_settled_once_and_undone(
    tmp_path: Path, engine: str, choice: str, after: dict[str, str]
) -> None:
    with opened(tmp_path, STORAGE_GRAPH=engine) as memory:
        one = fill(memory)
        before = rows(memory)
        assert (one.id, one.older.id, one.newer.id) == ("conflict:new+old", "old", "new")
        assert answer(memory, one, choice).answered == 1
        assert states(memory) == after
        assert memory.conflicts().conflicts == ()
        again = answer(memory, one, choice)
        assert again.answered == 0 and len(again.not_taken) == 1
        memory.undo(memory.changes(limit=1)[0].run)
        assert rows(memory) == before
        assert memory.conflicts().conflicts == (one,)


def test_a_passage_that_does_not_hold_is_archived_and_gets_no_version(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        put(memory, documents=(document("d1", project="default"),))
        one = fill(memory, replace(OLD, kind="passage", document="d1"))
        assert answer(memory, one, "new").answered == 1
        assert states(memory) == {"old": "archived", "new": "active"}
        assert len(rows(memory)["Chunk"]) == 2


def relations(memory: hydramem.Memory) -> Conflict:
    memory.relate("billing", "led_by", "Ada Lovelace", valid_from="2024-01-01")
    memory.relate("billing", "led_by", "Bob Stone", valid_from="2024-01-01")
    (one,) = memory.conflicts().conflicts
    return one


LED = {"VERIFICATION_FUNCTIONAL": "[led_by]"}


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["memory", ENGINE])
@pytest.mark.parametrize(
    ("choice", "left"),
    [
        ("older", {"Ada Lovelace"}),
        ("newer", {"Bob Stone"}),
        ("both", {"Ada Lovelace", "Bob Stone"}),
        ("neither", set()),
    ],
)
def test_a_conflict_of_relations_is_settled_and_undone(
    tmp_path: Path, engine: str, choice: str, left: set[str]
) -> None:
    with opened(tmp_path, STORAGE_GRAPH=engine, **LED) as memory:
        one = relations(memory)
        before = rows(memory)
        names = {one.older.id: one.older.text, one.newer.id: one.newer.text}
        assert "Ada" in names[one.older.id] and "Bob" in names[one.newer.id]
        side = {"older": one.older.id, "newer": one.newer.id}.get(choice, choice)
        assert answer(memory, one, side).answered == 1
        assert {row.object for row in memory.relations("billing", type="led_by")} == left
        assert memory.conflicts().conflicts == ()
        assert memory.review().waiting == 0
        memory.undo(memory.changes(limit=1)[0].run)
        assert rows(memory) == before


def test_an_answer_that_names_no_side_of_the_conflict_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = fill(memory)
        with pytest.raises(InvalidInputError, match=r"answers\.choice"):
            answer(memory, one, "other")
        (left,) = answer(memory, one, "replaces").not_taken
        assert left.why == "its answer is one of: 1, 2, both, neither"
        for id in ("conflict:new+gone", "conflict:new", "conflict:", "conflict:old+old"):
            assert memory.review([Answer(id=id, choice="both")]).answered == 0
        assert states(memory) == {"old": "active", "new": "active"}


def test_a_settled_conflict_is_shown_for_the_time_before(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        one = fill(memory)
        then = rows(memory)["Chunk"][0].times.recorded_at + timedelta(days=30)
        answer(memory, one, "both")
        assert memory.conflicts().conflicts == ()
        assert [each.id for each in memory.conflicts(known_at=then).conflicts] == [one.id]
