"""Reads that show one entity: by its id, what mentions it, and its relations of any time."""

from collections.abc import Iterator

import pytest

import hydramem
from hydramem.core.config import Config, StorageConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.llm.hash_embedder import HashEmbedder
from tests.engines import ENGINE


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    config = Config(storage=StorageConfig(graph=ENGINE))  # type: ignore[arg-type]
    with hydramem.connect(tmp_path_factory.mktemp("store"), config=config, embedder=HashEmbedder()) as memory:
        memory.entity("Ada Lovelace", type="person", aliases=["Countess"])
        memory.entity("billing", type="service")
        memory.remember("Ada Lovelace leads billing.", entities=["Ada Lovelace", "billing"])
        memory.remember("The tide was high.")
        memory.relate("Ada Lovelace", "leads", "billing", valid_from="2024-01-01")
        memory.relate("billing", "uses", "Oracle", valid_from="2024-01-01")
        memory.unrelate("billing", "uses", "Oracle", ended="2025-01-01")
        memory.relate("billing", "hosted_in", "Mars")
        memory.unrelate("billing", "hosted_in", "Mars", reason="never true")
        yield memory


def test_an_entity_is_listed_by_its_id(memory: hydramem.Memory) -> None:
    ada = next(row for row in memory.entities() if row.name == "Ada Lovelace")
    assert memory.entities(containing=ada.id) == (ada,)
    assert memory.entities(containing=ada.id, as_of="2026-01-01")[0].name == "Ada Lovelace"
    assert memory.entities(containing=ada.id, type="service") == ()
    assert memory.entities(containing=ada.id[:-1]) == (), "a whole id only"


def test_memories_are_listed_by_the_entity_that_they_mention(memory: hydramem.Memory) -> None:
    for name in ("Countess", "Ada Lovelace", memory.entities(containing="Ada")[0].id):
        assert [row.text for row in memory.memories(entity=name)] == ["Ada Lovelace leads billing."]
    with pytest.raises(NotFoundError):
        memory.memories(entity="Nobody")


def test_relations_in_any_state_are_listed_at_any_time(memory: hydramem.Memory) -> None:
    def kinds(**filters: object) -> set[str]:
        return {row.type for row in memory.relations("billing", **filters)}

    assert kinds() == {"leads"}
    assert kinds(states=["active", "superseded"]) == {"leads", "uses"}
    assert kinds(states=["archived"]) == {"hosted_in", "uses"}, "what was never true, and an earlier version"
    assert kinds(as_of="2024-06-01") == {"leads", "uses"}
    assert {row.type for row in memory.relations(states=["archived"])} == {"hosted_in", "uses"}
    with pytest.raises(InvalidInputError):
        memory.relations(states=["gone"])


def test_the_graph_shows_relations_of_the_past_with_their_times(memory: hydramem.Memory) -> None:
    def edges(**filters: object) -> dict[str, hydramem.GraphEdge]:
        return {edge.type: edge for edge in memory.graph("billing", depth=1, chunks=False, **filters).edges}

    assert edges().keys() == {"leads"}
    assert edges(as_of="2024-06-01").keys() == {"leads", "uses"}
    shown = edges(states=["active", "superseded"])
    assert shown.keys() == {"leads", "uses"}
    assert (shown["uses"].valid_from.year, shown["uses"].valid_to.year) == (2024, 2025)
    assert edges(states=["archived"])["hosted_in"].state == "archived"
    with pytest.raises(InvalidInputError, match="states, as_of"):
        memory.graph("billing", states=["active"], as_of="2024-06-01")
    with pytest.raises(InvalidInputError, match="also"):
        memory.graph("billing", also=["x"] * 1001)
