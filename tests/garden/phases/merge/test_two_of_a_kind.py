"""Questions about two relations or two memories: what is asked, and what each answer does."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.garden_results import Answer, Question
from hydramem.core.row_types import Link, Relation, Times
from hydramem.core.time import now
from tests.garden.memories import night, opened, put, rows
from tests.garden.review.test_questions import walked
from tests.garden.rows import chunk, entity, relation
from tests.storage.rows import at, mention

PEOPLE = tuple(
    entity(id, name) for id, name in (("e_1", "Ada"), ("e_2", "Acme"), ("e_3", "Globex"), ("e_4", "Initech"))
)


def works(for_: str, **fields: object) -> Relation:
    given: dict[str, object] = {"project": "default", "verdict": "accepted"}
    return relation("e_1", "works_for", for_, **(given | fields))


def fill(memory: Memory, first: Relation, second: Relation) -> None:
    put(memory, entities=PEOPLE, relations=(first, second))


def asked(memory: Memory, kind: str) -> list[Question]:
    return [each for each in memory.review().questions if each.kind == kind]


FIRST = works("e_2", times=Times(recorded_at=at(0), valid_from=at(-300)))
SECOND = works("e_3", times=Times(recorded_at=at(0)))
OPEN = works("e_3", times=Times(recorded_at=at(9), valid_from=at(-300)))
GUARDED = works("e_2", origin="asserted", times=Times(recorded_at=at(0), valid_from=at(-300)))


@pytest.mark.parametrize("choice", ["1", "2", "both", "neither"])
def test_one_of_two_holds_or_both_or_neither(memory: Memory, choice: str) -> None:
    fill(memory, GUARDED, SECOND)
    before = rows(memory)
    assert night(memory, "supersede").phases[0].proposals == 0, "a guard holds it back"
    [question] = asked(memory, "conflict")
    assert question.text == (
        "Which holds: (1) Ada works_for Acme (from 2023-07-06), (2) Ada works_for Globex, both or neither?"
    )
    assert question.choices == ("1", "2", "both", "neither") and "stands behind the first" in question.reason
    assert memory.conflicts().conflicts
    done = memory.review([Answer(id=question.id, choice=choice, reviewer="Eve")])
    assert (done.answered, done.not_taken, done.waiting) == (1, (), 0)
    after = {row.id: row for row in rows(memory)["RELATES"]}
    first, second = after[GUARDED.id], after[SECOND.id]
    match choice:
        case "1":
            assert (first.state, first.layer, first.verifier) == ("active", "verified", "person:Eve")
            assert (second.state, second.verdict) == ("archived", "rejected")
        case "2":
            assert (first.state, first.times.valid_to) == ("superseded", at(0))
            assert (second.state, second.layer, second.times.valid_from) == ("active", "verified", at(0))
        case _:
            assert {first.state, second.state} == {"active" if choice == "both" else "archived"}
            assert len(after) == 2
    assert not memory.conflicts().conflicts
    night(memory, "supersede")
    assert {id: row.state for id, row in after.items()} == {
        row.id: row.state for row in rows(memory)["RELATES"]
    }, "the night agrees"
    last = memory.history(GUARDED.id if choice != "1" else SECOND.id).entries[-1]
    assert last.operation == "review" and "Eve" in (last.reason or "")
    memory.undo(str(last.run))
    assert rows(memory) == before and asked(memory, "conflict") == [question]


def test_what_has_no_order_ends_when_a_person_says_so(memory: Memory) -> None:
    fill(memory, FIRST, OPEN)
    [question] = asked(memory, "conflict")
    assert "does not begin after the other" in question.reason
    started = now()
    memory.review([Answer(id=question.id, choice="2")])
    [ended] = [row for row in rows(memory)["RELATES"] if row.id == FIRST.id]
    assert ended.state == "superseded" and ended.times.valid_to is not None
    assert started <= ended.times.valid_to <= now()
    assert {each.object for each in memory.relations(type="works_for")} == {"Globex"}


def test_what_a_night_settles_or_another_question_decides_is_not_asked(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory, FIRST, works("e_3", times=Times(recorded_at=at(9), valid_from=at(8))))
        assert asked(memory, "conflict") == [], "the night ends the first"
    with opened(tmp_path / "open") as memory:
        fill(memory, FIRST, works("e_3", verdict="deferred", probability=0.5, times=FIRST.times))
        assert [each.kind for each in memory.review().questions] == ["relation"]
    with opened(tmp_path / "many") as memory:
        fill(memory, FIRST, relation("e_1", "knows", "e_3"))
        assert memory.review().waiting == 0


def test_answers_of_another_question_and_of_another_time_are_told(memory: Memory) -> None:
    fill(memory, FIRST, OPEN)
    [question] = asked(memory, "conflict")
    before = rows(memory)
    [left] = memory.review([Answer(id=question.id, yes=True)]).not_taken
    assert "1, 2, both" in left.why and rows(memory) == before
    for wrong in ({}, {"yes": True, "choice": "1"}, {"choice": "3"}):
        with pytest.raises(InvalidInputError):
            memory.review([Answer(id=question.id, **wrong)])
    with pytest.raises(InvalidInputError, match="twice"):
        memory.review([Answer(id=question.id, choice="1"), Answer(id=question.id, choice="2")])
    assert rows(memory) == before


def test_a_file_and_a_terminal_take_a_choice(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    fill(memory, FIRST, OPEN)
    assert memory.review(export=str(file)).exported == 1
    [line] = [json.loads(line) for line in file.read_text().splitlines()]
    assert line["choices"] == ["1", "2", "both", "neither"]
    file.write_text(json.dumps(line | {"answer": 2}) + "\n")
    done = memory.review(import_=str(file))
    assert done.answered == 1
    memory.undo(str(memory.history(FIRST.id).entries[-1].run))
    count, shown = walked(memory, "yes", "b")
    assert count == 1 and "(1) Ada works_for Acme" in shown and memory.review().waiting == 0


# Memories ----------------------------------------------------------------------------------------

NEAR = ("The kettle in the kitchen is broken again", "The kettle in the kitchen broken is again today")


def alike(memory: Memory) -> None:
    first, second = (
        chunk(id, text, kind="note", source=source, times=Times(recorded_at=now() - age))
        for id, text, source, age in (
            ("c_1", NEAR[0], "chat", timedelta(days=3)),
            ("c_2", NEAR[1], "mail", timedelta(days=1)),
        )
    )
    put(
        memory,
        chunks=(first, second),
        entities=(entity("e_k", "kettle", mention_count=2),),
        mentions=(mention("c_1", "e_k"), mention("c_2", "e_k")),
        links=(Link(id="l_1", source="c_2", target="c_1", type="duplicates", weight=0.8, times=first.times),),
    )
    memory.doctor(fix=True)


@pytest.mark.parametrize("yes", [True, False])
def test_memories_that_may_say_the_same_are_asked_of_once(tmp_path: Path, yes: bool) -> None:
    with opened(tmp_path, MEMORY_CONSOLIDATION_THRESHOLD="0.8") as memory:
        alike(memory)
        before = rows(memory)
        assert night(memory, "merge").phases[0].proposals == 0
        [question] = asked(memory, "same_memory")
        assert NEAR[0] in question.text and any("mail" in each for each in question.evidence)
        assert memory.review([Answer(id=question.id, yes=yes)]).answered == 1
        after = {row.id: row for row in rows(memory)["Chunk"]}
        assert [after["c_1"].state, after["c_2"].state] == ["active", "archived" if yes else "active"]
        [named] = rows(memory)["Entity"]
        assert named.mention_count == (1 if yes else 2)
        assert asked(memory, "same_memory") == []
        night(memory, "merge")
        assert asked(memory, "same_memory") == [], "what was told apart is not asked again"
        memory.undo(str(memory.history("c_2").entries[-1].run))
        assert rows(memory) == before
        night(memory, "merge")
        assert asked(memory, "same_memory") == [question]
