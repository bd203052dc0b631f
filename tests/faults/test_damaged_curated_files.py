"""A curated file that is emptied, gone or damaged is named, with where its entries are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from tests.faults.stores import CONFIG


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        yield memory


@pytest.mark.parametrize("damage", ["emptied", "deleted", "blank"])
def test_a_file_that_lost_its_entries_is_named_with_where_they_are(
    memory: hydramem.Memory, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert memory.doctor().warnings == ()
    memory.curate("memory", [hydramem.CuratedChange(action="add", content="Ada prefers tea.")])
    file = memory.folder / "curated" / "default" / "MEMORY.md"
    file.unlink() if damage == "deleted" else file.write_text("" if damage == "emptied" else " \n")
    (held, user) = memory.curated()
    (problem,) = held.problems
    assert str(file) in problem and "held 1 entries" in problem and user.problems == ()
    assert problem in caplog.messages
    assert memory.doctor().warnings == (problem,)
    assert "Ada prefers tea." in str(memory.history("default/MEMORY.md"))
    memory.curate("memory", [hydramem.CuratedChange(action="add", content="Ada prefers coffee.")])
    assert memory.doctor().warnings == ()


def test_zero_bytes_in_a_file_are_named(memory: hydramem.Memory) -> None:
    memory.curate("memory", [hydramem.CuratedChange(action="add", content="Ada prefers tea.")])
    (memory.folder / "curated" / "default" / "MEMORY.md").write_bytes(b"Ada \0\0\0 tea.")
    with pytest.raises(hydramem.StorageError, match=r"MEMORY\.md: holds zero bytes"):
        memory.curated("memory")
