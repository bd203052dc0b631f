"""Names that may be of one thing: links that a night makes, what they are worth, and what undoes them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hydramem import Memory
from hydramem.core.row_types import MAY_BE
from hydramem.garden.proposals.exclusions import TOLD_APART
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk, entity, relation
from tests.storage.rows import mention


def plain(name: str) -> str:
    return name.replace(" ", "_")


def told(memory: Memory, *names: str, kind: str = "note", **fields: object) -> None:
    """Put an entity of each name with a text that mentions it."""
    for place, name in enumerate(names):
        id = f"{kind}{place}{plain(name)}"
        row = entity(f"e_{plain(name)}", name, key=name.casefold(), mention_count=1)
        text = replace(chunk(id, f"{name} is ready."), kind=kind)
        put(memory, entities=(replace(row, **fields),), chunks=(text,), mentions=(mention(id, row.id),))


def links(memory: Memory) -> Mapping[tuple[str, str], float]:
    return {
        (row.subject[2:], row.object[2:]): row.confidence
        for row in rows(memory)["RELATES"]
        if row.type == MAY_BE
    }


def test_a_night_links_what_may_be_one_and_rests(memory: Memory) -> None:
    told(memory, "KilnLine 300", "KL300", "Falcon Shipping", "Falcon", "Harrow")
    before = rows(memory)
    report = night(memory, "merge")
    assert {each.text for each in report.changes} == {
        "KL300 may be KilnLine 300",
        "Falcon may be Falcon Shipping",
    }
    found = links(memory)
    assert found.keys() == {("KL300", "KilnLine_300"), ("Falcon", "Falcon_Shipping")}
    assert all(0.5 <= confidence <= 0.75 for confidence in found.values())
    assert night(memory, "merge").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before
    assert night(memory, "merge").phases[0].proposals == 0, "what was undone is not done again"


def test_names_that_a_name_may_be_short_for_compete(memory: Memory) -> None:
    told(memory, "Falcon", "Falcon Shipping", "Falcon Bakery", "Falcon Choir")
    night(memory, "merge")
    found = links(memory)
    assert len(found) == 3 and max(found.values()) < 0.3


def test_namesakes_are_neither_merged_nor_linked(memory: Memory) -> None:
    told(
        memory,
        "Upper Mill shop",
        "Lower Mill shop",
        "Form Blue-7",
        "Form Blue-17",
        "Ada Birk",
        "Adam Birk",
    )
    night(memory, "merge")
    assert not links(memory) and len(rows(memory)["Entity"]) == 6


def test_a_text_with_both_names_a_relation_and_a_person_keep_them_apart(memory: Memory) -> None:
    told(memory, "Falcon", "Falcon Shipping", "KL300", "KilnLine 300")
    told(memory, "Harrow", metadata={TOLD_APART: ["e_Harrow_Shipping"]})
    told(memory, "Harrow Shipping")
    beside = relation("e_KL300", "made_by", "e_KilnLine_300", id="r1")
    put(memory, mentions=(mention("note0Falcon", "e_Falcon_Shipping"),), relations=(beside,))
    night(memory, "merge")
    assert not links(memory)


def test_a_night_without_time_removes_no_link(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as memory:
        told(memory, "Falcon", "Falcon Shipping")
        night(memory, "merge")
        found = links(memory)
        memory.dump(str(tmp_path / "dump"))
    with opened(tmp_path / "other", GARDEN_PHASE_SECONDS="0.000001") as memory:
        memory.load(str(tmp_path / "dump"))
        report = night(memory, "merge")
        assert links(memory) == found and found
        assert report.state == "partial"


def test_a_link_whose_removal_was_undone_stays(memory: Memory) -> None:
    told(memory, "Falcon", "Falcon Shipping")
    night(memory, "merge")
    put(memory, mentions=(mention("note0Falcon", "e_Falcon_Shipping"),))
    memory.undo(night(memory, "merge").run)
    assert links(memory)
    night(memory, "merge")
    assert links(memory)


def test_a_question_reaches_what_is_known_under_another_name(memory: Memory) -> None:
    facts = {
        "KilnLine 300": "KilnLine 300 stands in the hall at Emberly.",
        "KL300": "Gaskets for the KL300 come from Oslo.",
        "Harrow": "Harrow keeps gaskets of another make in Turin.",
    }
    for name, text in facts.items():
        memory.remember(text, entities=[name])
    question = "Where do gaskets for the oven in the hall at Emberly come from?"
    scores = {hit.text: hit for hit in memory.recall(question).hits}
    assert not scores[facts["KL300"]].scores.get("names")
    night(memory, "merge")
    after = {hit.text: hit for hit in memory.recall(question).hits}
    assert after[facts["KL300"]].scores["names"] > 0
    assert "another name" in after[facts["KL300"]].why
    assert not after[facts["Harrow"]].scores.get("names")


def test_a_relation_that_somebody_states_with_this_type_is_theirs(memory: Memory) -> None:
    """It is a relation like others: no name is sought behind it, and walks of recall follow it."""
    told(memory, "Falcon", "Harrow")
    memory.relate("Falcon", MAY_BE, "Harrow")
    night(memory, "merge")
    assert links(memory).keys() == {("Falcon", "Harrow")}
    found = memory.recall("What is known of Falcon?").hits
    assert found and not any(hit.scores.get("names") for hit in found)
    snapshot = memory._use().snapshots.of("default")
    assert MAY_BE in snapshot.edges.types and not snapshot.is_likely_same(slice(None)).any()
