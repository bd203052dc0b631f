"""The project of a working directory."""

from pathlib import Path

from hydramem.core.argument_checks import check_project
from hydramem.core.errors import InvalidInputError
from hydramem.core.settings.environment import repository_folder

DEFAULT = "default"
"""The project of what belongs to no folder; hooks read it beside the folder's own."""

_MOST_CHARACTERS = 100


def project_of(folder: Path | None, given: str | None = None) -> str:
    """Return the project of a working directory.

    It is the name of the nearest folder upward that holds `.git`, else of the directory itself. So two
    folders of one name share a project, unless they are given different ones.

    Args:
        folder: The working directory; None for the project `default`.
        given: A project that is set for all folders.

    Raises:
        InvalidInputError: The given one is no name of a project.
    """
    if given:
        return check_project(given)
    if folder is None:
        return DEFAULT
    return _as_project(repository_folder(folder).name)


def _as_project(name: str) -> str:
    """Return a folder's name as that of a project, without what a project's name cannot have."""
    letters = "".join(each if each.isprintable() and each != "\\" else " " for each in name)
    plain = letters.strip().lstrip(".")[:_MOST_CHARACTERS].strip()
    while ".." in plain:
        plain = plain.replace("..", ".")
    try:
        return check_project(plain)
    except InvalidInputError:  # nothing is left of it, as of the root folder
        return DEFAULT
