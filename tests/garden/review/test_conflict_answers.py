"""Answers to the conflicts that `conflicts` lists: which side holds, both or neither, and undo."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hydramem import Memory
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.garden_results import Answer, Reviewed
from hydramem.core.results.verdicts import Conflict
from hydramem.core.row_types import Chunk
from tests.garden.memories import put, rows
from tests.garden.rows import document, note
from tests.storage.rows import link

OLD = note("old", "The archive is kept in the Lisbon vault.", 1)
NEW = note("new", "The archive is kept in the Porto vault.", 5)
CONTRADICTS = link("new", "old", type="contradicts", weight=0.9)


def fill(memory: Memory, older: Chunk = OLD) -> Conflict:
    """Store two memories that a link calls contradictory; the queue of questions has nothing on them."""
    put(memory, chunks=(older, NEW), links=(CONTRADICTS,))
    assert memory.review().waiting == 0
    (one,) = memory.conflicts().conflicts
    return one


def answer(memory: Memory, conflict: Conflict, choice: str) -> Reviewed:
    return memory.review([Answer(id=conflict.id, choice=choice, reviewer="Eve")])


def states(memory: Memory) -> dict[str, str]:
    return {id: memory.get(id).state for id in ("old", "new")}


def test_a_conflict_of_memories_is_settled_once_and_undone(memory: Memory) -> None:
    one = fill(memory)
    before = rows(memory)
    assert (one.id, one.older.id, one.newer.id) == ("conflict:new+old", "old", "new")
    for choice, old, new in (
        ("old", "active", "archived"),
        ("new", "superseded", "active"),
        ("both", "active", "active"),
        ("neither", "archived", "archived"),
    ):
        assert answer(memory, one, choice).answered == 1
        assert states(memory) == {"old": old, "new": new}, choice
        assert memory.conflicts().conflicts == ()
        again = answer(memory, one, choice)
        assert again.answered == 0 and len(again.not_taken) == 1
        memory.undo(memory.changes(limit=1)[0].run)
        assert rows(memory) == before
        assert memory.conflicts().conflicts == (one,)


def test_a_passage_that_does_not_hold_is_archived_and_gets_no_version(memory: Memory) -> None:
    put(memory, documents=(document("d1"),))
    one = fill(memory, replace(OLD, kind="passage", document="d1"))
    assert answer(memory, one, "new").answered == 1
    assert states(memory) == {"old": "archived", "new": "active"}
    assert len(rows(memory)["Chunk"]) == 2


def test_an_answer_that_names_no_side_of_the_conflict_is_refused(memory: Memory) -> None:
    one = fill(memory)
    with pytest.raises(InvalidInputError, match=r"answers\.choice"):
        answer(memory, one, "other")
    (left,) = answer(memory, one, "replaces").not_taken
    assert left.why == "its answer is one of: 1, 2, both, neither"
    for id in ("conflict:new+gone", "conflict:new", "conflict:", "conflict:old+old"):
        assert memory.review([Answer(id=id, choice="both")]).answered == 0
    assert states(memory) == {"old": "active", "new": "active"}


def test_a_settled_conflict_is_shown_for_the_time_before(memory: Memory) -> None:
    one = fill(memory)
    then = rows(memory)["Chunk"][0].times.recorded_at + timedelta(days=30)
    answer(memory, one, "both")
    assert memory.conflicts().conflicts == ()
    assert [each.id for each in memory.conflicts(known_at=then).conflicts] == [one.id]
