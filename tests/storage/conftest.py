"""The stores under test: in memory, and the engine that HYDRAMEM_TEST_ENGINE names (ladybug, kuzu, postgres).

LadybugDB and Kuzu crash in one process, so a run of the tests sees one engine.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.store import GraphStore
from tests.storage.engine_stores import drop_engine, open_engine

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


@pytest.fixture(scope="session")
def engine() -> str:
    """Name of the engine of this run."""
    return ENGINE


@pytest.fixture
def settings(engine: str) -> StorageConfig:
    """Storage settings for the engine of this run, small."""
    return StorageConfig(graph=engine, buffer_pool_mb=128, max_db_gb=8)  # type: ignore[arg-type]


@pytest.fixture(params=["memory", ENGINE])
def graph(request: pytest.FixtureRequest, tmp_path: Path, settings: StorageConfig) -> Iterator[GraphStore]:
    """A new graph store, once in memory and once on the engine."""
    store: GraphStore = (
        InMemoryGraph() if request.param == "memory" else open_engine(tmp_path / "graph", settings)
    )
    yield store
    store.close()
    if request.param != "memory":
        drop_engine(tmp_path / "graph", settings)
