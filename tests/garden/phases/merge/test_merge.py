"""The phase merge: what is one becomes one and can be two again; what may be two stays two."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem import Memory
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Chunk, Entity
from hydramem.garden.proposals.exclusions import TOLD_APART
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk, entity, relation
from tests.storage.rows import at, mention


def thing(id: str, name: str, **fields: object) -> Entity:
    return replace(entity(id, name, key=name.casefold()), **fields)  # type: ignore[arg-type]


def knows(one: str, other: str, type: str = "knows"):
    return relation(one, type, other, id=f"r_{one}{type}{other}")


AROUND = tuple(
    thing(f"n{number}", name) for number, name in enumerate(["Kestrel", "Bath", "Quill", "Harrow"])
)


def put_all(memory: Memory, *things: Entity, **more: object) -> None:
    put(memory, entities=(*AROUND, *things), **more)


def names(memory: Memory) -> set[str]:
    return {row.name for row in rows(memory)["Entity"]} - {row.name for row in AROUND}


def twice_spelled(memory: Memory) -> None:
    """Store one woman under two spellings, each with what is said of it."""
    texts = ["Ada Lovelace wrote.", "Ada Lovelace slept.", "Lovelace, Ada: notes."]
    put_all(
        memory,
        thing("e_1", "Ada Lovelace", mention_count=2),
        thing("e_2", "Lovelace, Ada", mention_count=1),
        chunks=tuple(chunk(f"c{n}", text) for n, text in enumerate(texts)),
        mentions=(mention("c0", "e_1"), mention("c1", "e_1"), mention("c2", "e_2")),
        relations=(knows("e_1", "n0"), knows("e_2", "n0"), knows("n1", "e_2")),
    )


def test_one_thing_becomes_one_and_two_again(memory: Memory) -> None:
    twice_spelled(memory)
    before = rows(memory)
    report = night(memory, "merge")
    assert [each.text for each in report.changes] == ["Lovelace, Ada is Ada Lovelace"]
    assert report.phases[0].applied == 1 and names(memory) == {"Ada Lovelace"}
    kept = next(row for row in rows(memory)["Entity"] if row.id == "e_1")
    assert (kept.aliases, kept.mention_count) == (("Lovelace, Ada",), 3)
    ends = {(row.subject, row.object) for row in rows(memory)["RELATES"]}
    assert ends == {("e_1", "n0"), ("n1", "e_1")}
    assert night(memory, "merge").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before
    assert night(memory, "merge").phases[0].proposals == 0, "what was undone is not done again"


def test_one_merge_of_a_night_is_split_as_one_by_hand_is(memory: Memory) -> None:
    twice_spelled(memory)
    bobs = (thing("e_3", "Bob Quimby", mention_count=1), thing("e_4", "Quimby, Bob"))
    named = {"chunks": (chunk("c3", "Bob"),), "mentions": (mention("c3", "e_3"),)}
    put(memory, entities=bobs, relations=(knows("e_4", "n1"),), **named)
    before = rows(memory)
    report = night(memory, "merge")
    assert names(memory) == {"Ada Lovelace", "Bob Quimby"} and report.run is not None
    with pytest.raises(InvalidInputError, match="several"):
        memory.split(report.run)
    divided = memory.split("Lovelace, Ada", reason="two people")
    assert [row.name for row in divided.entities] == ["Lovelace, Ada"] and not divided.left
    after = rows(memory)
    assert names(memory) == {"Ada Lovelace", "Lovelace, Ada", "Bob Quimby"}
    own = {"e_1", "e_2"}

    def of_both(held: dict[str, list[Any]]) -> tuple[list[Any], list[Any], set[str]]:
        things = [row for row in held["Entity"] if row.id in own]
        named = [row for row in held["MENTIONS"] if row.entity in own]
        return things, named, {row.id for row in held["RELATES"] if {row.subject, row.object} & own}

    assert of_both(after) == of_both(before)
    assert night(memory, "merge").phases[0].proposals == 0, "what a person split is not merged again"
    assert memory.split("Quimby, Bob").entities[0].id == "e_4"
    assert rows(memory) == before


def test_neighbours_show_what_a_short_name_stands_for(memory: Memory) -> None:
    shared = [knows(end, f"n{n}") for end in ("e1", "e2") for n in range(4)]
    put_all(memory, thing("e1", "Ada Lovelace", mention_count=3), thing("e2", "Ada"), relations=shared)
    (told,) = night(memory, "merge").changes
    assert told.text == "Ada is Ada Lovelace" and "4 neighbours" in told.reason
    assert names(memory) == {"Ada Lovelace"}


@pytest.mark.parametrize("how", ["nothing", "related", "side by side", "types", "person"])
def test_what_speaks_against_it_is_heard(memory: Memory, how: str) -> None:
    one, other = thing("e1", "Saint Ives"), thing("e2", "St. Ives")
    more: dict[str, object] = {}
    if how == "related":
        more["relations"] = (knows("e1", "e2", "north_of"),)
    elif how == "side by side":
        text = "Saint Ives and St. Ives are two towns."
        more["chunks"] = (chunk("c1", text),)
        more["mentions"] = (mention("c1", "e1"), mention("c1", "e2"))
    elif how == "types":
        one, other = replace(one, type="person"), replace(other, type="place")
    elif how == "person":
        one = replace(one, metadata={TOLD_APART: ["e2"]})
    put_all(memory, one, other, **more)
    assert night(memory, "merge").phases[0].proposals == (how == "nothing")


def test_what_is_named_since_the_plan_keeps_its_thing(memory: Memory, tmp_path: Path) -> None:
    put_all(memory, thing("e1", "Saint Ives", mention_count=2), thing("e2", "St. Ives"))
    file = tmp_path / "plan.jsonl"
    night(memory, "merge", plan=True, out=str(file))
    late = chunk("c9", "St. Ives again.")
    put(memory, chunks=(late,), mentions=(mention("c9", "e2"),))
    (report,) = memory.garden(apply=str(file))
    assert [each.why for each in report.refused] == ["memory c9 names it since the plan was made"]
    assert names(memory) == {"Saint Ives", "St. Ives"}


def test_memories_that_say_the_same_become_one(memory: Memory) -> None:
    first = memory.remember("The backup runs at 3 in the night.", source="ops.md").id
    again = replace(
        rows(memory)["Chunk"][0], id="c_again", text="The backup runs at 3 in the night!", source="chat"
    )
    put(memory, chunks=(replace(again, times=replace(again.times, recorded_at=at(900))),))
    memory.drain()
    before = rows(memory)
    report = night(memory, "merge")
    gone = [row for row in rows(memory)["Chunk"] if row.state == "archived"]
    assert len(report.changes) == 1 and len(gone) == 1
    kept = next(row for row in rows(memory)["Chunk"] if row.id in {first, "c_again"} - {gone[0].id})
    assert kept.layer == "shared" and kept.state == "active"
    assert gone[0].metadata["superseded_by"] == kept.id
    memory.undo(report.run)
    assert rows(memory) == before


@pytest.mark.parametrize(
    ("changed", "merged"),
    [
        ({}, True),
        ({"scope": "/ops"}, False),
        ({"private": True}, False),
        ({"text": "The backup runs at 4 in the night."}, False),
        ({"kind": "passage"}, False),
    ],
    ids=["nothing", "scope", "private", "number", "kind"],
)
def test_memories_that_differ_in_anything_that_counts_stay_two(
    memory: Memory, changed: dict[str, Any], merged: bool
) -> None:
    repeated(memory, **changed)
    assert night(memory, "merge").phases[0].proposals == merged


def repeated(memory: Memory, **changed: Any) -> Chunk:
    """Store a memory, and nearly the same again; return the first."""
    text = "The backup runs at 3 in the night."
    memory.remember(text, source="ops.md", importance=0.4)
    memory.drain()
    (first,) = rows(memory)["Chunk"]
    again = {"id": "c_again", "text": f"{text[:-1]}!", "source": "chat"}
    put(memory, chunks=(replace(first, **again | changed),))
    memory.drain()
    return first


IDS = ("e1", "e2", "e3", "n0", "n1")
STATED = st.tuples(st.sampled_from(IDS), st.sampled_from(("knows", "likes")), st.sampled_from(IDS))


@settings(max_examples=6)
@given(
    stated=st.lists(STATED, max_size=8, unique=True),
    named=st.lists(st.tuples(st.sampled_from(("c1", "c2", "c3")), st.sampled_from(IDS)), unique=True),
)
def test_what_is_merged_and_taken_back_is_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, stated: list[tuple[str, str, str]], named: list[tuple[str, str]]
) -> None:
    things = (
        thing("e1", "Kestrel Works", description="It makes kites."),
        thing("e2", "kestrel-works", aliases=("The Works",), type="organization"),
        thing("e3", "Kestrel  Works!", metadata={"seen": 3}),
    )
    times = {id: sum(entity == id for _, entity in named) for id in IDS}
    with opened(tmp_path_factory.mktemp("store")) as memory:
        put(
            memory,
            entities=tuple(replace(row, mention_count=times.get(row.id, 0)) for row in (*AROUND, *things)),
            chunks=tuple(chunk(id, f"Text {id}.") for id in ("c1", "c2", "c3")),
            mentions=tuple(mention(*each) for each in named),
            relations=tuple(knows(one, other, type) for one, type, other in stated if one != other),
        )
        before = rows(memory)
        report = night(memory, "merge")
        apart = {(one, other) for one, _, other in stated if one[0] == other[0] == "e" and one != other}
        assert len(names(memory)) == 1 or apart
        if report.run is not None:
            memory.undo(report.run)
        assert rows(memory) == before
