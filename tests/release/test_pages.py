"""The pages that `hydramem demo` reads are those of this installation."""

from pathlib import Path

import pytest

from hydramem.cli.handwritten_commands import pages
from hydramem.core.errors import NotFoundError


def test_pages_of_another_package_are_not_taken(tmp_path: Path):
    """A neighbour in the folder of packages may have a `docs/tutorial.md`, too."""
    package, neighbour = tmp_path / "hydramem", tmp_path / "docs"
    neighbour.mkdir()
    (neighbour / "tutorial.md").write_text("# Somebody else's\n")
    with pytest.raises(NotFoundError):
        pages(package)
    (package / "data" / "docs").mkdir(parents=True)
    (package / "data" / "docs" / "tutorial.md").write_text("# Ours\n")
    assert pages(package) == [package / "data" / "docs" / "tutorial.md"]
