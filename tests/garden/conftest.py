"""An empty memory for a test of the gardener."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramem import Memory
from tests.garden.memories import opened


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "store") as memory:
        yield memory
