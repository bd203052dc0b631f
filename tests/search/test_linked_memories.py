"""Links at recall: followed among the direct matches, said, shown, and never into what may not be seen."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hydramem.core.row_types import Chunk, Link, Times
from hydramem.search.linked_memories import with_links
from hydramem.storage.chunk_filter import ChunkFilter
from tests.graph.graphs import THEN, P, chunk, entity, link, mention
from tests.search.test_recall import Memory

MATCH = chunk("match", "The invoices of billing are kept in MySQL.")
HIDDEN = chunk("hidden", "Karl has the only key of that room.")
OTHERS = tuple(chunk(f"other{n}", f"The invoices number {n} stay in a drawer.") for n in range(6))
WEATHER = chunk("weather", "It rained on the harbour all week.")


def linked(source: Chunk, target: Chunk, **values: object) -> Link:
    return replace(link(source, target), **{"weight": 0.9, "reason": "who can open it", **values})


ASKED = "where are the invoices of billing kept"


@pytest.mark.parametrize("ends", [(MATCH, HIDDEN), (HIDDEN, MATCH)])
def test_a_linked_memory_is_found_either_way_though_direct_matches_are_many(
    ends: tuple[Chunk, Chunk],
) -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, *OTHERS, linked(*ends))
    (hit,) = (hit for hit in memory.recall(ASKED, limit=5).hits if hit.id == "hidden")
    assert [(step.label, step.forward) for step in hit.path] == [("extends", ends[0] is MATCH)]
    assert hit.path[0].source.startswith("“The invoices of billing")
    assert "who can open it" in hit.why and "links" in hit.scores
    assert "hidden" not in [hit.id for hit in memory.recall(ASKED, limit=5, link_weight=0.0).hits]


@pytest.mark.parametrize(
    ("end", "values"),
    [
        ({"state": "archived"}, {}),
        ({"state": "superseded"}, {}),
        ({"state": "quarantined"}, {}),
        ({"private": True}, {}),
        ({}, {"state": "archived"}),
        ({}, {"state": "superseded"}),
        ({}, {"times": Times(recorded_at=THEN + timedelta(days=9))}),
    ],
)
def test_what_is_gone_or_may_not_be_seen_is_neither_followed_nor_shown(
    end: dict[str, object], values: dict[str, object]
) -> None:
    other = replace(HIDDEN, **end)
    memory = Memory(MATCH, other, WEATHER, linked(MATCH, other, **values))
    where = ChunkFilter(projects=(P,), include_private=False, known_at=THEN + timedelta(days=1))
    found = memory.recall(ASKED, limit=5, where=where)
    assert found.hits[0].id == "match"
    assert all("links" not in hit.scores and not hit.links for hit in found.hits)
    assert not end or "hidden" not in [hit.id for hit in found.hits]


def test_hits_show_their_links_in_one_read_though_the_limit_leaves_the_others_out() -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, linked(MATCH, HIDDEN), linked(MATCH, WEATHER, weight=0.1))
    memory.loads.clear()
    found = memory.recall(ASKED, limit=1)
    assert [hit.id for hit in found.hits] == ["match"]
    shown = found.hits[0].links
    assert [(view.other, view.type, view.weight, view.forward) for view in shown] == [
        ("hidden", "extends", 0.9, True),
        ("weather", "extends", 0.1, True),
    ]
    assert shown[0].text == HIDDEN.text
    assert len(memory.loads) == 3  # candidates, links, their other ends
    plain = Memory(MATCH, HIDDEN)
    assert plain.recall("invoices of billing").hits[0].links == ()
    assert len(plain.loads) == 1, "without links nothing more is read"


def test_a_hub_lends_no_more_than_its_best_link() -> None:
    many = [linked(other, HIDDEN) for other in OTHERS]
    memory = Memory(MATCH, HIDDEN, WEATHER, *OTHERS, *many)
    hit = next(hit for hit in memory.recall("the invoices", limit=9).hits if hit.id == "hidden")
    best = max(hit.score for hit in memory.recall("the invoices", limit=9).hits if hit.id != "hidden")
    assert hit.scores["links"] <= 0.6 * best


def test_the_walk_from_names_does_not_go_along_links() -> None:
    ada = entity("Ada Lovelace")
    memory = Memory(ada, MATCH, HIDDEN, WEATHER, mention(MATCH, ada), linked(MATCH, HIDDEN))
    hits = {hit.id: hit for hit in memory.recall("Ada Lovelace and the invoices", limit=5).hits}
    assert hits["match"].scores["graph"] > 10 * hits["hidden"].scores.get("graph", 0.0)
    assert hits["hidden"].score > 0.4 * hits["match"].score  # the graph's weight does not drown links


def test_what_is_found_by_itself_gains_nothing() -> None:
    plain = Memory(MATCH, WEATHER, *OTHERS)
    both = Memory(MATCH, WEATHER, *OTHERS, linked(MATCH, OTHERS[0], weight=0.2))
    scores = [{hit.id: hit.score for hit in one.recall("the invoices").hits} for one in (plain, both)]
    assert scores[0] == scores[1]


def test_a_memory_shows_what_it_is_linked_to_and_what_it_took_the_place_of() -> None:
    old = chunk("old", "The invoices were kept in PostgreSQL.", state="superseded")
    gone = chunk("gone", "Never mind.", state="archived")
    links = (linked(MATCH, HIDDEN), linked(MATCH, old, weight=0.5), linked(gone, MATCH))
    shown = with_links(MATCH, Memory(MATCH, HIDDEN, old, gone, *links).graph)
    assert [view.other for view in shown.links] == ["hidden", "old"]
    assert (shown.id, shown.text, shown.times) == (MATCH.id, MATCH.text, MATCH.times)
