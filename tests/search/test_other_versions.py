"""Versions of one matter at recall: the later first, each naming the other, and what says the same once."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from hydramem.core.results.hits import Recall
from hydramem.core.row_types import Chunk, Link, LinkType, Times
from hydramem.storage.chunk_filter import ChunkFilter
from tests.graph.graphs import THEN, P, chunk, link
from tests.search.test_recall import Memory

QUESTION = "where is the lathe of the workshop"


def note(id: str, text: str, day: int, **values: object) -> Chunk:
    times = Times(recorded_at=THEN + timedelta(days=day))
    return chunk(id, text, kind="note", times=times, **values)


FIRST = note("first", "The lathe of the workshop is in hall two.", 1)
SECOND = note("second", "They moved that machine across the yard into hall five.", 2)
THIRD = note("third", "It stands at the harbour now.", 3)
BENCH = note("bench", "The bench is beside the lathe.", 1)
OTHERS = tuple(note(f"other{n}", f"The workshop has a drawer number {n}.", 1) for n in range(4))


def joined(newer: Chunk, older: Chunk, type: LinkType = "may_supersede", weight: float = 0.8) -> Link:
    made = replace(link(newer, older), id=f"l-{newer.id}-{type}-{older.id}")
    return replace(made, type=type, weight=weight, times=Times(recorded_at=newer.times.recorded_at))


def ids(found: Recall) -> list[str]:
    return [hit.id for hit in found.hits]


def assert_falling(found: Recall) -> None:
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in found.hits:
        assert sum(hit.scores.values()) == pytest.approx(hit.score)


def test_what_may_supersede_a_hit_comes_directly_before_it() -> None:
    rows = (FIRST, SECOND, BENCH, *OTHERS)
    plain = Memory(*rows).recall(QUESTION, limit=7)
    assert ids(plain).index("first") < ids(plain).index("second")
    found = Memory(*rows, joined(SECOND, FIRST)).recall(QUESTION, limit=7)
    place = ids(found).index("first")
    assert ids(found)[place - 1] == "second"
    others = [id for id in ids(plain) if id != "second"]
    assert [id for id in ids(found) if id != "second"] == others
    assert_falling(found)
    hits = {hit.id: hit for hit in found.hits}
    newer, older = hits["second"], hits["first"]
    assert "later" in newer.scores
    assert newer.why.endswith("ay supersede another match, which was told earlier.")
    assert (newer.older.id, newer.older.text) == ("first", FIRST.text)
    assert newer.older.probability == pytest.approx(0.8)
    assert (older.newer.id, older.newer.text) == ("second", SECOND.text)
    assert newer.newer is older.older is hits["bench"].newer is hits["bench"].older is None


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ({"state": "superseded"}, {}),
        ({"weight": 0.05}, {}),
        ({}, {"known_at": THEN + timedelta(days=1, hours=1)}),
    ],
)
def test_a_settled_a_doubtful_and_a_later_link_lift_nothing(
    values: dict[str, object], asked: dict[str, object]
) -> None:
    memory = Memory(FIRST, BENCH, SECOND, replace(joined(SECOND, FIRST), **values))
    where = ChunkFilter(projects=(P,), states=("active",), **asked)
    assert ids(memory.recall(QUESTION, where=where))[0] == "first"


def test_a_later_version_that_nothing_found_is_taken_in() -> None:
    memory = Memory(FIRST, BENCH, *OTHERS)
    memory.keep(THIRD, joined(THIRD, FIRST))  # no arm finds it
    found = memory.recall(QUESTION, limit=2)
    assert ids(found) == ["third", "first"]
    assert_falling(found)
    assert ids(memory.recall(QUESTION, limit=1)) == ["third"]
    memory = Memory(FIRST, BENCH, *OTHERS)
    memory.keep(THIRD, joined(THIRD, FIRST, weight=0.4))
    assert "third" not in ids(memory.recall(QUESTION, limit=5)), "a doubtful one is not"
    memory = Memory(FIRST, SECOND, THIRD, joined(SECOND, FIRST), joined(THIRD, SECOND))
    memory.recall(QUESTION, limit=1)
    assert len(memory.loads) <= 4  # candidates, other versions, links, their other ends


@pytest.mark.parametrize("values", [{"state": "archived"}, {"private": True}, {"kind": "event"}])
def test_what_the_filter_does_not_admit_is_not_taken_in(values: dict[str, object]) -> None:
    memory = Memory(FIRST, BENCH)
    memory.keep(replace(THIRD, **values), joined(THIRD, FIRST))
    where = ChunkFilter(projects=(P,), kinds=("note",), include_private=False)
    found = memory.recall(QUESTION, where=where)
    assert "third" not in ids(found)


def test_a_chain_is_newest_first() -> None:
    links = (joined(SECOND, FIRST), joined(THIRD, SECOND))
    found = Memory(FIRST, SECOND, THIRD, BENCH, *links).recall(QUESTION)
    place = ids(found).index("third")
    assert ids(found)[place : place + 3] == ["third", "second", "first"]
    assert_falling(found)
    assert found.hits[place + 1].newer.id == "third"
    assert found.hits[place + 1].older.id == "first"
    found = Memory(FIRST, SECOND, THIRD, joined(SECOND, FIRST), joined(THIRD, FIRST)).recall(QUESTION)
    assert ids(found) == ["third", "second", "first"], "of two later ones too"
    assert found.hits[2].newer.id == "third"


def test_an_ended_version_leads_on_to_what_is_later() -> None:
    links = (joined(SECOND, FIRST), joined(THIRD, SECOND, type="supersedes"))
    ended = replace(SECOND, state="superseded", times=replace(SECOND.times, valid_to=THIRD.times.recorded_at))
    memory = Memory(FIRST, BENCH, *OTHERS)
    memory.keep(ended, THIRD, *links)
    assert ids(memory.recall(QUESTION, limit=2)) == ["third", "first"]


def test_a_doubtful_link_lifts_only_what_matches_nearly_as_well() -> None:
    nearly = note("nearly", "The lathe of the workshop went to another place.", 2)
    rows = (FIRST, nearly, BENCH, *OTHERS)
    scores = {hit.id: hit.score for hit in Memory(*rows).recall(QUESTION, limit=7).hits}
    enough = 1 - scores["nearly"] / scores["first"]
    assert 0.05 < enough < 0.45
    for weight, lifts in ((enough - 0.05, False), (enough + 0.05, True)):
        found = ids(Memory(*rows, joined(nearly, FIRST, weight=weight)).recall(QUESTION, limit=7))
        assert (found.index("nearly") < found.index("first")) == lifts


def test_links_in_a_circle_end() -> None:
    found = Memory(FIRST, SECOND, joined(SECOND, FIRST), joined(FIRST, SECOND)).recall(QUESTION)
    assert sorted(ids(found)) == ["first", "second"]


@pytest.mark.parametrize(
    "asked",
    [
        {"where": ChunkFilter(projects=(P,), states=("active", "superseded"), at=THEN + timedelta(days=9))},
        {"query": "where was the lathe of the workshop in January 2024"},
        {"query": "where did the lathe of the workshop use to stand"},
    ],
)
def test_a_question_about_the_past_keeps_the_order(asked: dict[str, object]) -> None:
    query = asked.pop("query", QUESTION)
    rows = (FIRST, SECOND, BENCH)
    plain = Memory(*rows).recall(query, **asked)
    found = Memory(*rows, joined(SECOND, FIRST)).recall(query, **asked)
    assert ids(found) == ids(plain)
    assert ids(found)[0] == "first"
    assert found.hits[0].newer.id == "second"


def test_a_hit_names_what_it_superseded_surely() -> None:
    until = THEN + timedelta(days=2)
    ended = replace(FIRST, state="superseded", times=replace(FIRST.times, valid_to=until))
    memory = Memory(ended, SECOND, BENCH, joined(SECOND, ended, "supersedes", 0.4))
    now: datetime = THEN + timedelta(days=20)
    found = memory.recall(QUESTION, where=ChunkFilter(projects=(P,), at=now))
    assert "first" not in ids(found)
    hit = next(hit for hit in found.hits if hit.id == "second")
    assert (hit.older.id, hit.older.probability) == ("first", 1.0)
    secret = Memory(replace(ended, private=True), SECOND, joined(SECOND, ended, "supersedes"))
    found = secret.recall(QUESTION, where=ChunkFilter(projects=(P,), at=now, include_private=False))
    assert found.hits[0].older is None


SAME = note("same", "Our good old lathe of the workshop can be found in hall two.", 2)


def test_what_says_the_same_is_one_hit_with_the_longer_text_at_the_better_place() -> None:
    rows = (FIRST, SAME, BENCH, *OTHERS)
    plain = Memory(*rows).recall(QUESTION, limit=3)
    assert ids(plain)[0] == "first"
    found = Memory(*rows, joined(SAME, FIRST, "duplicates")).recall(QUESTION, limit=3)
    assert ids(found)[0] == "same"
    assert "first" not in ids(found)
    assert len(found.hits) == 3
    scores = {hit.id: hit.score for hit in Memory(*rows).recall(QUESTION, limit=7).hits}
    assert found.hits[0].score == pytest.approx(0.75 * scores["first"] + 0.25 * scores["same"])
    assert found.hits[0].why.endswith("tands for other matches that say the same.")
    assert_falling(found)
    assert [view.other for view in found.hits[0].links] == ["first"]
    assert [hit.also for hit in found.hits] == [("first",), (), ()]


def test_a_second_wording_is_no_second_chance() -> None:
    """What is told twice goes behind what was told once and scores nearly as much as the better wording."""
    rival = note("rival", "The lathe of the workshop is in hall seven.", 4)
    weak = note("weak", "A lathe, which every workshop envies us for, stays by the bricks of hall two.", 2)
    rows = (FIRST, weak, rival, *OTHERS)
    assert ids(Memory(*rows).recall(QUESTION, limit=3))[:2] == ["first", "rival"]
    found = Memory(*rows, joined(weak, FIRST, "duplicates")).recall(QUESTION, limit=3)
    assert ids(found)[:2] == ["rival", "weak"]
    assert found.hits[1].also == ("first",)
    assert_falling(found)


def test_what_differs_from_one_of_them_stays_a_hit_though_it_is_linked_to_another() -> None:
    rival = note("rival", "The workshop of Bo keeps its lathe in a hall of two.", 3)
    other = note("other", "The lathe that Ada's workshop has can be found in hall two.", 2)
    links = (joined(rival, FIRST, "duplicates"), joined(other, FIRST, "duplicates"))
    found = Memory(FIRST, rival, other, *links).recall(QUESTION)
    assert len(found.hits) == 2
    assert {"rival", "other"} <= {id for hit in found.hits for id in (hit.id, *hit.also)}
    assert not any({"rival", "other"} <= {hit.id, *hit.also} for hit in found.hits)


KILOGRAMS = "The lathe of the workshop carries nothing heavier than 40 kg, a sign by its switch says."


@pytest.mark.parametrize(
    ("one", "other", "weight", "hits"),
    [
        (FIRST.text, SAME.text, 0.5, 2),
        ("The lathe of the workshop is in hall 2.", "In hall 9 of the workshop is the lathe.", 0.8, 2),
        ("The lathe stands behind the workshop.", "The lathe stands before the workshop.", 0.8, 2),
        (
            "Iris lent the lathe of the workshop to Omar.",
            "Omar lent Iris the lathe of our old workshop.",
            0.8,
            2,
        ),
        (KILOGRAMS, "Anything above 40 kg is too much for that lathe.", 0.95, 1),
        (KILOGRAMS, "Anything above 40 kg is too much for that lathe.", 0.5, 2),
        (KILOGRAMS, "Anything above 50 kg is too much for that lathe.", 0.95, 2),
    ],
)
def test_one_hit_is_only_what_words_or_a_sure_model_join_and_where_no_number_differs(
    one: str, other: str, weight: float, hits: int
) -> None:
    rows = note("one", one, 1), note("two", other, 2)
    found = Memory(*rows, joined(rows[1], rows[0], "duplicates", weight)).recall(QUESTION)
    assert len(found.hits) == hits


def test_links_of_one_matter_lend_no_score() -> None:
    far = note("far", "Nobody asked for tulips.", 4)
    rows = (FIRST, BENCH, far)
    scores = [
        {hit.id: hit.scores for hit in Memory(*rows, *links).recall(QUESTION).hits}
        for links in ((), (joined(BENCH, far),))
    ]
    assert "links" not in scores[1]["far"]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        (QUESTION, True),
        ("where was the lathe of the workshop in January 2024", False),
    ],
)
def test_newness_adds_nothing_where_the_past_is_asked_for(query: str, counts: bool) -> None:
    where = ChunkFilter(projects=(P,), at=THEN + timedelta(days=9))
    found = Memory(FIRST, SECOND, BENCH).recall(query, where=where, recency_weight=0.5)
    assert found.hits
    assert all(("recency" in hit.scores) == counts for hit in found.hits)


LONG = "Ada wants new gloves, Bo has the van till Monday, the paint of the gate is late, Omar's rake broke"
SAID = "oh and before I lose it, the lathe of the workshop is in hall two since the flood"


@pytest.mark.parametrize(
    ("text", "session", "other", "expected"),
    [
        (SAID, "s1", "s1", ["first"]),
        (SAID, "s1", "s2", ["said", "first"]),
        (SAID, None, None, ["said", "first"]),
        ("the lathe of the workshop is in hall 5", "s1", "s1", ["said", "first"]),
        ("the workshop has a lathe, hasn't it", "s1", "s1", ["said", "first"]),
        (f"{SAID} and its neighbour, where the drill is, leaks", "s1", "s1", ["first"]),
        (f"{SAID} and {LONG}", "s1", "s1", ["said", "first"]),
    ],
)
def test_a_memory_stands_for_the_turn_of_its_session_that_it_kept(
    text: str, session: str | None, other: str | None, expected: list[str]
) -> None:
    turn = chunk("said", text, kind="turn", session=session)
    found = Memory(turn, replace(FIRST, session=other), BENCH).recall(QUESTION)
    assert sorted(set(ids(found)) - {"bench"}) == sorted(expected)
    assert_falling(found)
    if expected == ["first"]:
        (hit,) = (hit for hit in found.hits if hit.id == "first")
        assert hit.also == ("said",)


def test_a_turn_stays_that_alone_has_a_word_of_the_query() -> None:
    turn = chunk("said", f"{SAID} and its neighbour leaks", kind="turn", session="s1")
    memory = Memory(turn, replace(FIRST, session="s1"), BENCH)
    assert "said" not in ids(memory.recall(QUESTION))
    assert "said" in ids(memory.recall("which neighbour of the lathe leaks"))
    memory.keep(replace(FIRST, session="s1", state="archived"))
    assert "said" in ids(memory.recall(QUESTION)), "the memory that kept it may not be seen"


def test_a_memory_stands_for_its_turn_beside_another_wording() -> None:
    turn = chunk("said", SAID, kind="turn", session="s1")
    memory = Memory(turn, replace(FIRST, session="s1"), SAME, joined(SAME, FIRST, "duplicates", 0.9))
    found = memory.recall(QUESTION)
    assert ids(found) == ["same"]
    assert set(found.hits[0].also) == {"said", "first"}
