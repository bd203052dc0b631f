import pytest

from hydramem.core.config import SearchConfig
from hydramem.core.row_types import Chunk
from hydramem.search.conversation import coverage, covering
from hydramem.search.fusion import Fused, RecallCandidate
from tests.graph.graphs import chunk, turn

HARBOUR = (turn("harbour", 0, "The café by the harbour."), turn("harbour", 9, "They were painting boats."))
OTHERS = (
    turn("market", 0, "A harbour far away."),
    turn("walk", 0, "Rain again."),
    chunk("page", "harbour"),
)


def found(one: Chunk, score: float) -> RecallCandidate:
    return RecallCandidate(chunk=one, fused=Fused(id=one.id, score=score, parts={"text": score}))


def test_a_session_counts_for_all_its_turns_by_the_words_it_holds() -> None:
    shares = coverage("Who paints boats in the harbour?", (*HARBOUR, *OTHERS))
    assert shares["harbour-0"] == shares["harbour-9"] == 1
    assert 0 < shares["market-0"] < 0.5
    assert shares["walk-0"] == 0 and "page" not in shares


def test_accents_and_scripts_without_spaces() -> None:
    assert coverage("the cafe", HARBOUR[:1]) == {"harbour-0": 1}
    assert coverage("会議", (turn("s", 0, "明日の会議"),)) == {"s-0": 1}
    assert coverage("the of and", HARBOUR) == coverage("harbour", ()) == coverage("zebra", HARBOUR) == {}
    assert coverage("(a+)+$ [ \\", HARBOUR) == {}


def test_what_a_session_adds_is_shown_and_can_be_left_out() -> None:
    candidates = [found(OTHERS[0], 0.6), found(HARBOUR[1], 0.5), found(OTHERS[2], 0.4)]
    first, second, third = covering("painting the harbour", candidates, 0.8)
    assert [one.chunk.id for one in (first, second, third)] == ["harbour-9", "market-0", "page"]
    assert first.fused.parts == pytest.approx({"text": 0.5, "session": 0.4})
    assert third.fused.parts == {"text": 0.4}
    assert covering("painting the harbour", candidates, 0.0) == tuple(candidates)
    assert SearchConfig().session_weight > 0
