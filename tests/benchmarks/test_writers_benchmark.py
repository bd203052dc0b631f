"""The benchmark of concurrent writers: it stores what it counts, and says what it measured."""

import os
from pathlib import Path

import hydramem
from benchmarks.writers import scaling, writers
from hydramem.core.config import Config, StorageConfig
from hydramem.llm.hash_embedder import HashEmbedder

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


def test_writers_store_what_they_count(tmp_path: Path) -> None:
    config = Config(storage=StorageConfig(graph=ENGINE, buffer_pool_mb=128, max_db_gb=8))  # type: ignore[arg-type]
    with hydramem.connect(tmp_path / "store", config=config, embedder=HashEmbedder(dimension=64)) as memory:
        assert writers(memory, 3, 2) > 0
        assert len(memory.memories(limit=100)) == 6
        told = scaling(
            memory, each=1, rounds=1, texts=[f"Crate {n} is in hall {n * 7}." for n in range(9)], kind="event"
        )
        assert "8 writers" in told
        assert len(memory.memories(limit=100)) == 15
