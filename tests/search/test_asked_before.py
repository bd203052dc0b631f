"""Earlier questions at recall: what answered them gains, by how near the query is to them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from hydramem.core.row_types import Link
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.candidate_scores import ArmScores, FusedScore
from hydramem.search.conversation.asked_before import AskedBefore, asked_before, with_answers
from hydramem.storage.chunk_filter import ChunkFilter
from tests.graph.graphs import P, chunk, link, tables, turn

KEY, ROOF = chunk("key", "It hangs behind the door."), chunk("roof", "The roof is new.")
ASKED = turn("s", 0, "where is the key?", author="user", tokens=5)
OPEN = turn("s", 2, "when is it open?", author="user", tokens=5)
ANSWER: Link = replace(link(KEY, ASKED), type="answers", weight=0.8)
WHERE = ChunkFilter(projects=(P,))


def found(cosines: Mapping[str, float], *rows: object) -> AskedBefore:
    arm = ArmScores(name="vector", weight=0.5, scores=dict.fromkeys(cosines, 0.5), cosines=cosines)
    snapshot = load(P, *tables(*(rows or (KEY, ANSWER)), ROOF, ASKED, OPEN))
    return asked_before([arm], [snapshot], WHERE)


def test_what_answered_gains_as_far_as_the_question_is_ahead_of_what_states() -> None:
    far, even, near = (
        found({"s-0": cosine, "roof": 0.5}).gains.get("key", 0.0) for cosine in (0.3, 0.5, 0.8)
    )
    assert 0.0 == far < even < near == pytest.approx(0.8)
    assert found({"s-0": 0.9, "s-2": 0.9, "roof": 0.5}).gains["key"] == pytest.approx(0.8), (
        "a question states nothing"
    )


def test_only_links_and_memories_that_hold_teach() -> None:
    cosines = {"s-0": 0.9, "roof": 0.5}
    for rows in (
        (KEY, replace(ANSWER, state="archived")),
        (KEY, replace(ANSWER, type="extends")),
        (replace(KEY, state="superseded"), ANSWER),
    ):
        assert found(cosines, *rows) == AskedBefore()


def test_a_gain_is_bounded_and_a_part_of_its_own() -> None:
    scores = [
        FusedScore(id="roof", score=0.9, parts={"text": 0.9}),
        FusedScore(id="key", score=0.3, parts={"text": 0.3}),
    ]
    before = AskedBefore(questions=frozenset({"s-0"}), gains={"key": 1.0})
    best = with_answers(scores, before, 0.5)
    assert [one.id for one in best] == ["roof", "key"], "what is clearly better stays first"
    assert best[1].parts == {"text": 0.3, "answered": 0.5}
    assert with_answers(scores, before, 0.0) == tuple(scores)
