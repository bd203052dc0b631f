"""The phase reuse: what several sessions recalled gains, what stands alone fades, and nothing creeps."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem import Memory
from hydramem.core.row_types import ANSWERS, MAY_BE, Times
from hydramem.core.time import now
from hydramem.garden.phases.reuse_weights import LEAST, MOST, REUSE, faded, gained
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import entity, memory_of, relation
from tests.storage.rows import link, mention

SHARES = st.floats(0, 1)


def recall_in(memory: Memory, *sessions: str, query: str = "Note c1.") -> None:
    for name in sessions:
        with memory.during(name):
            memory.recall(query, limit=1)


def importance(memory: Memory) -> dict[str, float]:
    return {row.id: row.importance for row in rows(memory)["Chunk"]}


@given(SHARES, st.integers(0, 10_000), st.integers(0, 10_000), SHARES)
def test_a_gain_is_bounded_and_grows_with_sessions_and_falls_with_degree(
    base: float, sessions: int, degree: int, ceiling: float
) -> None:
    value = gained(base, sessions, degree, ceiling)
    assert base <= value <= max(base, MOST) and value <= base + ceiling + 1e-12
    assert gained(base, sessions + 1, degree, ceiling) >= value
    assert gained(base, sessions, degree + 1, ceiling) <= value
    assert sessions >= 2 or value == base


@given(SHARES, st.integers(0, 10_000), st.integers(1, 400))
def test_what_fades_keeps_a_floor_and_never_gains(base: float, days: int, after: int) -> None:
    value = faded(base, timedelta(days=days), timedelta(days=after))
    assert min(base, LEAST) <= value <= base
    assert faded(base, timedelta(days=days + 1), timedelta(days=after)) <= value
    assert days > after or value == base


def test_what_two_sessions_recalled_gains_once(memory: Memory) -> None:
    put(memory, chunks=(memory_of("c1"),))
    memory.doctor(fix=True)
    recall_in(memory, "monday")
    assert night(memory, "reuse").phases[0].proposals == 0
    recall_in(memory, "tuesday")
    report = night(memory, "reuse")
    [told] = report.changes
    assert told.reason == "It was recalled in 2 sessions." and told.target == "c1"
    assert importance(memory)["c1"] == pytest.approx(gained(0.5, 2, 0, 0.3), abs=1e-6)
    assert night(memory, "reuse").phases[0].proposals == 0, "no new recalls, no change"
    recall_in(memory, "wednesday")
    again = night(memory, "reuse")
    assert importance(memory)["c1"] == pytest.approx(gained(0.5, 3, 0, 0.3), abs=1e-6)
    assert again.run is not None and report.run is not None
    memory.undo(again.run)
    memory.undo(report.run)
    [row] = rows(memory)["Chunk"]
    assert (row.importance, row.metadata) == (0.5, {})
    assert night(memory, "reuse").phases[0].proposals == 0, "what was undone is not done again"


def test_what_stands_alone_fades_until_somebody_asks(memory: Memory) -> None:
    kept = [
        memory_of("shared1"),
        memory_of("shared2"),
        memory_of("new", times=Times(recorded_at=now())),
        memory_of("trusted", layer="verified"),
        memory_of("passage", kind="passage"),
    ]
    named = (("shared1", "e1"), ("shared2", "e1"), ("own", "e2"))
    put(
        memory,
        chunks=(*kept, memory_of("alone"), memory_of("own")),
        entities=(entity("e1", "Ada"), entity("e2", "Bob")),
        mentions=tuple(mention(*each) for each in named),
    )
    night(memory, "reuse")
    left = importance(memory)
    assert {id for id, value in left.items() if value < 0.5} == {"alone", "own"}
    assert left["alone"] == LEAST
    assert night(memory, "reuse").phases[0].proposals == 0
    memory.doctor(fix=True)
    recall_in(memory, "monday", query="Note alone.")
    night(memory, "reuse")
    [row] = [row for row in rows(memory)["Chunk"] if row.id == "alone"]
    assert row.importance == 0.5 and REUSE not in row.metadata


def test_what_a_night_itself_links_is_not_related(memory: Memory) -> None:
    """Links to an answered question and between names that may be one keep nothing; stated relations do."""
    named = {"e1": "Falcon", "e2": "Falcon Shipping", "e3": "Harrow", "e4": "Harrow Shipping"}
    bare = {"evidence": (), "origin": "inferred"}
    inferred = relation("e1", MAY_BE, "e2", **bare)
    stated = relation("e3", MAY_BE, "e4", **bare | {"origin": "asserted"})
    assert inferred.supposed and not stated.supposed
    put(
        memory,
        chunks=tuple(map(memory_of, ("answer", "question", *(f"c{id}" for id in named)))),
        entities=tuple(entity(id, name) for id, name in named.items()),
        mentions=tuple(mention(f"c{id}", id) for id in named),
        relations=(inferred, stated),
        links=(link("answer", "question", type=ANSWERS, weight=1.0),),
    )
    night(memory, "reuse")
    faded_ones = {id for id, value in importance(memory).items() if value < 0.5}
    assert faded_ones == {"answer", "question", "ce1", "ce2"}


def test_the_weight_shows_at_recall(tmp_path: Path) -> None:
    with opened(tmp_path, SEARCH_IMPORTANCE_WEIGHT="0.5") as memory:
        put(memory, chunks=(memory_of("c1"), memory_of("c2")))
        memory.doctor(fix=True)
        recall_in(memory, "monday", "tuesday")
        night(memory, "reuse")
        hits = {hit.id: hit for hit in memory.recall("Note c1.").hits}
        assert hits["c1"].scores["importance"] > 0
