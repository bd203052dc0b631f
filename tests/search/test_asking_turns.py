"""Turns of a chat that only ask: what counts as one, and where it ranks."""

from pathlib import Path

import pytest

from hydramem.core.inputs import SaidTurn
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.conversation.asking_turns import behind_statements, only_asks
from hydramem.search.query_plan import plan
from tests.garden.memories import opened
from tests.graph.graphs import P, chunk, tables, turn
from tests.search.candidates import candidate

KEY = "The key of the shed hangs behind the chapel door."
TALK = (
    turn("s", 0, "Where is the key?", author="user", tokens=5),
    turn("s", 1, "It hangs behind the door.", author="assistant", tokens=7),
    turn("s", 2, "where did I leave my key", author="user", tokens=6),
    turn("s", 3, "Given all that, and " + "so on, " * 30 + "where is the key?", author="user", tokens=80),
)
PEOPLE = (
    turn("s", 0, "Where is the key?", author="Ada", tokens=5),
    turn("s", 1, "It hangs behind the door.", author="Bo", tokens=7),
)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where is the key?", True),
        ("which odd ingredient is in the soup", True),
        ("“Really? And since when?”", True),
        ("鍵はどこですか？", True),
        ("The key is gone. Where is it?", False),
        ("What a day.", False),
        ("...", False),
    ],
)
def test_only_questions_ask(text: str, asks: bool) -> None:
    assert only_asks(text) is asks


def scores(query: str, talk: tuple[object, ...]) -> dict[str, float]:
    rows = (*talk, chunk("page", KEY))
    plans = [plan(query, load(P, *tables(*rows)))]
    found = [candidate(row, 0.5) for row in rows]
    return {one.chunk.id: one.fused.score for one in behind_statements(found, plans)}


def test_a_question_of_a_chat_ranks_behind_what_states() -> None:
    found = scores("who has the key", TALK)
    assert found["s-0"] < 0.2 and found["s-2"] < 0.2
    assert found["s-1"] == found["page"] == found["s-3"] == 0.5
    assert set(scores("who has the key", PEOPLE).values()) == {0.5}, "the turns of people keep their order"


def test_a_query_about_its_asker_keeps_what_the_asker_asked_of_themselves() -> None:
    found = scores("where did I leave my key", TALK)
    assert found["s-2"] == 0.5 and found["s-0"] < 0.2


def test_a_question_asked_again_is_answered_by_the_memory(tmp_path: Path) -> None:
    asked = ("Where is the key of the shed?", "where is the key, the shed is locked", "Who has that key?")
    with opened(tmp_path) as memory:
        memory.remember(KEY)
        for number, question in enumerate(asked):
            said = [SaidTurn(author="user", text=question), SaidTurn(author="assistant", text=KEY)]
            memory.capture(f"day {number}", said)
        memory.drain()
        hits = memory.recall("Where do I find the key of the shed?").hits
        assert [hit.kind for hit in hits].count("note") == 1 and hits[0].kind == "note"
        assert not [hit for hit in hits if hit.author == "assistant"], "it says what the memory says"
        assert {hit.text for hit in hits[1:]} == set(asked)
