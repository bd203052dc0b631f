"""Merge and split: two entities become one and two again, exactly, and what came between stays."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import entity_id, relation_id, version_id
from hydramem.core.results.knowledge_results import Divided, Merged
from hydramem.core.row_types import Chunk, Entity, Mention, Relation, Times, Verdict
from hydramem.ingest.knowledge.entities import Naming, set_entity
from hydramem.ingest.knowledge.graph_rows import decided
from hydramem.ingest.knowledge.merging.merge_entities import merge, merged_relation
from hydramem.ingest.knowledge.merging.reassign import reassign
from hydramem.ingest.knowledge.merging.split_entity import split
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional, relate
from hydramem.storage.changes import in_one_run
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.schema import ENTITY, MENTIONS, RELATES
from hydramem.storage.undo.undo import undo
from hydramem.text.normalize import entity_key
from tests.examples import FEW, MANY
from tests.ingest.conftest import PROJECT, Kit
from tests.storage.rows import at, chunk, entity, relation

NAMES = ("Ada", "Ada Lovelace", "Countess", "Byron", "MySQL")
ONE_OBJECT = Functional(types=("lives_in",))


def one(name: str, **fields: object) -> Entity:
    id = entity_id(PROJECT, entity_key(name))
    return entity(id, name, **{"project": PROJECT, "first_seen": at(0), "last_seen": at(1)} | fields)


def told(kit: Kit, subject: str, type: str, object: str, **fields: object) -> Relation:
    statement = RelationInput(subject=subject, type=type, object=object, **fields)  # type: ignore[arg-type]
    return relate(statement, target=kit.target(), functional=ONE_OBJECT).relation


def unite(kit: Kit, keep: str, *others: str) -> Merged:
    with in_one_run():
        return merge(keep, others, reason="one person", target=kit.target())


def divide(kit: Kit, what: str) -> Divided:
    done = split(what, reason="two after all", target=kit.target())
    kit.snapshots.forget(PROJECT)
    return done


def rows(kit: Kit) -> list[object]:
    """Return everything that a merge touches."""
    return [row for table in (ENTITY, MENTIONS, RELATES) for batch in kit.graph.scan(table) for row in batch]


def entities(kit: Kit) -> dict[str, Entity]:
    return {row.name: row for batch in kit.graph.scan(ENTITY) for row in batch}


@pytest.fixture
def two(kit: Kit) -> Kit:
    """Ada and Ada Lovelace, who are one."""
    kit.remember("Ada wrote the Analyst notes with Charles Babbage.")
    kit.remember("Ada Lovelace met Charles Babbage in London.")
    told(kit, "Ada", "likes", "Tea")
    told(kit, "Ada Lovelace", "likes", "Tea")
    told(kit, "Ada Lovelace", "knows", "Ada")
    told(kit, "Byron", "father_of", "Ada Lovelace")
    told(kit, "Ada Lovelace", "lives_in", "Bath", valid_from=at(-9))
    told(kit, "Ada Lovelace", "lives_in", "London", valid_from=at(-5))
    return kit


def test_a_merged_entity_is_found_by_every_name_and_has_it_all(two: Kit) -> None:
    before = entities(two)
    done = unite(two, "Ada", "Ada Lovelace")
    assert (done.merged, done.united) == (("Ada Lovelace",), 1)
    assert done.entity.aliases == ("Ada Lovelace",)
    assert done.dropped == (f"Ada Lovelace -[knows]-> Ada ({told_id('Ada Lovelace', 'knows', 'Ada')})",)
    assert "Ada Lovelace" not in entities(two)
    stated = {("Ada", "likes", "Tea"), ("Byron", "father_of", "Ada"), ("Ada", "lives_in", "London")}
    assert two.triples() >= stated
    assert two.counted_right()
    assert len(entities(two)) == len(before) - 1
    worth = {row.id for row in entities(two).values() if worth_a_vector(row.mention_count)}
    assert two.vectors.entity_hashes().keys() == worth
    assert two.known(["ada lovelace"]) == {"ada lovelace": done.entity.id}
    late = two.remember("Ada Lovelace wrote about Kestrel.").id
    assert {row.entity for row in two.graph.mentions([late])} >= {done.entity.id}
    assert "Ada Lovelace" not in entities(two)
    assert two.counted_right()
    stored = rows(two)
    assert told(two, "Byron", "father_of", "Ada Lovelace").id == told_id("Byron", "father_of", "Ada")
    assert rows(two) == stored, "what is stated of it again is known"


def told_id(subject: str, type: str, object: str) -> str:
    return relation_id(PROJECT, one(subject).id, type, one(object).id, None)


def test_what_superseded_another_is_still_named(two: Kit) -> None:
    unite(two, "Ada", "Ada Lovelace")
    unite(two, "London", "Tea")
    (old,) = (row for row in two.graph.relations([entity_id(PROJECT, "bath")]) if row.state == "superseded")
    (new,) = (row for row in two.relations() if row.type == "lives_in")
    assert old.metadata["superseded_by"] == new.id


@pytest.mark.parametrize("how", ["name", "run", "id", "change"])
def test_split_is_the_way_back(two: Kit, how: str) -> None:
    before, names = rows(two), two.vectors.entity_hashes()
    merged = entities(two)["Ada Lovelace"]
    done = unite(two, "Ada", "Ada Lovelace")
    (change,) = (row for row in two.graph.changes(target=merged.id) if row.operation == "merge")
    ways = {"name": "ada lovelace", "run": str(done.run), "id": merged.id, "change": change.id}
    back = divide(two, ways[how])
    assert rows(two) == before
    assert two.vectors.entity_hashes() == names
    assert (back.entities, back.left) == ((merged,), ())
    assert two.known(["ada lovelace"]) == {"ada lovelace": merged.id}
    with pytest.raises(InvalidInputError, match="of its own"):
        divide(two, "Ada Lovelace")
    unite(two, "Ada", "Ada Lovelace")
    divide(two, "Ada Lovelace")
    assert rows(two) == before


def test_what_was_written_since_stays_and_is_listed(two: Kit) -> None:
    unite(two, "Ada", "Ada Lovelace")
    late = two.remember("Ada likes Kestrel.").id
    told(two, "Ada", "father_of", "Zed")
    told(two, "Byron", "father_of", "Ada", evidence=(late,))
    set_entity(Naming(name="Ada", aliases=("Enchantress",), description="a person"), target=two.target())
    done = divide(two, "Ada Lovelace")
    kept = entities(two)["Ada"]
    assert (kept.aliases, kept.description) == (("Enchantress",), "a person")
    assert set(done.left) == {late, told_id("Byron", "father_of", "Ada")}
    fathers = {row.object: row.evidence for row in two.relations() if row.type == "father_of"}
    assert fathers[kept.id] == (late,)
    assert fathers[entity_id(PROJECT, "ada lovelace")] == ()
    assert two.counted_right()


def test_a_verdict_and_an_end_since_go_along(two: Kit) -> None:
    unite(two, "Ada", "Ada Lovelace")
    row = next(row for row in two.relations() if row.type == "father_of")
    said = Verdict(decision="accepted", score=1.0, stage="person", verifier="person:Grace", layer="verified")
    two.put(relations=(decided(row, said, at(99)),))
    told(two, "Ada", "lives_in", "Paris", valid_from=at(-1))
    assert told_id("Byron", "father_of", "Ada") not in divide(two, "Ada Lovelace").left
    row = next(row for row in two.relations() if row.type == "father_of")
    assert row.id == told_id("Byron", "father_of", "Ada Lovelace")
    assert (row.verifier, row.layer) == ("person:Grace", "verified")
    mine = [row for row in two.graph.relations([one("London").id]) if row.type == "lives_in"]
    (london,) = (row for row in mine if row.state == "superseded")
    assert london.times.valid_to == at(-1)
    assert [row.metadata["version_of"] for row in mine if row.state == "archived"] == [london.id]


def test_one_of_several_comes_back_alone(two: Kit) -> None:
    told(two, "Countess", "likes", "Tea")
    told(two, "Countess", "knows", "Ada Lovelace")
    before = entities(two)
    done = unite(two, "Ada", "Ada Lovelace", "Countess")
    assert len(done.dropped) == 2
    back = divide(two, "Countess")
    assert [row.name for row in back.entities] == ["Countess"]
    assert entities(two)["Ada"].aliases == ("Ada Lovelace",)
    assert entities(two)["Countess"] == before["Countess"]
    assert ("Countess", "likes", "Tea") in two.triples()
    assert ("Ada", "likes", "Tea") in two.triples()
    assert two.counted_right()
    divide(two, "Ada Lovelace")
    assert {name: row.aliases for name, row in entities(two).items() if row.aliases} == {}


def test_the_verdict_that_is_harder_to_change_stays() -> None:
    times = Times(recorded_at=at(1))
    weak = relation(times=times, verdict="accepted", verifier="srmkg:1", evidence=("a",))
    gone = replace(
        weak,
        verdict="rejected",
        verifier="person:Ada",
        state="archived",
        evidence=("b", "a"),
        times=replace(times, recorded_at=at(0), retired_at=at(2)),
        metadata={"withdrawn": True},
    )
    for order in ([weak, gone], [gone, weak]):
        row = merged_relation(order)
        assert (row.verdict, row.verifier, row.state) == ("rejected", "person:Ada", "archived")
        assert (set(row.evidence), row.times.recorded_at) == ({"a", "b"}, at(0))
        assert row.metadata == {"withdrawn": True}
    lost = replace(gone, verdict=None, verifier=None)
    assert merged_relation([lost, weak]).state == "active"
    assert merged_relation([lost, weak]).metadata == {}


@pytest.mark.parametrize(
    ("keep", "others", "error"),
    [
        ("Ada", ("Ada",), InvalidInputError),
        ("Ada", ("Ada Lovelace", "ADA"), InvalidInputError),
        ("Ada", (), InvalidInputError),
        ("Ada", ("Nobody",), NotFoundError),
        ("'; DROP", ("Ada",), NotFoundError),
    ],
)
def test_what_cannot_be_merged_changes_nothing_and_cannot_be_split(
    two: Kit, keep: str, others: tuple[str, ...], error: type[Exception]
) -> None:
    before, writes = rows(two), len(two.writes)
    with pytest.raises(error):
        unite(two, keep, *others)
    assert (rows(two), len(two.writes)) == (before, writes)
    for what in ("Ada", "Nobody", "w_nothing", "e_nothing"):
        with pytest.raises(NotFoundError, match="was merged"):
            divide(two, what)


def test_chunks_that_speak_of_another_are_given_to_it(kit: Kit) -> None:
    river = kit.remember("Mercury flows into Thames.").id
    planet = kit.remember("Mercury orbits Sol.").id
    told(kit, "Mercury", "flows_to", "Thames", evidence=(river,))
    told(kit, "Mercury", "is_near", "Sol", evidence=(planet, river))
    done = reassign("Mercury (river)", of="Mercury", chunks=[river], reason="a river", target=kit.target())
    kit.snapshots.forget(PROJECT)
    assert (done.mentions, done.kept.mention_count) == (1, 1)
    assert {row.entity for row in kit.graph.mentions([river])} >= {done.entities[0].id}
    assert ("Mercury (river)", "flows_to", "Thames") in kit.triples()
    near = {row.subject: row.evidence for row in kit.relations() if row.type == "is_near"}
    assert near == {done.kept.id: (planet,), done.entities[0].id: (river,)}
    assert kit.counted_right()
    with pytest.raises(InvalidInputError, match="does not speak of 'Mercury'"):
        reassign("Mercury (river)", of="Mercury", chunks=[river], reason=None, target=kit.target())
    with pytest.raises(InvalidInputError, match="tell it apart"):
        reassign("MERCURY", of="Mercury", chunks=[planet], reason=None, target=kit.target())
    reassign("Mercury (river)", of="Mercury", chunks=[planet], reason=None, target=kit.target())
    assert entities(kit)["Mercury"].mention_count == 0
    assert kit.counted_right()


def test_what_is_read_later_speaks_of_the_kept_entity(kit: Kit, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Falcon runs on MySQL.\n\nKestrel uses Redis.\n")
    kit.ingest(page)
    unite(kit, "Falcon", "Kestrel")
    page.write_text("Falcon runs on MySQL.\n\nKestrel uses Redis. Kestrel runs on Kafka.\n")
    kit.ingest(page)
    assert "Kestrel" not in entities(kit)
    assert ("Falcon", "runs_on", "Kafka") in kit.triples()
    assert kit.counted_right()


# Any graph ---------------------------------------------------------------------------------------

Graph = tuple[list[Chunk], list[Entity], list[Mention], list[Relation]]
STATES = st.sampled_from(["active", "archived", "superseded"])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, unique=True))
    chunks = [chunk(f"c{n}", project=PROJECT, state=draw(STATES)) for n in range(draw(st.integers(0, 4)))]
    mentions = [
        Mention(chunk=row.id, entity=one(name).id, count=draw(st.integers(1, 3)))
        for row in chunks
        for name in names
        if draw(st.booleans())
    ]
    active = {row.id for row in chunks if row.state == "active"}
    rows = [
        one(
            name,
            type=draw(st.sampled_from(["thing", "person"])),
            description=draw(st.sampled_from([None, "a", "a b"])),
            aliases=(f"{name}-alias",) * draw(st.integers(0, 1)),
            first_seen=at(draw(st.integers(0, 3))),
            last_seen=at(draw(st.integers(3, 6))),
            mention_count=sum(m.entity == one(name).id and m.chunk in active for m in mentions),
            metadata=draw(st.sampled_from([{}, {"k": 1}, {"k": 2, "l": name}])),
        )
        for name in names
    ]
    relations = list(draw_relations(draw, names, {(row.chunk, row.entity) for row in mentions}))
    return chunks, rows, mentions, relations


def draw_relations(draw: st.DrawFn, names: list[str], said: set[tuple[str, str]]) -> Iterator[Relation]:
    pairs = [(a, b) for a in names for b in names if a != b]
    for subject, object in draw(st.lists(st.sampled_from(pairs), max_size=5, unique=True)):
        ends = one(subject).id, one(object).id
        chunks = sorted({chunk for chunk, _ in said if {(chunk, ends[0]), (chunk, ends[1])} <= said})
        begins = draw(st.sampled_from([None, at(1)]))
        id = relation_id(PROJECT, ends[0], "likes", ends[1], begins)
        verifier = draw(st.sampled_from([None, "srmkg:1", "vog:m", "person:a"]))
        row = relation(
            ends[0],
            "likes",
            ends[1],
            id=id,
            project=PROJECT,
            evidence=tuple(draw(st.lists(st.sampled_from(chunks), unique=True)) if chunks else ()),
            verdict=None if verifier is None else "accepted",
            verifier=verifier,
            layer=draw(st.sampled_from(["working", "shared"])),
            state=draw(STATES),
            times=Times(recorded_at=at(draw(st.integers(0, 2))), valid_from=begins),
        )
        yield row
        if draw(st.booleans()):
            before = replace(row.times, recorded_at=row.times.recorded_at - timedelta(days=1))
            old = replace(row, times=before, metadata={"version_of": id}, state="archived")
            yield replace(old, id=version_id(id, before.recorded_at))


def agrees(kit: Kit, *, gone: set[str]) -> None:
    """Assert that names are of one entity each, and that what is said of entities is of those there are."""
    found = {row.id: row for row in entities(kit).values()}
    keys = [row.key for row in found.values()]
    assert len(keys) == len(set(keys)) and not gone & found.keys()
    assert not any(row.key in map(entity_key, row.aliases) for row in found.values())
    worth = {row.id for row in found.values() if worth_a_vector(row.mention_count)}
    assert kit.vectors.entity_hashes().keys() == worth
    said = {(row.chunk, row.entity) for batch in kit.graph.scan(MENTIONS) for row in batch}
    stated = {row.id: row for batch in kit.graph.scan(RELATES) for row in batch}
    for row in stated.values():
        assert {row.subject, row.object} <= found.keys() and row.subject != row.object
        assert {(chunk, end) for chunk in row.evidence for end in (row.subject, row.object)} <= said
        assert row.metadata.get("version_of", row.id) in stated


def merged_and_split(graph: Graph, data: st.DataObject) -> None:
    kit = Kit()
    chunks, found, mentions, relations = map(tuple, graph)
    kit.put(chunks=chunks, entities=found, mentions=mentions, relations=relations)
    kit.mirror.refresh_entities([row.id for row in found])
    before, names = rows(kit), kit.vectors.entity_hashes()
    keep = data.draw(st.sampled_from(found))
    rest = [row.id for row in found if row != keep]
    others = data.draw(st.lists(st.sampled_from(rest), min_size=1, unique=True))
    done = unite(kit, keep.id, *others)
    after = rows(kit)
    assert kit.counted_right()
    assert len(entities(kit)) == len(found) - len(others)
    agrees(kit, gone=set(others))
    assert divide(kit, str(done.run)).left == ()
    assert rows(kit) == before
    assert kit.vectors.entity_hashes() == names
    again = unite(kit, keep.id, *others)
    assert rows(kit) == after
    assert undo(str(again.run), graph=kit.graph, mirror=kit.mirror).left == ()
    assert rows(kit) == before
    assert kit.vectors.entity_hashes() == names


@settings(FEW, max_examples=15)
@given(graphs(), st.data())
def test_merge_and_split_is_nothing_and_so_is_undo(graph: Graph, data: st.DataObject) -> None:
    merged_and_split(graph, data)


@pytest.mark.slow
@MANY
@given(graphs(), st.data())
def test_merge_and_split_is_nothing_on_many_graphs(graph: Graph, data: st.DataObject) -> None:
    merged_and_split(graph, data)
