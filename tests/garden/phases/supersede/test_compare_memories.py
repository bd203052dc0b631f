"""Memories that were stored without comparison are compared by night: links are stored, and nothing ends."""

import re
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.ids import link_id
from hydramem.core.row_types import Link, LinkType
from hydramem.garden.night.run_phases import UNFINISHED
from hydramem.garden.phases.supersede.replacement_prompt import CheckedAgainReply
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import note
from tests.storage.rows import link

OLD = note("c_old", "The Kestrel office is in Room 4.", 1)
NEW = note("c_new", "The Kestrel office is in Room 9.", 8)
OTHER = note("c_other", "Lunch at the Kestrel office costs nine euros.", 5)


def links(memory: Memory) -> set[tuple[str, str, str]]:
    return {(row.source, row.type, row.target) for row in rows(memory)["LINKS"] if row.state == "active"}


def test_an_update_that_was_not_compared_is_linked_once(memory: Memory) -> None:
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


@pytest.mark.parametrize(
    ("type", "state"), [("may_supersede", "active"), ("extends", "superseded"), ("contradicts", "active")]
)
def test_a_pair_that_was_compared_is_left(memory: Memory, type: LinkType, state: str) -> None:
    made = link("c_new", "c_old", type=type, state=state)
    put(memory, chunks=(OLD, NEW), links=(made,))
    assert night(memory, "supersede").phases[0].proposals == 0


def test_a_second_night_compares_only_what_is_new(memory: Memory) -> None:
    put(memory, chunks=(OLD, OTHER))
    assert night(memory, "supersede").phases[0].counts["memories_compared"] == 2
    assert "memories_compared" not in night(memory, "supersede").phases[0].counts
    put(memory, chunks=(NEW,))
    assert night(memory, "supersede").phases[0].counts["memories_compared"] == 1
    assert links(memory) == {("c_new", "may_supersede", "c_old")}


def test_a_night_that_stops_before_its_changes_are_made_loses_no_pair(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    put(memory, chunks=(OLD, NEW))
    with monkeypatch.context() as patched:
        patched.setattr("hydramem.garden.night.run_phases.apply", stops)
        with pytest.raises(KeyboardInterrupt):
            night(memory, "supersede")
    (memory._garden_folder("default") / UNFINISHED).unlink()  # as where it could not even be written
    assert night(memory, "supersede").phases[0].counts["memories_compared"] == 2
    assert links(memory) == {("c_new", "may_supersede", "c_old")}


BLOCK = note("c_block", "Straddle carriers may do 20 km/h in block F.", 1)
TWELVE = note("c_twelve", "Block F is down to twelve for straddle carriers after the near miss.", 8)


def answer(verdict: str) -> dict[str, object]:
    given = {"index": 1, "verdict": verdict, "older_quote": "block F", "newer_quote": "Block F"}
    return {"pairs": [given]}


def test_a_doubtful_pair_waits_for_a_model(memory: Memory) -> None:
    put(memory, chunks=(BLOCK, TWELVE))
    assert night(memory, "supersede").phases[0].proposals == 0
    assert memory.review().waiting == 0
    memory._given_generator = ScriptedGenerator([answer("REPLACES"), answer("CONTRADICTION")])
    before = rows(memory)
    report = night(memory, "supersede")
    assert links(memory) == {("c_twelve", "may_supersede", "c_block")}
    assert {row.state for row in rows(memory)["Chunk"]} == {"active"}
    assert memory.review().questions[0].kind == "may_supersede"
    assert night(memory, "supersede").phases[0].proposals == 0, "a second night does not end it either"
    memory.undo(report.run)
    assert rows(memory) == before


def test_of_several_states_each_ends_where_the_next_begins(tmp_path: Path) -> None:
    texts = (OLD.text, "The Kestrel office is in Room 6.", NEW.text)
    states = [note(f"c_{day}", text, day) for day, text in enumerate(texts, 1)]

    with opened(tmp_path, each_replaces) as memory:
        put(memory, chunks=states)
        for _ in range(3):
            night(memory, "supersede")
        held = {row.id: row for row in rows(memory)["Chunk"]}
        assert [held[f"c_{day}"].state for day in (1, 2, 3)] == ["superseded", "superseded", "active"]
        assert [hit.id for hit in memory.recall("which room is the Kestrel office in").hits] == ["c_3"]


SAID = note("c_said", "Kestrel's office shuts at noon on Fridays.", 1)
AGAIN = note("c_again", "On a Friday nobody is in at Kestrel after midday.", 8)


def linked(newer: str, type: LinkType, older: str, weight: float = 0.4) -> Link:
    return link(newer, older, id=link_id("default", newer, type, older), type=type, weight=weight)


WEAK = linked("c_again", "duplicates", "c_said")


def shown_pairs(prompt: ScriptedPrompt) -> list[tuple[str, str]]:
    """Return the older and the newer text of each pair of a prompt."""
    older, newer = (re.findall(rf"<{side} [^>]*>([^<]*)<", prompt.text) for side in ("older", "newer"))
    return list(zip(older, newer, strict=True))


def each_replaces(prompt: ScriptedPrompt) -> object:
    """Say of every pair that the newer memory replaces the older."""
    verdict = "CONTRADICTION" if prompt.shape is CheckedAgainReply else "REPLACES"
    return {
        "pairs": [
            {"index": index, "verdict": verdict, "older_quote": older, "newer_quote": newer}
            for index, (older, newer) in enumerate(shown_pairs(prompt), 1)
        ]
    }


def of_hours(verdict: str) -> dict[str, object]:
    quotes = dict.fromkeys(("older_quote", "newer_quote"), "Kestrel")
    return {"pairs": [{"index": 1, "verdict": verdict, **quotes}]}


VISIT = note("c_visit", "The Kestrel office has its boiler serviced every October by Brandt.", 1)
VISITED = note("c_visited", "Brandt comes each October to look after the boiler at Kestrel's office.", 8)


@pytest.mark.parametrize(("type", "left"), [("may_supersede", 1), ("duplicates", 1), ("extends", 2)])
def test_what_was_linked_at_once_is_joined_where_it_says_the_same(
    memory: Memory, type: LinkType, left: int
) -> None:
    made = linked("c_visited", type, "c_visit")
    put(memory, chunks=(VISIT, VISITED), links=(made,))
    before = rows(memory)
    report = night(memory, "supersede")
    assert ("c_visited", "duplicates", "c_visit") in links(memory)
    assert len(links(memory)) == left
    with memory.during(None):
        (hit,) = memory.recall("who looks after the boiler of the office").hits
    assert {hit.id, *hit.also} == {"c_visit", "c_visited"}
    assert night(memory, "supersede").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before


def test_what_a_model_twice_calls_the_same_is_one_hit(tmp_path: Path) -> None:
    answers = [of_hours("SAME"), of_hours("EQUIVALENT")]
    with opened(tmp_path, answers) as memory:
        put(memory, chunks=(SAID, AGAIN), links=(WEAK,))
        before = rows(memory)
        report = night(memory, "supersede")
        assert links(memory) == {("c_again", "duplicates", "c_said")}
        with memory.during(None):
            (hit,) = memory.recall("when is the Kestrel office empty").hits
        assert {hit.id, *hit.also} == {"c_said", "c_again"}
        assert night(memory, "supersede").phases[0].proposals == 0
        memory.undo(report.run)
        assert rows(memory) == before


def test_texts_of_one_form_about_two_things_are_not_linked(memory: Memory) -> None:
    texts = ("Person112 met with Team3.", "Person113 met with Team3.", "Person114 met with Team3.")
    put(memory, chunks=[note(f"c_{place}", text, 1) for place, text in enumerate(texts)])
    assert night(memory, "supersede").phases[0].counts["memories_compared"] == 3
    assert not links(memory)


@pytest.mark.parametrize("changed", [True, False])
def test_what_is_near_to_something_that_changed_is_asked_about_though_it_seems_unlikely(
    tmp_path: Path, changed: bool
) -> None:
    """The classifier finds that no paint replaces a room; a model is asked once the office moved."""
    painted = note("c_painted", "Every room of the office was painted by Joao in 2019.", 5)
    asked: set[str] = set()

    def said(prompt: ScriptedPrompt) -> object:
        found = []
        for index, (older, newer) in enumerate(shown_pairs(prompt), 1):
            asked.add(newer if newer != NEW.text else older)
            moves = changed and " is in Room" in older and " is in Room" in newer
            words = (
                ("CONTRADICTION", "COMPATIBLE") if prompt.shape is CheckedAgainReply else ("REPLACES", "BOTH")
            )
            found.append(
                {"index": index, "verdict": words[not moves], "older_quote": older, "newer_quote": newer}
            )
        return {"pairs": found}

    with opened(tmp_path, said) as memory:
        put(memory, chunks=(OLD, NEW, painted))
        night(memory, "supersede")
        assert (painted.text in asked) is changed
        assert links(memory) == ({("c_new", "supersedes", "c_old")} if changed else set())


def test_a_link_that_was_undone_does_not_come_back_when_its_memory_changes_again(tmp_path: Path) -> None:
    painted = note("c_painted", "Every room of the office was painted by Joao in 2019.", 5)
    later = note("c_later", "The Kestrel office is in Room 12.", 10)
    of_new = ("c_new", "may_supersede", "c_painted")

    with opened(tmp_path, each_replaces) as memory:
        put(memory, chunks=(OLD, NEW, painted))
        night(memory, "supersede")
        assert of_new in links(memory)
        linked = link_id("default", *of_new)
        (change,) = memory._opened.graph.changes(target=linked)
        memory.undo(change.id)
        assert of_new not in links(memory)
        put(memory, chunks=(later,))
        night(memory, "supersede")
        assert of_new not in links(memory)
