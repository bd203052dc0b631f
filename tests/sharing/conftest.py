"""What tests of owners in the background share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sharing.background_owners import ENVIRONMENT, no_owner_left


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    with no_owner_left(tmp_path / "store") as folder:
        yield folder
