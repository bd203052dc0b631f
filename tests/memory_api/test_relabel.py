"""The labels of several memories are corrected in one run, all or none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from tests.engines import ENGINE

CONFIG = Config(storage=StorageConfig(graph=ENGINE), embedding=EmbeddingConfig(model="hash"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path, config=CONFIG) as memory:
        yield memory


def remember(memory: hydramem.Memory) -> list[str]:
    texts = ("The crane is red.", "The gate is green.", "The buoy is blue.")
    done = memory.remember_many([hydramem.MemoryInput(text=text, scope="/a") for text in texts])
    memory.drain()  # links are made
    return [each.id for each in done]


def test_several_memories_change_in_one_run_that_undo_takes_back(memory: hydramem.Memory) -> None:
    ids = remember(memory)
    done = memory.relabel([*ids, ids[0]], scope="/b", categories=["colour"], reason="order")
    assert set(done.chunks) == set(ids)
    assert {row.categories for row in memory.memories(scope="/b")} == {("colour",)}
    assert memory.recall("crane", scope="/b").hits[0].id == ids[0]
    entry = next(one for one in memory.history(ids[0]).entries if one.operation == "relabel")
    assert (entry.operation, entry.reason, entry.run) == ("relabel", "order", done.run)
    again = memory.relabel(ids, scope="/b")
    assert (set(again.unchanged), again.chunks, again.run) == (set(ids), (), None)
    memory.undo(done.run or "")
    assert len(memory.memories(scope="/a")) == 3
    assert memory.recall("crane", scope="/b").hits == ()


def test_one_that_cannot_change_stops_all(memory: hydramem.Memory) -> None:
    ids = remember(memory)
    elsewhere = memory.remember("The key is here.", project="another").id
    memory.forget([ids[2]])
    for wrong, error in (
        (ids[2], InvalidInputError),
        ("c_nothing", NotFoundError),
        (elsewhere, NotFoundError),
    ):
        with pytest.raises(error):
            memory.relabel([ids[0], wrong], scope="/b")
    with pytest.raises(InvalidInputError, match="nothing is given"):
        memory.relabel(ids[:1], reason="no change")
    assert memory.memories(scope="/b") == ()
