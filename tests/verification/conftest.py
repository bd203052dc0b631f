"""A memory in memory, with a scripted model that reads evidence."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.scripted_generator import ScriptedGenerator
from tests.engines import ENGINE

# Memories are stored as given, so that the model is asked of relations alone.
GIVEN = {
    "HYDRAMEM_STORAGE_GRAPH": ENGINE,
    "HYDRAMEM_EMBEDDING_MODEL": "hash",
    "HYDRAMEM_MEMORY_COGNITIVE": "false",
}

Connect = Callable[..., hydramem.Memory]


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    """Open a memory; `script` is what its model says, and settings are as in the environment."""
    with ExitStack() as stack:

        def opened(script: Any = None, **settings: str) -> hydramem.Memory:
            given = {f"HYDRAMEM_VERIFICATION_{name.upper()}": value for name, value in settings.items()}
            generator = None if script is None else ScriptedGenerator(script)
            config = load_config(environment=GIVEN | given)
            return stack.enter_context(hydramem.connect(tmp_path / "m", config=config, generator=generator))

        yield opened
