"""The phase infer: nothing without evidence, nothing that no type fits, and never on its own word."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.config import GardenConfig
from hydramem.core.row_types import Relation, Times
from hydramem.garden.night.run_phases import STEPS
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk, entity, relation
from tests.storage.rows import at, mention

PEOPLE = tuple(entity(f"p{n}", f"Person{n}", type="person") for n in range(24))
TEAMS = tuple(entity(f"t{n}", f"Team{n}", type="team") for n in range(3))


def company() -> list[Relation]:
    """Everybody is in the team of his place in thirds, and knows the next of it; one is in no team."""
    inside = [relation(f"p{n}", "member_of", f"t{n % 3}", verdict="accepted") for n in range(23)]
    knows = [relation(f"p{n}", "knows", f"p{n + 3}", verdict="accepted") for n in range(21)]
    return inside + knows


def inferred(memory: Memory) -> list[Relation]:
    return [row for row in rows(memory)["RELATES"] if row.origin == "inferred"]


def filled(memory: Memory, texts: Sequence[tuple[str, tuple[str, ...]]], **fields: object) -> None:
    """Store the company, and passages that name some of it."""
    chunks = tuple(chunk(f"c{n}", text, **fields) for n, (text, _) in enumerate(texts))
    mentions = tuple(mention(f"c{n}", name) for n, (_, names) in enumerate(texts) for name in names)
    put(
        memory,
        entities=(*PEOPLE, *TEAMS),
        relations=tuple(company()),
        chunks=chunks,
        mentions=mentions,
    )


STATED = ("Person23 is a member of Team2 now.", ("p23", "t2"))
MET = ("Person23 met with Team2.", ("p23", "t2"))


def test_a_night_runs_it_only_where_it_is_asked_for(tmp_path: Path) -> None:
    assert "infer" in STEPS and "infer" not in GardenConfig().phases
    with opened(tmp_path / "plain") as memory:
        filled(memory, [STATED])
        memory.garden()
        assert inferred(memory) == []
    with opened(tmp_path / "asked", GARDEN_PHASES='["verify", "infer"]') as memory:
        filled(memory, [STATED])
        (report,) = memory.garden()
        assert [each.phase for each in report.phases] == ["infer", "verify"], "their order is fixed"
        (row,) = inferred(memory)
        night(memory, *GardenConfig().phases)
        assert [each.id for each in inferred(memory)] == [row.id], "a night without it leaves what is there"


def test_what_the_graph_suggests_and_a_passage_says_is_inferred(memory: Memory) -> None:
    filled(memory, [STATED])
    before = rows(memory)
    report = night(memory, "infer")
    (change,) = report.changes
    assert (change.text, change.action) == ("Person23 member_of Team2", "add")
    assert "passage names both" in change.reason
    (row,) = inferred(memory)
    assert (row.evidence, row.quote, row.verdict) == (("c0",), STATED[0], "accepted")
    assert row.confidence <= 0.5
    assert night(memory, "infer").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before
    assert night(memory, "infer").phases[0].proposals == 0, "what was undone is not done again"


WORKERS, GROUPS = 120, 10
LATE = range(WORKERS - 8, WORKERS)
"""Workers of whom nobody said which team they are in; all else says it."""


def offices() -> list[Relation]:
    """Every team has a floor and a project; its workers sit there and work on it, and know each other."""
    told = []
    for n in range(WORKERS):
        group = n % GROUPS
        told += [(f"p{n}", "sits_on", f"f{group}"), (f"p{n}", "works_on", f"w{group}")]
        told += [(f"p{n}", "member_of", f"t{group}")] if n not in LATE else []
        told += [(f"p{n}", "knows", f"p{n - GROUPS}")] if n >= GROUPS else []
    for group in range(GROUPS):
        told += [(f"t{group}", "based_on", f"f{group}"), (f"t{group}", "runs", f"w{group}")]
    return [relation(*one, origin="asserted") for one in told]


def employed(memory: Memory) -> None:
    """Store the offices, and passages that name each late worker and a team, but do not say how."""
    kinds = {"p": ("Person", WORKERS), "t": ("Team", GROUPS), "f": ("Floor", GROUPS), "w": ("Work", GROUPS)}
    # The right team twice: that two passages name both is no second voice.
    met = [(f"c{n}_{k}", n, (n + max(0, k - 1)) % GROUPS) for n in LATE for k in range(3)]
    put(
        memory,
        entities=tuple(
            entity(f"{letter}{n}", f"{name}{n}", type=name.casefold())
            for letter, (name, count) in kinds.items()
            for n in range(count)
        ),
        relations=tuple(offices()),
        chunks=tuple(chunk(id, f"Person{n} met with Team{team}.") for id, n, team in met),
        mentions=tuple(mention(id, end) for id, n, team in met for end in (f"p{n}", f"t{team}")),
    )


def test_what_no_sentence_states_stays_in_doubt_and_is_told_as_inferred(memory: Memory) -> None:
    employed(memory)
    night(memory, "infer")
    found = inferred(memory)
    assert {(row.subject, row.object) for row in found} == {(f"p{n}", f"t{n % GROUPS}") for n in LATE}
    assert {(row.layer, row.quote) for row in found} == {("working", None)}
    assert max(row.confidence for row in found) <= 0.5
    late, team = f"Person{LATE[0]}", f"Team{LATE[0] % GROUPS}"
    way = memory.path(late, team)
    assert [str(step) for step in way.steps] == [f"{late} -[member_of, inferred]-> {team}"]
    near = [str(step) for one in memory.neighbors(late) for step in one.via]
    assert f"{late} -[member_of, inferred]-> {team}" in near
    assert f"{late} -[sits_on]-> Floor{LATE[0] % GROUPS}" in near
    drawn = {edge.id: edge.inferred for edge in memory.graph(limit=500).edges if edge.type == "member_of"}
    assert {id for id, guess in drawn.items() if guess} == {row.id for row in found}
    (told,) = [one for one in memory.relations(late) if one.object == team]
    assert (told.origin, told.quote) == ("inferred", None)


def test_nights_come_to_rest(tmp_path: Path) -> None:
    with opened(tmp_path, GARDEN_INFER_LIMIT="5") as memory:
        employed(memory)
        made = [night(memory, "infer", "verify").phases[0].applied for _ in range(4)]
        assert made == [5, len(LATE) - 5, 0, 0]
        assert {row.layer for row in inferred(memory)} == {"working"}


def guess(subject: str, object: str, **fields: object) -> Relation:
    given = {"project": "default", "origin": "inferred", "verdict": "deferred", "probability": 0.6}
    return relation(subject, "member_of", object, **(given | fields))


def test_what_somebody_says_is_a_guess_no_more(memory: Memory) -> None:
    put(
        memory,
        entities=(entity("e1", "Ada", key="ada"),),
    )
    memory.remember("Ada leads Billing.")
    (said,) = [row for row in rows(memory)["RELATES"] if row.type == "leads"]
    put(memory, relations=(replace(said, origin="inferred", quote=None, layer="working"),))
    memory.remember("Everybody knows it: Ada leads Billing. She has for years.")
    (row,) = [row for row in rows(memory)["RELATES"] if row.type == "leads"]
    assert row.origin == "extracted" and row.quote and len(row.evidence) == 2


def test_nothing_stated_gives_way_to_a_guess(tmp_path: Path) -> None:
    with opened(tmp_path, VERIFICATION_FUNCTIONAL='["member_of"]') as memory:
        filled(memory, [])
        put(memory, relations=(guess("p0", "t1", verdict="accepted", times=Times(recorded_at=at(9))),))
        assert not [one for one in memory.conflicts().conflicts if one.kind == "relation"]
        assert night(memory, "supersede").phases[0].proposals == 0


@pytest.mark.parametrize(
    ("passage", "fields"),
    [
        (("Person23 came.", ("p23",)), {}),
        (MET, {"private": True}),
        (MET, {"state": "archived"}),
        (MET, {"state": "quarantined"}),
        (("Team1 met Team2.", ("t1", "t2")), {}),
        (("Person1 is a member of Team0.", ("p1", "t0")), {}),
        ((f"All: {STATED[0]}", tuple(row.id for row in (*PEOPLE, *TEAMS))), {}),
    ],
    ids=["one named", "private", "archived", "quarantined", "no type fits", "has one already", "a list"],
)
def test_nothing_is_inferred_without_reason(tmp_path: Path, passage, fields) -> None:
    with opened(tmp_path, VERIFICATION_FUNCTIONAL='["member_of"]') as memory:
        filled(memory, [passage], **fields)
        night(memory, "infer")
        assert inferred(memory) == []


def test_what_was_withdrawn_is_not_inferred_again(memory: Memory) -> None:
    filled(memory, [STATED])
    gone = relation("p23", "member_of", "t2", state="archived")
    put(memory, relations=(gone,))
    assert night(memory, "infer").phases[0].proposals == 0
