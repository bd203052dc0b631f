"""Links at recall: followed among the direct matches, said, shown, and never into what may not be seen."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hydramem.core.row_types import Chunk, Link
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


def ids(memory: Memory, **asked: object) -> list[str]:
    return [hit.id for hit in memory.recall("where are the invoices of billing kept", **asked).hits]


def test_a_linked_memory_is_found_though_direct_matches_are_many() -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, *OTHERS, linked(MATCH, HIDDEN))
    assert "hidden" in ids(memory, limit=5)
    assert "hidden" not in ids(memory, limit=5, link_weight=0.0)


def test_a_link_lends_backward_too() -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, *OTHERS, linked(HIDDEN, MATCH))
    assert "hidden" in ids(memory, limit=5)


def test_the_hit_says_by_which_link_and_why() -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, linked(MATCH, HIDDEN))
    found = memory.recall("where are the invoices of billing kept", limit=5)
    hit = next(hit for hit in found.hits if hit.id == "hidden")
    assert [(step.label, step.forward) for step in hit.path] == [("extends", True)]
    assert hit.path[0].source.startswith("“The invoices of billing")
    assert "who can open it" in hit.why
    assert "links" in hit.scores


def test_hits_show_their_links_in_one_read_though_the_limit_leaves_the_others_out() -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, linked(MATCH, HIDDEN), linked(MATCH, WEATHER, weight=0.1))
    memory.loads.clear()
    found = memory.recall("where are the invoices of billing kept", limit=1)
    assert [hit.id for hit in found.hits] == ["match"]
    shown = found.hits[0].links
    assert [(view.other, view.type, view.weight, view.forward) for view in shown] == [
        ("hidden", "extends", 0.9, True),
        ("weather", "extends", 0.1, True),
    ]
    assert shown[0].text == HIDDEN.text
    assert len(memory.loads) == 3  # candidates, links, their other ends


def test_without_links_nothing_more_is_read() -> None:
    memory = Memory(MATCH, HIDDEN)
    memory.loads.clear()
    assert memory.recall("invoices of billing").hits[0].links == ()
    assert len(memory.loads) == 1


@pytest.mark.parametrize("state", ["archived", "superseded", "quarantined"])
def test_ends_that_are_gone_are_neither_hits_nor_shown(state: str) -> None:
    gone = replace(HIDDEN, state=state)
    memory = Memory(MATCH, gone, WEATHER, linked(MATCH, gone))
    found = memory.recall("where are the invoices of billing kept", limit=5)
    assert "hidden" not in [hit.id for hit in found.hits]
    assert not found.hits[0].links


@pytest.mark.parametrize("state", ["archived", "superseded"])
def test_links_that_are_gone_are_not_followed(state: str) -> None:
    memory = Memory(MATCH, HIDDEN, WEATHER, linked(MATCH, HIDDEN, state=state))
    found = memory.recall("where are the invoices of billing kept", limit=1)
    assert not found.hits[0].links
    assert all("links" not in hit.scores for hit in found.hits)


def test_private_ends_stay_private() -> None:
    secret = replace(HIDDEN, private=True)
    memory = Memory(MATCH, secret, WEATHER, linked(MATCH, secret))
    where = ChunkFilter(projects=(P,), include_private=False)
    found = memory.recall("where are the invoices of billing kept", limit=5, where=where)
    assert "hidden" not in [hit.id for hit in found.hits]
    assert all(not hit.links for hit in found.hits)


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


def test_links_are_seen_as_they_were_known() -> None:
    late = linked(MATCH, HIDDEN)
    late = replace(late, times=replace(late.times, recorded_at=THEN + timedelta(days=9)))
    memory = Memory(MATCH, HIDDEN, WEATHER, late)
    where = ChunkFilter(projects=(P,), known_at=THEN + timedelta(days=1))
    found = memory.recall("where are the invoices of billing kept", limit=1, where=where)
    assert not found.hits[0].links
