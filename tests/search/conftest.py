"""A memory of its own for a test; deep recall is tried on the memories that verification is tried on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from tests.engines import ENGINE
from tests.verification.conftest import connect as connect


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    config = Config(storage=StorageConfig(graph=ENGINE), embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path / "store", config=config) as memory:
        yield memory
