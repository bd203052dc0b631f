import pytest

from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.conversation.turn_order import (
    MOST_TURNS,
    NUMBERS,
    Floats,
    ordered_turns,
)
from hydramem.search.query_plan import plan
from tests.graph.graphs import P, chunk, tables, turn
from tests.search.candidates import candidate

TALK = (
    turn("s", 0, "Where is the key of the boat?", author="Ada", tokens=7),
    turn("s", 1, "In the attic, behind the wardrobe.", author="Bo", tokens=8),
    turn("s", 2, "Thanks, I will look there.", author="Ada", tokens=6),
    turn("t", 0, "The boat needs paint.", author="Bo", tokens=5),
    turn("t", 1, "We talked about music.", author="Ada", tokens=5),
)
PAGE = chunk("page", "The key of the city.")
SNAPSHOT = load(P, *tables(*TALK, PAGE))
TEXTS = {one.id: one for one in (*TALK, PAGE)}
QUERY = "Where is the key of the boat?"


def found(**scores: float) -> list[RecallCandidate]:
    by_name = {name.replace("_", "-"): score for name, score in scores.items()}
    order = sorted(by_name, key=lambda id: -by_name[id])
    return [candidate(TEXTS[id], by_name[id]) for id in order]


class ByNumber:
    """Orders turns by one of their numbers, and keeps what it saw."""

    def __init__(self, name: str, sign: int = 1) -> None:
        self.place, self.sign = NUMBERS.index(name), sign
        self.kinds: list[str] = []
        self.seen: dict[str, Floats] = {}

    def __call__(self, kind: str, turns: list[str], numbers: Floats) -> Floats:
        self.kinds.append(kind)
        self.seen |= dict(zip(turns, numbers, strict=True))
        return self.sign * numbers[:, self.place]

    def of(self, id: str, name: str) -> float:
        return float(self.seen[id][NUMBERS.index(name)])


def ordered(
    candidates: list[RecallCandidate], scorer: ByNumber, around: tuple[Chunk, ...] = TALK, query: str = QUERY
) -> tuple[RecallCandidate, ...]:
    return ordered_turns(query, candidates, [plan(query, SNAPSHOT)], around=around, scorer=scorer)


def test_turns_exchange_their_scores_and_other_chunks_keep_theirs() -> None:
    candidates = found(s_0=0.9, page=0.8, s_1=0.5, t_0=0.4)
    after = ordered(candidates, ByNumber("score", sign=-1))
    assert [(one.chunk.id, one.fused.score) for one in after] == [
        ("t-0", 0.9),
        ("page", 0.8),
        ("s-1", 0.5),
        ("s-0", 0.4),
    ]
    assert after[0].fused.parts == {"text": 0.4, "order": 0.5}
    assert sum(after[3].fused.parts.values()) == pytest.approx(0.4)
    assert after[1].fused.parts == {"text": 0.8}


def test_an_answer_is_told_from_a_turn_that_follows_no_question() -> None:
    scorer = ByNumber("answers")
    after = ordered(found(s_0=0.9, s_2=0.6, s_1=0.5), scorer)
    assert after[0].chunk.id == "s-1"
    assert [scorer.of(id, "answers") for id in ("s-0", "s-1", "s-2")] == [0, 1, 0]


def test_a_chat_with_an_assistant_has_weights_of_its_own() -> None:
    scorer = ByNumber("score")
    ordered(found(s_0=0.9, s_1=0.5), scorer)
    chat = (turn("c", 0, "I like tea.", author="user"), turn("c", 1, "Noted.", author="assistant"))
    candidates = [candidate(chat[0], 0.9), candidate(chat[1], 0.5)]
    plans = [plan("what do I like?", load(P, *tables(*chat)))]
    ordered_turns("what do I like?", candidates, plans, around=chat, scorer=scorer)
    assert scorer.kinds == ["people", "chat"]
    assert [scorer.of(id, "users_own") for id in ("c-0", "c-1")] == [1, 0]


def test_the_words_of_a_turn_that_may_not_be_shown_do_not_count() -> None:
    for around, counts in (((TALK[1], TALK[4]), 0), (TALK, 1)):
        ordered(found(s_1=0.5, t_1=0.3), scorer := ByNumber("holds_with_before"), around=around)
        assert scorer.of("s-1", "holds_with_before") == pytest.approx(counts)


def test_only_the_first_turns_move() -> None:
    talk = tuple(turn("s", place, f"word{place}", author="Ada") for place in range(MOST_TURNS + 5))
    candidates = [candidate(one, 1 - place / 100) for place, one in enumerate(talk)]
    plans = [plan("word1", load(P, *tables(*talk)))]
    after = ordered_turns("word1", candidates, plans, around=talk, scorer=ByNumber("score", sign=-1))
    ids = [one.chunk.id for one in after]
    assert ids[:MOST_TURNS] == [one.id for one in talk[:MOST_TURNS]][::-1]
    assert ids[MOST_TURNS:] == [one.id for one in talk[MOST_TURNS:]]
