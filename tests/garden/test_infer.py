"""The phase infer: nothing without evidence, nothing that no type fits, and never on its own word."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hydramem
from hydramem.core.types import Relation
from hydramem.garden.pairs import pairs
from hydramem.garden.steps import STEPS
from hydramem.graph.growing import load
from hydramem.graph.snapshot import Snapshot
from hydramem.storage.schema import edge_columns, node_columns
from hydramem.verification.learned import learned
from tests.garden.memories import night, opened, put, rows
from tests.storage.rows import chunk, entity, mention, relation

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
PEOPLE = tuple(entity(f"p{n}", f"Person{n}", type="person", project="default") for n in range(24))
TEAMS = tuple(entity(f"t{n}", f"Team{n}", type="team", project="default") for n in range(3))


def company() -> list[Relation]:
    """Everybody is in the team of his place in thirds, and knows the next of it; one is in no team."""
    inside = [
        relation(f"p{n}", "member_of", f"t{n % 3}", project="default", verdict="accepted") for n in range(23)
    ]
    knows = [
        relation(f"p{n}", "knows", f"p{n + 3}", project="default", verdict="accepted") for n in range(21)
    ]
    return inside + knows


def inferred(memory: hydramem.Memory) -> list[Relation]:
    return [row for row in rows(memory)["RELATES"] if row.origin == "inferred"]


def filled(memory: hydramem.Memory, texts: Sequence[tuple[str, tuple[str, ...]]], **fields: object) -> None:
    """Store the company, and passages that name some of it."""
    chunks = tuple(chunk(f"c{n}", text, project="default", **fields) for n, (text, _) in enumerate(texts))
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


def test_it_is_a_phase_of_the_night() -> None:
    assert "infer" in STEPS


@pytest.mark.parametrize("engine", ["memory", ENGINE])
def test_what_the_graph_suggests_and_a_passage_says_is_inferred(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, STORAGE_GRAPH=engine) as memory:
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


def test_what_no_sentence_states_stays_in_doubt(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        filled(memory, [MET])
        night(memory, "infer")
        (row,) = inferred(memory)
        assert (row.verdict, row.layer, row.quote) == ("deferred", "working", None)
        assert row.weight <= 0.5 * (row.probability or 1)


@pytest.mark.parametrize(
    ("passage", "fields"),
    [
        (("Person23 came.", ("p23",)), {}),
        (MET, {"private": True}),
        (MET, {"state": "archived"}),
        (MET, {"state": "quarantined"}),
        (("Team1 met Team2.", ("t1", "t2")), {}),
        (("Person1 is a member of Team0.", ("p1", "t0")), {}),
    ],
    ids=["one named", "private", "archived", "quarantined", "no type fits", "has one already"],
)
def test_nothing_is_inferred_without_reason(tmp_path: Path, passage, fields) -> None:
    with opened(tmp_path, VERIFICATION_FUNCTIONAL='["member_of"]') as memory:
        filled(memory, [passage], **fields)
        night(memory, "infer")
        assert inferred(memory) == []


def test_what_was_withdrawn_is_not_inferred_again(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        filled(memory, [STATED])
        gone = relation("p23", "member_of", "t2", project="default", state="archived")
        put(memory, relations=(gone,))
        assert night(memory, "infer").phases[0].proposals == 0


def test_an_empty_memory_infers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        report = night(memory, "infer")
        assert (report.state, report.phases[0].proposals) == ("completed", 0)


def test_no_more_is_inferred_than_is_allowed_the_surest_first(tmp_path: Path) -> None:
    with opened(tmp_path, GARDEN_INFER_LIMIT="1") as memory:
        filled(memory, [("Person22 met with Team2.", ("p22", "t2")), STATED])
        assert [each.text for each in night(memory, "infer").changes] == ["Person23 member_of Team2"]


@pytest.fixture(scope="module")
def rings() -> list[tuple[str, str, str]]:
    """A small graph, each thing near three others."""
    names = [f"{kind}{n}" for kind in ("drug", "gene", "ill") for n in range(20)]
    draw = np.random.default_rng(0)
    return [(one, "near", other) for one in names for other in draw.choice(names, 3) if one != other]


def test_pairs_are_those_that_passages_name_together_and_nothing_relates(rings) -> None:
    known, named = rings[:-20], rings[-20:]
    snapshot = laid_out(known, [(one, other) for one, _, other in (*named, *known[:5])])
    found = pairs(snapshot, learned(snapshot).facts, most=100)
    related = {frozenset((one, other)) for one, _, other in known}
    told = {
        frozenset((snapshot.nodes.ids[a], snapshot.nodes.ids[b]))
        for a, b in zip(found.one, found.other, strict=True)
    }
    assert told and told <= {frozenset((one, other)) for one, _, other in named} - related
    assert list(found.score) == sorted(found.score, reverse=True)
    again = pairs(snapshot, learned(snapshot).facts, most=100)
    assert (again.one == found.one).all() and (again.other == found.other).all()
    assert len(pairs(snapshot, learned(snapshot).facts, most=2).one) == 2


def test_a_list_relates_nothing() -> None:
    names = [f"n{n}" for n in range(40)]
    triples = [(name, "near", "hub") for name in names]
    snapshot = laid_out(triples, [tuple(names)])
    assert pairs(snapshot, learned(snapshot).facts, most=100).seen == 0


def laid_out(triples: Sequence[tuple[str, str, str]], passages: Sequence[tuple[str, ...]]) -> Snapshot:
    """Lay out triples, and passages that name things together."""
    names = sorted({end for one, _, other in triples for end in (one, other)})
    nodes = [{"id": n, "is_chunk": False, "type": "thing", "name": n, "key": n} for n in names]
    edges = [
        {"source": one, "target": other, "kind": "relation", "id": str(place), "type": type}
        | {"weight": 1.0, "bidirectional": False, "layer": "working", "state": "active"}
        for place, (one, type, other) in enumerate(triples)
    ]
    for place, named in enumerate(passages):
        nodes.append({"id": f"c{place}", "is_chunk": True, "type": "note", "state": "active"})
        edges += [
            {"source": f"c{place}", "target": name, "kind": "mention", "weight": 1.0, "bidirectional": False}
            for name in named
            if name in names
        ]
    tables = pa.Table.from_pylist(nodes, node_columns()), pa.Table.from_pylist(edges, edge_columns())
    return load("p", *tables)
