"""The phase supersede: the newer ends the older, where that is certain, and in the same slot."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hydramem import Memory
from hydramem.core.row_types import Relation, Times
from hydramem.core.time import now
from tests.garden.memories import night, put, rows
from tests.garden.rows import chunk, entity, relation

PEOPLE = (entity("e1", "Ada"), entity("e2", "Acme"), entity("e3", "Globex"), entity("e4", "Initech"))


def works(employer: str, day: int | None, *, said: int = 1, **fields: object) -> Relation:
    """State for whom Ada works from a day of January on."""
    begins = None if day is None else datetime(2025, 1, day, tzinfo=UTC)
    times = Times(recorded_at=datetime(2025, 2, said, tzinfo=UTC), valid_from=begins)
    id = f"r_{employer}"
    return relation("e1", "works_for", employer, id=id, times=times, **fields)


def told(memory: Memory, *relations: Relation, **rows: object) -> list[str]:
    """Store relations, let a night run, and return what it said."""
    put(memory, entities=PEOPLE, relations=relations, **rows)
    return [each.text for each in night(memory, "supersede").changes]


def test_the_newer_ends_the_older_and_what_was_believed_stays(memory: Memory) -> None:
    put(memory, entities=PEOPLE, relations=(works("e2", 1), works("e3", 9)))
    before, known = rows(memory), now()
    report = night(memory, "supersede")
    assert [each.text for each in report.changes] == [
        "Ada works_for Acme ends on 2025-01-09: Ada works_for Globex"
    ]
    assert "begins on 2025-01-09" in report.changes[0].reason
    assert [row.object for row in memory.relations("Ada")] == ["Globex"]
    assert {row.object for row in memory.relations("Ada", known_at=known)} == {"Acme", "Globex"}
    assert [row.object for row in memory.relations("Ada", as_of="2025-01-05")] == ["Acme"]
    assert night(memory, "supersede").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before
    assert night(memory, "supersede").phases[0].proposals == 0, "what was undone is not done again"


def test_each_of_several_ends_where_the_next_begins(memory: Memory) -> None:
    (text,) = told(memory, works("e2", 1), works("e4", 5), works("e3", None, said=9))
    assert text == (
        "Ada works_for Acme ends on 2025-01-05: Ada works_for Initech; "
        "Ada works_for Initech ends on 2025-02-09: Ada works_for Globex"
    )
    stored = {row.id: row for row in rows(memory)["RELATES"]}
    assert [stored[f"r_{end}"].times.valid_to for end in ("e2", "e4", "e3")] == [
        datetime(2025, 1, 5, tzinfo=UTC),
        datetime(2025, 2, 9, tzinfo=UTC),
        None,
    ]
    assert stored["r_e3"].times.valid_from == datetime(2025, 2, 9, tzinfo=UTC)
    assert len(stored) == 6


@pytest.mark.parametrize(
    "pair",
    [
        (works("e2", 1), works("e3", 9, verdict="deferred", probability=0.5)),
        (works("e2", 1), works("e3", 1)),
        (works("e2", 1, origin="asserted"), works("e3", 9)),
        (works("e2", 1, verifier="person:ada", verdict="accepted"), works("e3", 9)),
        (works("e2", 1, layer="verified"), works("e3", 9)),
        (works("e2", 1), replace(works("e3", 9), type="likes")),
    ],
    ids=["uncertain", "together", "asserted", "confirmed", "verified", "not functional"],
)
def test_what_is_not_certain_or_not_ours_to_end_stays(memory: Memory, pair: tuple[Relation, ...]) -> None:
    assert told(memory, *pair) == []


def test_other_scopes_are_other_matters(memory: Memory) -> None:
    chunks = tuple(
        chunk(id, f"Ada works for {name}.", scope=scope)
        for id, name, scope in (("c1", "Acme", "/fiction"), ("c2", "Globex", "/staff"))
    )
    pair = works("e2", 1, evidence=("c1",)), works("e3", 9, evidence=("c2",))
    assert told(memory, *pair, chunks=chunks) == []
    assert len(told(memory, *pair, chunks=(replace(chunks[0], scope="/staff"),))) == 1
