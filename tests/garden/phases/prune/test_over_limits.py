"""Over the limit the least important and least recalled memories go; what is protected stays."""

from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Mention, Times
from hydramem.garden.phases.prune.over_limits import least_worth
from hydramem.storage.in_memory.graph import InMemoryGraph
from tests.examples import FEW
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import LONG_AGO, entity, memory_of, relation


@FEW
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), max_size=30), st.integers(0, 40))
def test_what_goes_is_never_worth_more_than_what_stays(given_: list[tuple[float, int]], most: int) -> None:
    held = [
        memory_of(f"c{place}", importance=importance, recall_count=count)
        for place, (importance, count) in enumerate(given_)
    ]
    gone = least_worth(held, InMemoryGraph(), most=most)
    assert len(gone) == min(most, len(held))
    left = [row for row in held if row not in gone]
    assert not gone or not left or max(row.importance for row in gone) <= min(row.importance for row in left)


def test_over_the_limit_the_least_goes_with_what_hangs_on_it(tmp_path: Path) -> None:
    held = (
        memory_of("least", importance=0.1),
        memory_of("reused", importance=0.1),
        memory_of("trusted", importance=0.1, layer="verified"),
        memory_of("more", importance=0.6, times=Times(recorded_at=LONG_AGO + timedelta(days=1))),
        memory_of("most", importance=0.9),
        memory_of("passage", importance=0.1, kind="passage"),
    )
    things = tuple(entity(id, name) for id, name in (("e1", "Ada"), ("e2", "Bob")))
    claim = relation("e1", "leads", "e2", evidence=("least",), verdict="accepted")
    with opened(tmp_path, LIMITS_MEMORIES="4") as memory:
        put(
            memory,
            chunks=held,
            entities=things,
            relations=(claim,),
            mentions=(Mention(chunk="least", entity="e1"), Mention(chunk="most", entity="e2")),
        )
        memory.doctor(fix=True)
        for session in ("monday", "tuesday"):
            with memory.during(session):
                memory.recall("Note reused.", limit=1)
        before = rows(memory)
        report = night(memory, "prune")
        after = rows(memory)
        assert {row.id for row in after["Chunk"] if row.state == "archived"} == {"least"}
        assert [row.state for row in after["RELATES"]] == ["archived"]
        [told] = [each for each in report.changes if each.target == "least"]
        assert "more than the 4 memories" in told.reason
        assert report.run is not None
        memory.undo(report.run)
        restored = rows(memory)
        assert [row.state for row in restored["Chunk"]] == [row.state for row in before["Chunk"]]
        night(memory, "prune")
        active = {row.id for row in rows(memory)["Chunk"] if row.state == "active"}
        assert "least" in active and "more" not in active, "what a person brought back is not the next to go"
