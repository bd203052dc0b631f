from collections.abc import Mapping

import pytest

from hydramem.core.config import SearchConfig
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.conversation import at_turns_length, in_conversation, spoken_share
from hydramem.search.fusion import Fused, ranked
from hydramem.search.plan import plan
from tests.graph.graphs import P, chunk, tables, turn

ANSWER = "in the attic, behind the old wardrobe, where the rain comes in and the pigeons sleep at night"
TALK = (
    turn("s", 0, "where is the key?", author="Ada", tokens=5),
    turn("s", 1, ANSWER, author="Bo", tokens=25),
    turn("s", 2, "thanks", author="Ada", tokens=1),
    turn("t", 0, "a long lecture on keys", author="Bo", tokens=200),
    turn("t", 1, "and another one", author="user", tokens=200),
)
SNAPSHOT = load(P, *tables(*TALK, chunk("page", "the key of the city")))


def weighed(query: str, found: Mapping[str, float], **settings: float) -> dict[str, Fused]:
    candidates = ranked({id: {"text": score} for id, score in found.items()})
    weighed = in_conversation(candidates, [plan(query, SNAPSHOT)], SearchConfig(**settings))
    return {one.id: one for one in weighed}


def test_an_answer_gains_more_from_its_question_than_the_question_from_its_answer() -> None:
    found = weighed("key", {"s-0": 0.5})
    assert found["s-1"].parts["neighbors"] > found["s-2"].parts["neighbors"] > 0
    from_answer = weighed("attic", {"s-1": 0.5})
    assert from_answer["s-0"].parts["neighbors"] < found["s-1"].parts["neighbors"]


def test_long_turns_speak_for_themselves() -> None:
    assert "t-1" not in weighed("keys", {"t-0": 0.9})


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


def test_what_the_asker_asked_counts_in_full() -> None:
    asked = load(P, *tables(turn("s", 0, "how do I pick a lock?", author="user", tokens=6)))
    for query, less in (("what did I ask about locks?", False), ("who asked about locks?", True)):
        found = in_conversation(ranked({"s-0": {"text": 0.5}}), [plan(query, asked)], SearchConfig())
        assert ("substance" in found[0].parts) is less


def test_what_is_no_turn_stays_as_it_is() -> None:
    assert weighed("key", {"page": 0.5})["page"].parts == {"text": 0.5}
    assert at_turns_length({"page": 2.0, "gone": 1.0}, SNAPSHOT) == {"page": 2.0, "gone": 1.0}


def test_the_parts_make_the_score() -> None:
    for one in weighed("what did I say?", {"s-0": 0.9, "s-1": 0.4, "t-1": 1.0, "page": 0.3}).values():
        assert one.score == pytest.approx(sum(one.parts.values()))


def test_longer_turns_pay_for_their_length() -> None:
    scores = at_turns_length({"s-1": 1.0, "t-0": 1.0}, SNAPSHOT)
    assert scores["s-1"] == pytest.approx(scores["t-0"], rel=0.5)
    assert scores["s-1"] != scores["t-0"]


def test_the_share_of_turns_among_the_best() -> None:
    plans = [plan("key", SNAPSHOT)]
    assert spoken_share(ranked({"s-0": {"text": 0.5}, "page": {"text": 0.4}}), plans) == 0.5
    assert spoken_share((), plans) == 0.0
