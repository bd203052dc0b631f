"""The stores under test: in memory, and the engine of this run, shared and emptied for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.store import GraphStore
from tests.engines import DISK_ENGINE as ENGINE_OF_RUN
from tests.storage.engine_stores import drop_engine, emptied, open_engine


@pytest.fixture(scope="session")
def engine() -> str:
    """Name of the engine of this run."""
    return ENGINE_OF_RUN


@pytest.fixture(scope="session")
def settings(engine: str) -> StorageConfig:
    """Storage settings for the engine of this run, small."""
    return StorageConfig(graph=engine, buffer_pool_mb=128, max_db_gb=8)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def shared_graph(settings: StorageConfig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    """A graph store on the engine."""
    folder = tmp_path_factory.mktemp("shared") / "graph"
    store = open_engine(folder, settings)
    yield store
    store.close()
    drop_engine(folder, settings)


@pytest.fixture(params=["memory", ENGINE_OF_RUN])
def graph(request: pytest.FixtureRequest, engine: str) -> GraphStore:
    """A graph store without rows, once in memory and once on the engine."""
    return InMemoryGraph() if request.param == "memory" else emptied(request.getfixturevalue("shared_graph"))


@pytest.fixture(params=["memory", ENGINE_OF_RUN])
def new_graph(
    request: pytest.FixtureRequest, tmp_path: Path, settings: StorageConfig
) -> Iterator[GraphStore]:
    """A graph store that no other test had, once in memory and once on the engine."""
    on_disk = request.param != "memory"
    store: GraphStore = open_engine(tmp_path / "graph", settings) if on_disk else InMemoryGraph()
    yield store
    store.close()
    if on_disk:
        drop_engine(tmp_path / "graph", settings)
