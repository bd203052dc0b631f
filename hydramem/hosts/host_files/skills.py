"""The skills that come with HydraMem: where they are, and which of them a folder has."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from hydramem.hosts.host_files.host_table import SKILL_FOLDERS
from hydramem.hosts.host_files.machine import Machine
from hydramem.hosts.host_files.managed_copies import copy_state


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRow:
    """A skill as `skills list` shows it, with its state (such as outdated) at each place that has it."""

    name: str
    installed: tuple[str, ...]
    description: str


def skills_folder() -> Path:
    """Return the folder that has a folder for each skill: the package's, else that of the checkout."""
    package = Path(__file__).parent.parent.parent
    carried = package / "data" / "skills"
    return carried if carried.is_dir() else package.parent / "skills"


def skill_files() -> Mapping[str, bytes]:
    """Return the bytes of each file of the skills by its name in their folder, with slashes."""
    root = skills_folder()
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.md"))}


def list_skills(machine: Machine) -> tuple[SkillRow, ...]:
    """Return the skills, and where they are installed on a machine.

    Raises:
        InvalidInputError: A manifest of copies is none.
        StorageError: A copy cannot be read.
    """
    return tuple(
        SkillRow(
            name=name.split("/")[0],
            installed=tuple(_places(name, data, machine)),
            description=_description(data.decode("utf-8")),
        )
        for name, data in skill_files().items()
        if name.endswith("/SKILL.md")
    )


def _places(name: str, data: bytes, machine: Machine) -> list[str]:
    places: list[str] = []
    for target, scopes in SKILL_FOLDERS.items():
        for scope, paths in scopes.items():
            state = copy_state(Path(paths(machine)[0]), name, data)
            if state is not None:
                places.append(f"{target} ({scope}): {state}")
    return places


def _description(text: str) -> str:
    front = yaml.safe_load(text.split("---\n", 2)[1])
    return str(front["description"])
