"""The settings of the provider: a small JSON file in the home folder of Hermes.

`hermes memory setup` writes it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from hydramem.core.argument_checks import check_choice, check_project, check_text
from hydramem.core.errors import ConfigError, InvalidInputError
from hydramem.storage.files.durable_files import write_whole

_FILE = "hydramem.json"
_STORE = "hydramem"
_MOST_PATH = 4000

ToolPolicy = Literal["all", "read", "none"]
"""Which tools the model is given: all, those that change nothing, or none."""

Switch = Literal["on", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """What a person sets.

    Attributes:
        store: Folder of the memory; empty for the folder `hydramem` in the home folder of Hermes, so that
            each profile has its own.
        project: The agent's own project in it.
        tools: Which tools the model is given.
        capture: Whether the turns of conversations are stored.
    """

    store: str = ""
    project: str = "default"
    tools: ToolPolicy = "all"
    capture: Switch = "on"

    def folder(self, home: Path) -> Path:
        """Return the folder of the memory.

        Args:
            home: The home folder of Hermes.
        """
        return Path(self.store).expanduser() if self.store else home / _STORE


def hermes_home(given: object = None) -> Path:
    """Return the home folder of Hermes, that of the active profile.

    Args:
        given: What Hermes says; None asks Hermes, else the variable HERMES_HOME.
    """
    if isinstance(given, str | Path) and str(given):
        return Path(given)
    try:
        from hermes_constants import get_hermes_home
    except ImportError:
        return Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes")
    return Path(get_hermes_home())


def load_settings(home: Path) -> ProviderSettings:
    """Read the settings; without a file they are the defaults.

    Raises:
        ConfigError: The file cannot be read, or a key or value is wrong.
    """
    path = home / _FILE
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ProviderSettings()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected an object of settings")
    return _checked(values, path)


def save_settings(values: Mapping[str, Any], home: Path) -> None:
    """Write settings; a key that is not given keeps its value.

    Raises:
        ConfigError: A key or value is wrong; nothing is written.
        StorageError: The file cannot be written.
    """
    path = home / _FILE
    merged = _checked({**asdict(load_settings(home)), **values}, path)
    home.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(asdict(merged), indent=2) + "\n")


def settings_schema() -> list[dict[str, Any]]:
    """Return the fields that `hermes memory setup` asks for. None is a secret."""
    default = ProviderSettings()
    return [
        {
            "key": "store",
            "description": "Folder of the memory; empty for the folder `hydramem` of this Hermes profile",
            "default": default.store,
            "type": "text",
        },
        {
            "key": "project",
            "description": "The agent's own project in the memory",
            "default": default.project,
            "type": "text",
        },
        {
            "key": "tools",
            "description": "Tools for the model: all, read (none that changes the memory), or none",
            "default": default.tools,
            "choices": list(get_args(ToolPolicy)),
        },
        {
            "key": "capture",
            "description": "Whether the turns of conversations are stored",
            "default": default.capture,
            "choices": list(get_args(Switch)),
        },
    ]


def _checked(values: Mapping[str, Any], path: Path) -> ProviderSettings:
    known = [each.name for each in fields(ProviderSettings)]
    if unknown := sorted(map(str, values.keys() - set(known))):
        raise ConfigError(f"{path}: {unknown[0][:80]!r} is no setting; known are {', '.join(known)}")
    found = ProviderSettings(**values)
    try:
        if found.store != "":
            check_text(found.store, name="store", most=_MOST_PATH)
        check_project(found.project)
        check_choice(found.tools, get_args(ToolPolicy), name="tools")
        check_choice(found.capture, get_args(Switch), name="capture")
    except InvalidInputError as error:
        raise ConfigError(f"{path}: {error}") from error
    return found
