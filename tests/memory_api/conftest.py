"""A memory for tests that need no settings of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.storage.undo.row_images import TABLES
from tests.engines import ENGINE


def settings(engine: str = ENGINE, **more: Any) -> Config:
    """Return settings with the embedder that only counts words."""
    return Config(
        storage=StorageConfig(graph=engine),  # type: ignore[arg-type]
        embedding=EmbeddingConfig(model="hash"),
        **more,
    )


def rows(memory: hydramem.Memory, *tables: Any) -> list[Any]:
    """Return every row of some tables, or of all but the audit."""
    graph = memory._use().graph
    return [row for table in tables or TABLES.values() for batch in graph.scan(table) for row in batch]


@pytest.fixture
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[hydramem.Memory]:
    """A memory in the folder `store`, on the engine that a test names as the fixture's parameter."""
    with hydramem.connect(tmp_path / "store", config=settings(getattr(request, "param", ENGINE))) as memory:
        yield memory
