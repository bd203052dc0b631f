"""The project of a working directory."""

from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.hooks.project_name import project_of


def test_a_repository_names_the_project_of_all_its_folders(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src" / "billing"
    inner.mkdir(parents=True)
    assert project_of(inner) == "billing"
    (tmp_path / "shop" / ".git").touch()  # a file, as in a worktree
    assert project_of(inner) == project_of(tmp_path / "shop") == "shop"


def test_a_given_project_wins() -> None:
    assert project_of(Path("/srv/ada/shop"), "work") == "work"
    with pytest.raises(InvalidInputError):
        project_of(Path("/srv/ada/shop"), "../etc")


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        (Path("/"), "default"),
        (None, "default"),
        (Path("/nowhere/.dotfiles"), "dotfiles"),
        (Path("/nowhere/..."), "default"),
        (Path("/nowhere/a..b"), "a.b"),
        (Path("/nowhere/a\\b\tc"), "a b c"),
        (Path("/nowhere/" + "long" * 60), "long" * 25),
        (Path("/nowhere/Überholt 2"), "Überholt 2"),
    ],
)
def test_any_name_of_a_folder_gives_a_project(folder: Path | None, project: str) -> None:
    assert project_of(folder) == project
