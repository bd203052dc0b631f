"""Entities, scopes, layers and limits through the public surface."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.settings.config_loading import load_config
from hydramem.core.time import now
from hydramem.operations import OPERATIONS, call
from hydramem.storage.schema import CHUNK, ENTITY, MENTIONS, RELATES
from tests.engines import DISK_ENGINE, ENGINE


def settings(engine: str, **more: str) -> Config:
    return load_config(
        environment={"HYDRAMEM_STORAGE_GRAPH": engine, "HYDRAMEM_EMBEDDING_MODEL": "hash", **more}
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    config = settings(ENGINE, HYDRAMEM_LIMITS_MEMORIES="2", HYDRAMEM_LIMITS_DOCUMENT_MB="1")
    with hydramem.connect(tmp_path / "store", config=config) as memory:
        yield memory


def graph(memory: hydramem.Memory) -> tuple[object, ...]:
    """Return what a person sees of the entities and relations."""
    entities = sorted(memory.entities(limit=1000), key=lambda row: row.id)
    return tuple(entities), {(row.id, row.evidence) for row in memory.relations(limit=1000)}


def test_merge_and_split_and_what_is_found_in_between(memory: hydramem.Memory) -> None:
    for text in ("Ada leads Kestrel.", "Ada Lovelace leads Kestrel.", "Ada Lovelace met Charles Babbage."):
        memory.remember(text, source=text)
    before = graph(memory)
    gone, kept = memory.entity("Ada Lovelace").entity, memory.entity("Ada").entity
    done = memory.merge("Ada", ["Ada Lovelace"], reason="one person")
    assert done.run is not None
    told = memory.history(gone.id)
    assert (told.kind, told.text, told.entries[-1].reason) == ("entity", "Ada Lovelace", "one person")
    assert {each.field: each.after for each in told.entries[-1].fields}["metadata"] == (
        f'{{"merged_into": "{kept.id}"}}'
    )
    assert {row.subject for row in memory.relations("Ada Lovelace")} == {"Ada"}
    assert memory.path("Ada Lovelace", "Charles Babbage").found
    assert {change.run for change in memory.history(done.entity.id).entries[-1:]} == {done.run}
    assert memory.doctor().healthy
    memory.split(done.run)
    assert graph(memory) == before
    assert memory.doctor().healthy
    assert not memory.entity("Ada Lovelace").created


def rows(memory: hydramem.Memory) -> list[object]:
    """Return every row that knowing things is about."""
    store = memory._use().graph
    return [
        row for table in (ENTITY, CHUNK, MENTIONS, RELATES) for batch in store.scan(table) for row in batch
    ]


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
        before = graph(memory)
        memory.merge("Ada", ["Ada Lovelace"])
        between = graph(memory)
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


def test_scopes_are_a_tree_that_can_be_moved(memory: hydramem.Memory) -> None:
    memory.remember("Alpha one.", scope="/projects/alpha", categories=["db"])
    memory.remember("Alphabet two.", scope="/projects/alphabet")
    assert [row.path for row in memory.scopes("/projects")] == [
        "/projects",
        "/projects/alpha",
        "/projects/alphabet",
    ]
    assert memory.scopes("/projects", depth=0)[0].memories == 2
    assert memory.move("/projects/alpha/", "/old/alpha", reason="done").chunks == 1
    (row,) = memory.scopes("/old/alpha")
    assert (row.memories, row.own, row.categories) == (1, 1, ("db",))
    assert [hit.text for hit in memory.recall("Alpha one", scope="/old").hits] == ["Alpha one."]
    assert memory.recall("Alpha one", scope="/projects/alpha").hits == ()
    with pytest.raises(InvalidInputError):
        memory.move("/projects", "no path", reason="done")
    with pytest.raises(InvalidInputError):
        memory.scopes(depth=-1)


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


def test_an_agent_cannot_verify(memory: hydramem.Memory) -> None:
    id = memory.remember("Ada leads Kestrel.").id
    promote = next(row for row in OPERATIONS if row.name == "promote")
    given = {"ids": [id], "reason": "sure", "layer": "verified"}
    with pytest.raises(InvalidInputError, match="an agent may promote to shared"):
        call(memory, promote, given, actor="mcp")
    call(memory, promote, given, actor="cli")
    assert [(row.id, row.layer) for row in memory.memories()] == [(id, "verified")]


def test_stats_says_how_limits_stand(memory: hydramem.Memory, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("x" * 1000)
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


def test_entities_are_found_by_an_alias(memory: hydramem.Memory) -> None:
    memory.entity("Postgres", type="database", aliases=["PostgreSQL"])
    memory.entity("Oslo", aliases=["Kristiania"])
    assert [row.name for row in memory.entities(containing="postgresql")] == ["Postgres"]
    assert [row.name for row in memory.entities(containing="KRISTIA")] == ["Oslo"]


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
