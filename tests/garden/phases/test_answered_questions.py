"""Answered questions: what a session recalled and answered with gains for questions like it."""

from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.inputs import SaidTurn
from hydramem.core.row_types import Link
from tests.garden.memories import night, opened, rows

KEY = "The key of the shed hangs behind the chapel door."
OTHER = "The shed of the chapel has a new roof and a blue door."
ASKED = "mower, no way in"
AGAIN = "There is no way in to the mower"


def ask(memory: Memory, session: str, question: str, answer: str, *, private: bool = False) -> None:
    """Recall both memories in a session, which then answers a question; both are captured."""
    with memory.during(session):
        memory.recall("key of the shed, chapel door")
    said = [SaidTurn(author="user", text=question), SaidTurn(author="assistant", text=answer)]
    memory.capture(session, said, private=private)


def answers(memory: Memory) -> list[Link]:
    return [link for link in rows(memory)["LINKS"] if link.type == "answers"]


def order(memory: Memory, query: str) -> list[str]:
    return [hit.text for hit in memory.recall(query).hits]


def test_a_night_links_what_answered_to_the_question_and_recall_lets_it_gain(memory: Memory) -> None:
    key, _ = memory.remember(KEY), memory.remember(OTHER)
    ask(memory, "monday", ASKED, f"Sure. {KEY}")
    memory.drain()
    with memory.during(None):
        before = order(memory, AGAIN)
    report = night(memory, "reuse")
    [link] = answers(memory)
    [turn] = [row for row in rows(memory)["Chunk"] if row.text == ASKED]
    assert (link.source, link.target, link.weight) == (key.id, turn.id, 1.0)
    assert "answers" in next(change.text for change in report.changes if change.target == link.id)
    with memory.during(None):
        after = memory.recall(AGAIN).hits
    assert before[0] == ASKED and after[0].text == KEY
    assert after[0].scores["answered"] > 0 and "answered a question like it before" in after[0].why
    assert not after[0].links and not memory.get(key.id).links, "a question is no memory that it is linked to"
    with memory.during(None):
        assert "answered" not in memory.recall("a new roof").hits[0].scores
    assert not [each for each in night(memory, "reuse").changes if each.target == link.id]


@pytest.mark.parametrize(
    ("question", "answer", "private"),
    [
        (ASKED, "I do not know that, sorry.", False),
        (ASKED, f"Sure. {KEY}", True),
        (ASKED + ", and " + "as I said before, " * 20, f"Sure. {KEY}", False),
    ],
)
def test_nothing_is_learned_without_an_answer_or_in_private_or_from_a_long_turn(
    memory: Memory, question: str, answer: str, private: bool
) -> None:
    memory.remember(KEY)
    ask(memory, "monday", question, answer, private=private)
    night(memory, "reuse")
    assert not answers(memory)


def test_what_a_session_did_not_recall_is_not_what_it_used(memory: Memory) -> None:
    memory.remember(KEY)
    said = [SaidTurn(author="user", text=ASKED), SaidTurn(author="assistant", text=KEY)]
    memory.capture("monday", said)
    night(memory, "reuse")
    assert not answers(memory)


@pytest.mark.parametrize("forgotten", ["memory", "question", "night"])
def test_what_was_learned_ends_with_the_memory_the_question_or_the_night(
    memory: Memory, forgotten: str
) -> None:
    key = memory.remember(KEY)
    memory.remember(OTHER)
    ask(memory, "monday", ASKED, KEY)
    report = night(memory, "reuse")
    [link] = answers(memory)
    if forgotten == "night":
        memory.undo(report.run)
    else:
        memory.forget(key.id if forgotten == "memory" else link.target)
    for why in ("forgotten", "nor is it learned again"):
        with memory.during(None):
            assert not any("answered" in hit.scores for hit in memory.recall(AGAIN).hits), why
        night(memory, "reuse")


def test_an_erased_question_takes_what_was_learned_with_it_and_a_dump_keeps_it(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as memory:
        memory.remember(KEY)
        ask(memory, "monday", ASKED, KEY)
        night(memory, "reuse")
        [link] = answers(memory)
        memory.dump(str(tmp_path / "dump"))
        memory.erase([link.target])
        assert not answers(memory)
    with opened(tmp_path / "b") as memory:
        memory.load(str(tmp_path / "dump"))
        assert answers(memory) == [link]
