"""A memory that may supersede an older one: the question, and what becomes of each answer."""

from dataclasses import replace
from datetime import timedelta

import pytest

import hydramem
from hydramem.core.results.garden_results import Answer
from tests.garden.memories import night, put, rows
from tests.garden.rows import entity, note
from tests.storage.rows import link, mention

ID = "may_supersede:new+old"


OLD = note("old", "The archive is kept in the Lisbon vault.", 1)
NEW = note("new", "The archive is kept in the Porto vault.", 5)
MAYBE = link("new", "old", id="l1", type="may_supersede", weight=0.75)


def fill(memory: hydramem.Memory) -> None:
    lisbon = replace(entity("e1", "Lisbon"), mention_count=1)
    put(memory, chunks=(OLD, NEW), links=(MAYBE,), entities=(lisbon,), mentions=(mention("old", "e1"),))


def state(memory: hydramem.Memory) -> dict[str, str]:
    held = rows(memory)
    return {row.id: row.state for row in (*held["Chunk"], *held["LINKS"])}


def test_the_question_shows_both_and_its_probability(memory: hydramem.Memory) -> None:
    fill(memory)
    (question,) = memory.review().questions
    assert (question.id, question.kind, question.rows) == (ID, "may_supersede", ("old", "new"))
    assert question.text == f'Does (2) "{NEW.text}" replace (1) "{OLD.text}"?'
    assert question.choices == ("replaces", "both", "older", "neither")
    assert question.probability == pytest.approx(0.75)
    assert question.evidence[0].startswith(f"(1) {OLD.text}")
    assert night(memory, "review").phases[0].counts == {"waiting": 1, "may_supersede": 1}


def test_replaces_ends_the_older_with_history(memory: hydramem.Memory) -> None:
    fill(memory)
    before = rows(memory)
    done = memory.review([Answer(id=ID, choice="replaces", reviewer="Eve", note="seen")])
    assert (done.answered, done.waiting) == (1, 0)
    old, new = memory.get("old"), memory.get("new")
    assert (old.state, new.state) == ("superseded", "active")
    assert old.times.valid_to == new.times.valid_from == NEW.times.recorded_at
    assert old.metadata["superseded_by"] == "new"
    assert [(view.type, view.other) for view in new.links] == [("supersedes", "old")]
    assert "Eve reviewed it: the newer takes the place" in memory.history("old").entries[-1].reason
    assert [hit.id for hit in memory.recall("archive vault").hits] == ["new"]
    assert memory.recall("archive vault").hits[0].older.id == "old"
    then = memory.recall("archive vault", as_of="2025-03-03")
    assert [hit.id for hit in then.hits] == ["old"]
    [lisbon] = rows(memory)["Entity"]
    assert lisbon.mention_count == 0
    assert memory.review([Answer(id=ID, choice="both")]).not_taken
    memory.undo(memory.history("old").entries[-1].run)
    assert rows(memory) == before
    assert memory.review().waiting == 1


def test_both_keeps_them_and_is_not_asked_again_and_older_withdraws_the_newer(
    memory: hydramem.Memory,
) -> None:
    fill(memory)
    before = rows(memory)
    assert memory.review([Answer(id=ID, choice="both")]).waiting == 0
    assert state(memory) == {"old": "active", "new": "active", "l1": "superseded"}
    night(memory, "supersede", "merge", "review")
    assert memory.review().waiting == 0
    assert {hit.id for hit in memory.recall("archive vault").hits} == {"old", "new"}
    memory.undo(memory.history("l1").entries[-1].run)
    assert rows(memory) == before
    assert memory.review([Answer(id=ID, choice="older")]).answered == 1
    assert state(memory) == {"old": "active", "new": "archived", "l1": "superseded"}
    assert memory.get("new").metadata["superseded_by"] == "old"


def test_other_answers_are_not_taken(memory: hydramem.Memory) -> None:
    fill(memory)
    for answer in (Answer(id=ID, yes=True), Answer(id=ID, choice="1")):
        (left,) = memory.review([answer]).not_taken
        assert "replaces, both, older" in left.why
    with pytest.raises(hydramem.InvalidInputError, match="replaces"):
        memory.review([Answer(id=ID, choice="never")])
    assert state(memory)["l1"] == "active"


@pytest.mark.parametrize("gone", ["older", "newer", "link"])
def test_what_is_gone_is_not_asked_about(memory: hydramem.Memory, gone: str) -> None:
    older = replace(OLD, state="archived") if gone == "older" else OLD
    newer = replace(NEW, expires_at=NEW.times.recorded_at + timedelta(days=1)) if gone == "newer" else NEW
    link = replace(MAYBE, state="archived") if gone == "link" else MAYBE
    put(memory, chunks=(older, newer), links=(link,))
    assert memory.review().waiting == 0
