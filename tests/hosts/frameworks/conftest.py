"""What the tests of frameworks share: a small memory, coroutines as tests, and the packages' own warnings."""

import asyncio
import inspect
from collections.abc import Iterator

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig

IN_MEMORY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
"""Stores in memory and vectors of hashed words: what a framework sees is the same, and a test is quick."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Run a test that is a coroutine function."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def memory(tmp_path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=IN_MEMORY) as opened:
        yield opened
