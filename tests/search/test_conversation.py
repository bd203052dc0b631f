from collections.abc import Mapping

import pytest

from hydramem.core.config import SearchConfig
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.candidate_scores import FusedScore, ranked
from hydramem.search.conversation.turn_scores import (
    coverage,
    covering,
    in_conversation,
)
from hydramem.search.query_plan import plan
from tests.graph.graphs import P, chunk, tables, turn
from tests.search.candidates import candidate

ANSWER = "in the attic, behind the old wardrobe, where the rain comes in and the pigeons sleep at night"
TALK = (
    turn("s", 0, "where is the key?", author="Ada", tokens=5),
    turn("s", 1, ANSWER, author="Bo", tokens=25),
    turn("s", 2, "thanks", author="Ada", tokens=1),
    turn("t", 0, "a long lecture on keys", author="Bo", tokens=200),
    turn("t", 1, "and another one", author="user", tokens=200),
)
SNAPSHOT = load(P, *tables(*TALK, chunk("page", "the key of the city")))


def weighed(query: str, found: Mapping[str, float], **settings: float) -> dict[str, FusedScore]:
    candidates = ranked({id: {"text": score} for id, score in found.items()})
    weighed = in_conversation(candidates, [plan(query, SNAPSHOT)], SearchConfig(**settings))
    return {one.id: one for one in weighed}


def test_an_answer_gains_more_from_its_question_than_the_question_from_its_answer() -> None:
    found = weighed("key", {"s-0": 0.5})
    assert found["s-1"].parts["neighbors"] > found["s-2"].parts["neighbors"] > 0
    from_answer = weighed("attic", {"s-1": 0.5})
    assert from_answer["s-0"].parts["neighbors"] < found["s-1"].parts["neighbors"]
    assert "t-1" not in weighed("keys", {"t-0": 0.9}), "long turns speak for themselves"


def test_a_turn_that_only_asks_holds_little() -> None:
    found = weighed("key", {"s-0": 0.5, "t-0": 0.5}, neighbor_weight=0)
    assert found["s-0"].parts["substance"] < 0 and "substance" not in found["t-0"].parts
    assert found["s-0"].score < found["t-0"].score


def test_who_is_named_and_who_asks_is_favoured() -> None:
    both = {"s-1": 0.5, "t-0": 0.5, "t-1": 0.5}
    named = weighed("What did Bo's lecture say?", both)
    assert "speaker" in named["t-0"].parts and "speaker" not in named["t-1"].parts
    assert not any("speaker" in one.parts for one in weighed("did Ada and Bo talk?", both).values())
    mine = weighed("what did I say?", both)
    assert "speaker" in mine["t-1"].parts and "speaker" not in mine["t-0"].parts


def test_the_parts_make_the_score() -> None:
    for one in weighed("what did I say?", {"s-0": 0.9, "s-1": 0.4, "t-1": 1.0, "page": 0.3}).values():
        assert one.score == pytest.approx(sum(one.parts.values()))


HARBOUR = (turn("harbour", 0, "The café by the harbour."), turn("harbour", 9, "They were painting boats."))
OTHERS = (
    turn("market", 0, "A harbour far away."),
    turn("walk", 0, "Rain again."),
    chunk("page", "harbour"),
)


def test_a_session_counts_for_all_its_turns_by_the_words_it_holds() -> None:
    shares = coverage("Who paints boats in the harbour?", (*HARBOUR, *OTHERS))
    assert shares["harbour-0"] == shares["harbour-9"] == 1
    assert 0 < shares["market-0"] < 0.5
    assert shares["walk-0"] == 0 and "page" not in shares


def test_what_a_session_adds_is_shown_and_can_be_left_out() -> None:
    candidates = [candidate(OTHERS[0], 0.6), candidate(HARBOUR[1], 0.5), candidate(OTHERS[2], 0.4)]
    first, second, third = covering("painting the harbour", candidates, 0.8)
    assert [one.chunk.id for one in (first, second, third)] == ["harbour-9", "market-0", "page"]
    assert first.fused.parts == pytest.approx({"text": 0.5, "session": 0.4})
    assert third.fused.parts == {"text": 0.4}
    assert covering("painting the harbour", candidates, 0.0) == tuple(candidates)
