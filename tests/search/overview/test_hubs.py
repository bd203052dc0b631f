"""Walks, paths, communities and central entities where one name is in every note."""

import pytest

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.ingest.documents.ingest_extracted import ExtractedChunk, ExtractedEntity, ExtractedRelation
from hydramem.search.overview import overview
from tests.graph.graphs import chunk, entity, mention, relation
from tests.search.overview.test_surroundings import Store, told

THINGS = {
    name: entity(name) for name in ("Grafana", "Berlin", "Kafka", "tea", "Ada", "Prague", "MySQL", "jazz")
}
USER = entity("Sam")
NOTES = {name: chunk(f"c_{name}", f"Sam and {name}.", tokens=5) for name in THINGS}
EVERY_NOTE = (
    *(USER, *THINGS.values(), *NOTES.values()),
    *(mention(note, USER) for note in NOTES.values()),
    *(mention(NOTES[name], thing) for name, thing in THINGS.items()),
)
LIVES = relation(USER, "lives_in", THINGS["Berlin"])


def test_no_path_passes_what_every_note_mentions() -> None:
    store = Store(*EVERY_NOTE, LIVES)
    assert not store.path("Grafana", "Berlin", count=3).found
    assert told(store.path("Sam", "Berlin").steps) == ["Sam -[lives_in]-> Berlin"]
    assert len(store.path("Grafana", "Sam").steps) == 2
    around = (
        relation(THINGS["Grafana"], "runs_in", THINGS["Prague"]),
        relation(THINGS["Prague"], "near", THINGS["Berlin"]),
    )
    way = Store(*EVERY_NOTE, LIVES, *around).path("Grafana", "Berlin", count=3)
    assert told(way.steps) == ["Grafana -[runs_in]-> Prague", "Prague -[near]-> Berlin"]
    assert way.others == ()


def test_nothing_is_reached_through_it_and_it_is_reached() -> None:
    store = Store(*EVERY_NOTE, LIVES)
    around = store.expand("Grafana", depth=5)
    assert [one.entity for one in around.entities] == ["Sam"]
    assert [one.id for one in around.chunks] == ["c_Grafana"]
    assert len(store.expand("Sam", depth=2, limit=20).entities) == len(THINGS)
    drawn = store.graph_view("Berlin", depth=5)
    assert {node.name for node in drawn.nodes if node.kind == "entity"} == {"Berlin", "Sam"}


def test_communities_are_named_by_topics_and_it_is_not_central() -> None:
    circles = [
        relation(THINGS[one], "knows", THINGS[other])
        for one, other in (("Grafana", "Kafka"), ("Kafka", "MySQL"), ("Berlin", "Prague"), ("Prague", "Ada"))
    ]
    seen = Store(*EVERY_NOTE, *circles).view()
    groups = overview.communities(limit=9, members=9, resolution=1.0, seen=seen)
    assert {frozenset(group.members) for group in groups} == {
        frozenset({"Grafana", "Kafka", "MySQL"}),
        frozenset({"Berlin", "Prague", "Ada"}),
    }
    assert all("Sam" not in group.name for group in groups)
    by_share = overview.central(by="pagerank", type=None, limit=20, seen=seen)
    assert by_share[-1].entity == "Sam"
    assert (by_share[-1].pagerank, by_share[-1].betweenness) == (0, 0)
    assert overview.central(by="chunks", type=None, limit=1, seen=seen)[0].entity == "Sam"
    between = overview.central(by="betweenness", type=None, limit=2, seen=seen)
    assert {one.entity for one in between} == {"Kafka", "Prague"}


# On a real store --------------------------------------------------------------------------------


def test_a_walk_follows_the_types_that_are_asked_for(memory) -> None:
    memory.ingest_extracted(
        "notes.md",
        [ExtractedChunk(text="Ada Lovelace leads billing."), ExtractedChunk(text="Billing uses MySQL.")],
        relations=[
            ExtractedRelation(subject="Ada Lovelace", type="leads", object="billing"),
            ExtractedRelation(subject="billing", type="uses", object="MySQL"),
        ],
    )
    assert told(memory.path("Ada Lovelace", "MySQL", types=["leads", "uses"]).steps) == [
        "Ada Lovelace -[leads]-> billing",
        "billing -[uses]-> MySQL",
    ]
    assert not memory.path("Ada Lovelace", "MySQL", types="leads").found
    assert memory.path("Ada Lovelace", "MySQL", types=["mentions"]).steps[0].label == "mentions"
    only = memory.expand("billing", types=["uses"])
    assert ([one.entity for one in only.entities], only.chunks) == (["MySQL"], ())
    assert memory.expand("billing", types=["uses", "mentions"]).chunks
    assert [one.entity for one in memory.neighbors("billing", types=["leads"])] == ["Ada Lovelace"]
    assert {edge.type for edge in memory.graph("billing", types=["uses"]).edges} == {"uses"}
    with pytest.raises(InvalidInputError, match="types"):
        memory.neighbors("billing", types=[" "])


def test_a_graph_is_centred_on_a_memory_or_a_document(memory) -> None:
    note = memory.remember("Ada Lovelace moved billing to PostgreSQL.")
    text = [ExtractedChunk(text="Grafana draws charts."), ExtractedChunk(text="Nothing.")]
    memory.ingest_extracted("pages/notes.md", text, entities=[ExtractedEntity(name="Grafana")])
    (document,) = memory.documents()
    drawn = memory.graph(note.id, depth=1)
    assert (drawn.center, drawn.nodes[0].id, drawn.nodes[0].distance) == (note.id, note.id, 0)
    assert {"Ada Lovelace", "PostgreSQL"} <= {node.name for node in drawn.nodes}
    few = memory.graph(note.id, chunks=False).nodes
    assert [node.id for node in few if node.kind == "chunk"] == [note.id]
    for center in (document.id, "pages/notes.md"):
        drawn = memory.graph(center, depth=1)
        assert drawn.center == document.id
        assert [node.distance for node in drawn.nodes if node.kind == "chunk"] == [0, 0]
        assert [node.name for node in drawn.nodes if node.kind == "entity"] == ["Grafana"]
    memory.forget(document.id)
    with pytest.raises(NotFoundError, match="document"):
        memory.graph("pages/notes.md")
    with pytest.raises(NotFoundError):
        memory.graph(note.id, project="other")
