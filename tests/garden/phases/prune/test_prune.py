"""The phase prune: what expired, hangs loose or looks wrong twice goes to the archive; the rest stays."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from hydramem import Memory
from hydramem.core.ids import entity_id, relation_id
from hydramem.core.row_types import Entity, Link, Relation, Times
from hydramem.core.time import now
from hydramem.garden.edges import logistic
from hydramem.garden.edges.gnn.trained_model import NAME, available
from hydramem.text.normalize import entity_key
from tests.garden.graphs import triples
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

LONG_AGO = now() - timedelta(days=400)
WRONG = [(f"city {one % 5}", "works_for", f"person {7 * one}") for one in range(6)]


def thing(name: str) -> Entity:
    id = entity_id("default", entity_key(name))
    return Entity(
        id=id, project="default", key=entity_key(name), name=name, first_seen=LONG_AGO, last_seen=LONG_AGO
    )


def claim(subject: str, type: str, object: str, **fields: object) -> Relation:
    ends = thing(subject).id, thing(object).id
    return Relation(
        id=relation_id("default", ends[0], type, ends[1], None),
        project="default",
        subject=ends[0],
        type=type,
        object=ends[1],
        **{"origin": "extracted", "times": Times(recorded_at=LONG_AGO)} | fields,  # type: ignore[arg-type]
    )


@pytest.fixture
def ruled(memory: Memory) -> Memory:
    """A memory of 300 relations with rules, and six that fit none."""
    right = triples(100)
    names = sorted({end for one in right for end in (one[0], one[2])})
    relations = tuple(claim(*one) for one in [*right, *WRONG])
    put(memory, entities=tuple(map(thing, names)), relations=relations)
    return memory


@pytest.mark.costly  # scores 300 relations in two nights
def test_what_fits_neither_the_graph_nor_any_evidence_goes_and_comes_back(ruled: Memory) -> None:
    before = rows(ruled)
    report = night(ruled, "prune")
    wrong = {claim(*one).id for one in WRONG}
    gone = {row.id for row in rows(ruled)["RELATES"] if row.state == "archived"}
    assert gone and gone <= wrong
    assert len(gone) <= 0.02 * len(before["RELATES"])
    used = NAME if available() else logistic.NAME
    assert f"Edge scorer {used}" in report.phases[0].notes[0] and "AUC" in report.phases[0].notes[0]
    assert "Brier score" in report.phases[0].notes[0]
    ruled.undo(report.run)
    assert rows(ruled) == before
    again = {each.target for each in night(ruled, "prune").changes}
    assert again.isdisjoint(gone), "what a person took back is not done again"


@pytest.mark.parametrize(
    "protection",
    [
        {"origin": "asserted"},
        {"layer": "verified"},
        {"verifier": "person:ada", "verdict": "accepted"},
        {"verifier": "vog:model", "verdict": "accepted"},
        {"evidence": ("c_reused",)},
    ],
    ids=str,
)
def test_what_is_protected_stays(ruled: Memory, protection: dict[str, object]) -> None:
    reused = chunk("c_reused", "Something was said here.")
    put(ruled, chunks=(reused,), relations=tuple(claim(*one, **protection) for one in WRONG))
    ruled.drain()
    for name in ("first", "second"):
        with ruled.session(name):
            ruled.recall("something said")
    ruled.drain()
    report = night(ruled, "prune")
    assert not {claim(*one).id for one in WRONG} & {each.target for each in report.changes}
    assert report.phases[0].counts["spurious_protected"] > 0


def test_a_graph_that_nothing_can_be_learned_from_loses_nothing(memory: Memory) -> None:
    """The bound is the usual one: chance does not pass it."""
    draw, names = np.random.default_rng(0), [f"person {one}" for one in range(60)]
    pairs = {tuple(names[place] for place in draw.choice(60, 2, replace=False)) for _ in range(320)}
    relations = tuple(claim(one, "knows", other) for one, other in sorted(pairs))
    put(memory, entities=tuple(map(thing, names)), relations=relations)
    report = night(memory, "prune")
    assert any("below garden.least_auc" in note for note in report.phases[0].notes)
    assert not {each.target for each in report.changes} & {row.id for row in relations}


def test_what_expired_goes_with_what_only_it_supports(memory: Memory) -> None:
    short = memory.remember("Ada Lovelace leads Billing.")
    stays = memory.remember("Carl Sun leads Shipping.")
    chunk = next(row for row in rows(memory)["Chunk"] if row.id == short.id)
    put(memory, chunks=(replace(chunk, expires_at=LONG_AGO),))
    before = rows(memory)
    planned = night(memory, "prune", plan=True)
    assert [each.target for each in planned.changes] == [short.id]
    report = night(memory, "prune")
    after = rows(memory)
    assert {row.id: row.state for row in after["Chunk"]} == {short.id: "archived", stays.id: "active"}
    resting = [row for row in after["RELATES"] if short.id in row.evidence]
    assert resting and {row.state for row in resting} == {"archived"}
    assert night(memory, "prune").phases[0].proposals == 0
    memory.undo(report.run)
    assert rows(memory) == before


def test_things_that_nothing_names_go_unless_a_person_told_of_them(memory: Memory) -> None:
    told = replace(thing("Told Of"), description="Kept.")
    fresh = replace(thing("Fresh"), last_seen=now())
    put(memory, entities=(thing("Nobody"), told, fresh))
    assert [each.text for each in night(memory, "prune").changes] == ["Nobody"]
    assert {row.name for row in rows(memory)["Entity"]} == {"Told Of", "Fresh"}


def link(source: str, target: str, **fields: object) -> Link:
    given = {"type": "relates_to", "weight": 0.9, "times": Times(recorded_at=LONG_AGO)} | fields
    return Link(id=f"l_{source}_{target}", source=source, target=target, **given)  # type: ignore[arg-type]


def test_links_of_likeness_that_are_weak_or_old_go(tmp_path: Path) -> None:
    with opened(tmp_path, GARDEN_PRUNE_SHARE="0.5") as memory:
        ids = [memory.remember(f"Note number {one} of many.").id for one in range(7)]
        fresh = Times(recorded_at=now())
        links = (
            link(ids[0], ids[1], weight=0.05, times=fresh),
            link(ids[1], ids[2], weight=0.3),
            link(ids[2], ids[3], weight=0.3, times=fresh),
            link(ids[3], ids[4], weight=0.05, type="supersedes"),
            link(ids[4], ids[5]),
            link(ids[5], ids[6], type="contradicts"),
        )
        put(memory, links=links)
        report = night(memory, "prune")
        assert {each.target for each in report.changes} == {links[0].id, links[1].id}
        states = {row.id: row.state for row in rows(memory)["LINKS"]}
        assert [states[one.id] for one in links] == ["archived", "archived", *["active"] * 4]
