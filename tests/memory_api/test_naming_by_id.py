"""Things named by their ids: a memory by the beginning of its id, an entity by its id."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import NotFoundError
from hydramem.core.ids import is_short_id, short_id
from tests.engines import ENGINE


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    config = Config(storage=StorageConfig(graph=ENGINE), embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path / "store", config=config) as memory:
        yield memory


def test_a_memory_is_found_by_the_beginning_of_its_id(memory):
    for id in [memory.remember(f"Hall {number} is cold.").id for number in range(2)]:
        for length in (10, 20, 33, 34):
            assert memory.get(id[:length]).id == id
        for wrong in (id[:9], id[:10] + "g", id + "0", id[:10].upper(), id[2:12]):
            with pytest.raises(NotFoundError):
                memory.get(wrong)


def test_an_entity_is_found_by_its_id_and_a_name_goes_first(memory):
    memory.relate("Ada Lovelace", "leads", "Billing Team")
    (ada,) = memory.entities(containing="ada")
    assert memory.relations(ada.id) == memory.relations("Ada Lovelace") != ()
    assert [each.entity for each in memory.neighbors(ada.id)] == ["Billing Team"]
    assert memory.expand([ada.id]).starts == ("Ada Lovelace",)
    assert memory.path(ada.id, "Billing Team").found
    memory.relate(ada.id, "is", "a strange name")
    assert [row.object for row in memory.relations(ada.id)] == ["a strange name"]


def test_only_ids_of_chunks_have_a_short_form():
    chunk = "c_" + "0a" * 16
    assert short_id(chunk) == "c_0a0a0a0a" and is_short_id(short_id(chunk)) and not is_short_id(chunk)
    for other in ("e_" + "0a" * 16, "default/MEMORY.md#1", "", "c_", "c_0a0a0a0"):
        assert short_id(other) == other and not is_short_id(other)
