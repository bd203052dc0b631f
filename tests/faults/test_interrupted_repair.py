"""A repair of the vectors that was cut short is continued; vectors that are gone are named."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.vector_rows import Vector
from tests.engines import DISK_ENGINE  # noqa: F401 -- these tests run on both engines
from tests.faults.stores import CONFIG, killed_store, remember, sentence

pytestmark = pytest.mark.costly
ROWS = 4


class Dying(HashEmbedder):
    """Embeds no documents: the process ends."""

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        raise KeyboardInterrupt


def test_an_interrupted_repair_is_continued_at_the_next_opening(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        for number in range(ROWS):
            remember(memory, number)
    shutil.rmtree(tmp_path / "store" / "vectors")
    with (
        hydramem.connect(tmp_path / "store", config=CONFIG, embedder=Dying()) as memory,
        pytest.raises(KeyboardInterrupt),
    ):
        memory.doctor(fix=True)
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        assert memory.doctor().problems == ()
        assert memory.recall(sentence(2), limit=1).hits[0].text == sentence(2)


def test_vectors_that_are_gone_are_named_although_some_writes_are_pending(tmp_path: Path) -> None:
    killed = killed_store(tmp_path)
    shutil.rmtree(killed / "vectors")
    with hydramem.connect(killed, config=CONFIG) as memory:
        with pytest.raises(StorageError, match="is empty although the graph holds chunks"):
            memory.recall(sentence(2))
        assert memory.doctor(fix=True).healthy
