"""Entities, scopes, layers and limits through the public surface."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import LimitsConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.time import now
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import rows, settings


def graph(memory: hydramem.Memory) -> tuple[object, ...]:
    """Return what a person sees of the entities and relations."""
    entities = sorted(memory.entities(limit=1000), key=lambda row: row.id)
    return tuple(entities), {(row.id, row.evidence) for row in memory.relations(limit=1000)}


def test_each_of_these_can_be_undone_and_that_too(memory: hydramem.Memory) -> None:
    first = memory.remember("Ada leads Kestrel and met Charles Babbage.", scope="/a/b").id
    memory.remember("Ada Lovelace leads Kestrel in London.", scope="/a")
    memory.drain()  # what the queue writes belongs to these runs, and would be the last to write
    memory.relate("Ada Lovelace", "knows", "Ada")
    memory.relate("Ada", "lives_in", "Bath", valid_from="2001")
    memory.relate("Ada", "lives_in", "London", valid_from="2002")
    wrote = {
        "merge": lambda: memory.merge("Ada Lovelace", ["Ada"]),
        "entity": lambda: memory.entity("Ada", aliases=["Countess"], rename="Augusta"),
        "split": lambda: memory.split("Ada (ship)", of="Ada", chunks=[first]),
        "promote": lambda: memory.promote([first], layer="shared", reason="sure"),
        "move": lambda: memory.move("/a", "/z", reason="tidier"),
        "forget": lambda: memory.forget(scope="/a", expect=2),
    }
    for name, write in wrote.items():
        before = rows(memory)
        write()
        after = rows(memory)
        assert after != before, name
        run = last_run(memory)
        undone = memory.undo(run)
        assert (rows(memory), undone.left) == (before, ()), name
        assert memory.doctor().healthy, name
        assert memory.entity("Ada").entity.name == "Ada", name
        memory.undo(undone.run)
        assert rows(memory) == after, name
        memory.undo(last_run(memory))
        assert rows(memory) == before, name


def last_run(memory: hydramem.Memory) -> str:
    return str(memory._use().graph.changes(project="default")[-1].run)


@pytest.mark.engine
@pytest.mark.costly  # opens a store again
def test_a_merge_lasts(tmp_path: Path) -> None:
    config = settings(DISK_ENGINE)
    with hydramem.connect(tmp_path, config=config) as memory:
        memory.remember("Ada leads Kestrel. Ada Lovelace leads Falcon.")
        before, gone = graph(memory), memory.entity("Ada Lovelace").entity
        memory.merge("Ada", ["Ada Lovelace"], reason="one person")
        told, between = memory.history(gone.id), graph(memory)
        assert (told.kind, told.text, told.entries[-1].reason) == ("entity", "Ada Lovelace", "one person")
        assert memory.path("Ada Lovelace", "Falcon").found
    with hydramem.connect(tmp_path, config=config) as memory:
        assert graph(memory) == between
        assert not memory.entity("Ada Lovelace").created
        memory.split("Ada Lovelace")
        assert graph(memory) == before
        assert memory.doctor().healthy


def test_to_split_what_others_were_merged_into_names_those(memory: hydramem.Memory) -> None:
    memory.remember("Ada leads Kestrel. Countess Lovelace and Augusta King lead Falcon.")
    memory.merge("Ada", ["Countess Lovelace", "Augusta King"])
    with pytest.raises(
        NotFoundError, match=r"into it were merged: '[\w ]+', '[\w ]+'; name one of these"
    ) as told:
        memory.split("ada")
    assert "'Countess Lovelace'" in str(told.value) and "'Augusta King'" in str(told.value)
    with pytest.raises(NotFoundError) as told:
        memory.split("Falcon")
    assert "into it" not in str(told.value)


def test_projects_keep_to_themselves(memory: hydramem.Memory) -> None:
    memory.entity("Ada", project="a")
    other = memory.entity("Ada Lovelace", project="b").entity
    with pytest.raises(NotFoundError):
        memory.merge("Ada", [other.id], project="a")
    with pytest.raises(NotFoundError):
        memory.split("Ada", project="a")
    id = memory.remember("Ada likes tea.", scope="/x", project="a").id
    with pytest.raises(NotFoundError):
        memory.promote([id], layer="shared", reason="sure", project="b")
    with pytest.raises(NotFoundError):
        memory.move("/x", "/y", reason="tidier", project="b")
    assert memory.scopes(project="b") == ()


def test_what_is_meant_is_forgotten_once_it_was_looked_at(memory: hydramem.Memory) -> None:
    memory.remember("At the root.", scope="/")
    id = memory.remember("In the scope.", scope="/x").id
    assert memory.forget(scope="/x", dry_run=True).chunks == (id,)
    with pytest.raises(InvalidInputError, match="1 memories match"):
        memory.forget(scope="/x")
    assert memory.forget(scope="/x", expect=1).chunks == (id,)
    assert [row.text for row in memory.memories()] == ["At the root."]
    assert memory.forget([memory.memories()[0].id], dry_run=True).dry_run
    assert len(memory.memories()) == 1
    for given in ({}, {"ids": [id], "scope": "/x"}, {"kinds": ["none"]}, {"scope": "x"}):
        with pytest.raises(InvalidInputError):
            memory.forget(**given)
    with pytest.raises(NotFoundError):
        memory.forget(["c_nowhere"], dry_run=True)


def test_stats_says_how_limits_stand(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("x" * 1000)
    config = settings(limits=LimitsConfig(memories=2, document_mb=1))
    with hydramem.connect(tmp_path / "store", config=config) as memory:
        memory.ingest(tmp_path / "page.md")
        for number in range(3):
            done = memory.remember(f"Memory number {number} of another kind {number}{number}.")
            assert ("limits.memories" in " ".join(done.notes)) == (number == 2)
        memory.remember("Gone by now.", expires_at="2020-01-01")
        stats = memory.stats()
    by_limit = {use.limit: use for use in stats.limits}
    assert (by_limit["memories"].used, by_limit["memories"].over) == (4, True)
    assert by_limit["document_mb"].used == pytest.approx(0.001)
    assert stats.expired == 1


def test_entities_of_another_time(memory: hydramem.Memory) -> None:
    memory.remember("Ada Lovelace leads Kestrel.", valid_from="2020-01-01", valid_to="2021-01-01")
    memory.entity("Oslo", type="city")
    before = now()
    memory.remember("Ada Lovelace met Charles Babbage.", valid_from="2022-01-01")

    def names(**times: object) -> set[str]:
        return {row.name for row in memory.entities(**times)}

    assert names() == {"Ada Lovelace", "Kestrel", "Oslo", "Charles Babbage"}
    assert names(known_at=before) == {"Ada Lovelace", "Kestrel", "Oslo"}
    assert names(as_of="2020-06-01") == {"Ada Lovelace", "Kestrel", "Oslo"}
    assert names(as_of="2022-06-01") == {"Ada Lovelace", "Charles Babbage", "Oslo"}
    assert names(as_of="2022-06-01", known_at=before) == {"Oslo"}
    assert names(as_of="2022-06-01", containing="bab", limit=1) == {"Charles Babbage"}
    assert names(as_of="2022-06-01", offset=3) == set()
    (ada,) = memory.entities(as_of="2022-06-01", containing="ada l")
    assert ada.mention_count == 1


@pytest.fixture(scope="module")
def billing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path_factory.mktemp("store"), config=settings()) as billing:
        billing.entity("Ada Lovelace", type="person", aliases=["Countess"])
        billing.entity("billing", type="service")
        billing.remember("Ada Lovelace leads billing.", entities=["Ada Lovelace", "billing"])
        billing.remember("The tide was high.")
        billing.relate("Ada Lovelace", "leads", "billing", valid_from="2024-01-01")
        billing.relate("billing", "uses", "Oracle", valid_from="2024-01-01")
        billing.unrelate("billing", "uses", "Oracle", ended="2025-01-01")
        billing.relate("billing", "hosted_in", "Mars")
        billing.unrelate("billing", "hosted_in", "Mars", reason="never true")
        yield billing


def test_an_entity_is_listed_by_its_id_and_by_an_alias(billing: hydramem.Memory) -> None:
    (ada,) = billing.entities(containing="COUNTES")
    assert billing.entities(containing=ada.id) == (ada,)
    assert billing.entities(containing=ada.id, as_of="2026-01-01")[0].name == "Ada Lovelace"
    assert billing.entities(containing=ada.id, type="service") == ()
    assert billing.entities(containing=ada.id[:-1]) == (), "a whole id only"
    for name in ("Countess", "Ada Lovelace", ada.id):
        assert [row.text for row in billing.memories(entity=name)] == ["Ada Lovelace leads billing."]
    with pytest.raises(NotFoundError):
        billing.memories(entity="Nobody")


def test_relations_in_any_state_are_listed_and_drawn_at_any_time(billing: hydramem.Memory) -> None:
    def kinds(**filters: object) -> set[str]:
        return {row.type for row in billing.relations("billing", **filters)}

    assert kinds() == {"leads"}
    assert kinds(states=["active", "superseded"]) == {"leads", "uses"}
    assert kinds(states=["archived"]) == {"hosted_in", "uses"}, "what was never true, and an earlier version"
    assert kinds(as_of="2024-06-01") == {"leads", "uses"}
    assert {row.type for row in billing.relations(states=["archived"])} == {"hosted_in", "uses"}
    with pytest.raises(InvalidInputError):
        billing.relations(states=["gone"])

    def edges(**filters: object) -> dict[str, hydramem.GraphEdge]:
        return {edge.type: edge for edge in billing.graph("billing", depth=1, chunks=False, **filters).edges}

    assert edges().keys() == {"leads"}
    assert edges(as_of="2024-06-01").keys() == {"leads", "uses"}
    shown = edges(states=["active", "superseded"])
    assert shown.keys() == {"leads", "uses"}
    assert (shown["uses"].valid_from.year, shown["uses"].valid_to.year) == (2024, 2025)
    assert edges(states=["archived"])["hosted_in"].state == "archived"
    with pytest.raises(InvalidInputError, match="states, as_of"):
        billing.graph("billing", states=["active"], as_of="2024-06-01")
    with pytest.raises(InvalidInputError, match="also"):
        billing.graph("billing", also=["x"] * 1001)
