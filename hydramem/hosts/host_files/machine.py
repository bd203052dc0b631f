"""What decides where the files of hosts are: system, home folder, project folder, variables."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from hydramem.core.settings.environment import repository_folder

Scope = Literal["user", "project"]
"""Whether the files of the user are meant, or those of the project in this folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine as far as paths depend on it.

    Attributes:
        platform: The value of `sys.platform`.
        home: The user's home folder.
        project: The project's folder.
        environment: The environment variables.
    """

    platform: str
    home: PurePath
    project: PurePath
    environment: Mapping[str, str] = field(default_factory=dict)

    def named(self, variable: str, default: PurePath) -> PurePath:
        """Return the folder that a variable names, or the default."""
        return type(default)(self.environment.get(variable) or default)

    @property
    def config_folder(self) -> PurePath:
        """Where programs of command lines keep their settings on every system, by the rules of XDG."""
        return self.named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def application_folder(self) -> PurePath:
        """Where programs with windows keep their settings."""
        if self.platform == "win32":
            return self.named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self.config_folder


def this_machine() -> Machine:
    """Return this machine; the project is the nearest folder upward with `.git`, else this folder."""
    project = repository_folder(Path.cwd())
    return Machine(platform=sys.platform, home=Path.home(), project=project, environment=dict(os.environ))
