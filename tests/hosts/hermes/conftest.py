"""A memory and a provider on it, as an agent of Hermes has them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.hosts.hermes.provider import HydraMemProvider
from hydramem.memory_api.memory import Memory

CONFIG = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
Begin = Callable[..., HydraMemProvider]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes"
    folder.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(folder))
    return folder


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as opened:
        yield opened


@pytest.fixture
def begin(memory: Memory, home: Path) -> Iterator[Begin]:
    """Return what begins a session of Hermes on the memory."""
    begun: list[HydraMemProvider] = []

    def provider(session: str = "s1", **options: Any) -> HydraMemProvider:
        made = HydraMemProvider(memory)
        made.initialize(session, **{"hermes_home": str(home), "platform": "cli", **options})
        assert made._hosted is not None
        made._hosted.connection.memory(10)
        begun.append(made)
        return made

    yield provider
    for made in begun:
        made.shutdown()


def turns(memory: Memory) -> list[tuple[str | None, str]]:
    """Return author and text of each turn, in order."""
    rows = memory.memories(kinds=["turn"], states=["active", "quarantined"], limit=200)
    return [(row.author, row.text) for row in sorted(rows, key=lambda row: (row.session or "", row.position))]
