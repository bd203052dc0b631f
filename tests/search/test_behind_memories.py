"""Turns of a chat beside memories: they lose, brief ones more, and only there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hydramem.core.inputs import SaidTurn
from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.conversation.behind_memories import behind_memories
from hydramem.search.query_plan import plan
from tests.garden.memories import opened
from tests.graph.graphs import P, chunk, tables, turn
from tests.search.candidates import candidate

NOTE = replace(chunk("note", "The key hangs behind the door."), kind="note")
PAGE = chunk("page", "The key of the city.")
LONG = turn("s", 0, "the key, as I said, hangs behind the door", author="user", tokens=30)
BRIEF = turn("s", 1, "key: ok", author="tool", tokens=3)


def scores(*rows: Chunk) -> dict[str, float]:
    plans = [plan("who has the key", load(P, *tables(*rows)))]
    found = [candidate(row, 0.5) for row in rows]
    best: Sequence[RecallCandidate] = behind_memories(found, plans)
    assert [one.fused.score for one in best] == sorted((one.fused.score for one in best), reverse=True)
    return {one.chunk.id: one.fused.score for one in best}


def test_turns_lose_beside_a_memory_and_brief_ones_more() -> None:
    found = scores(NOTE, PAGE, LONG, BRIEF)
    assert found["note"] == found["page"] == 0.5 > found["s-0"] > found["s-1"] > 0.2


def test_without_a_memory_and_in_a_conversation_of_people_nothing_is_lost() -> None:
    assert set(scores(PAGE, LONG, BRIEF).values()) == {0.5}
    people = (replace(LONG, author="Ada"), replace(BRIEF, author="Bo"))
    assert set(scores(NOTE, *people).values()) == {0.5}


def test_output_of_a_tool_does_not_hide_the_memory(tmp_path: Path) -> None:
    log = ("render of the trailer: 31%", "trailer approved", "the shot of the trailer")
    with opened(tmp_path) as memory:
        memory.remember(
            "Sunniva approved that the last shot of the trailer is the dog looking at the sea, with no logo."
        )
        said = [
            SaidTurn(author="user", text="morning"),
            *(SaidTurn(author="tool", text=line) for line in log),
        ]
        memory.capture("monday", said)
        memory.drain()
        hits = memory.recall("What is the approved shot of the trailer?").hits
        assert hits[0].kind == "note" and {hit.text for hit in hits} >= set(log)
