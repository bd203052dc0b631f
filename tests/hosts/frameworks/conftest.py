"""What the tests of frameworks share: a small memory, coroutines as tests, and the packages' own warnings."""

from collections.abc import Iterator

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from tests.coroutines import pytest_pyfunc_call as pytest_pyfunc_call

IN_MEMORY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
"""Stores in memory and vectors of hashed words: what a framework sees is the same, and a test is quick."""


@pytest.fixture
def memory(tmp_path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=IN_MEMORY) as opened:
        yield opened
