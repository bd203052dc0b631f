"""Load the configuration once: defaults, then a YAML file, then the environment.

`config.yml` at the root of the repository shows every key with its default. A key can be overridden as
`HYDRAMEM_<SECTION>_<KEY>`.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.config import Config, SharingConfig
from hydramem.core.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def load_config(path: Path | None = None, *, environment: Mapping[str, str] | None = None) -> Config:
    """Build the configuration from defaults, a file and the environment, later ones winning.

    Args:
        path: A YAML file; None reads none.
        environment: Where `HYDRAMEM_*` overrides are looked up; None takes the process's own.

    Raises:
        ConfigError: The file cannot be read, or a key is unknown or has a value of the wrong type;
            the message names the key's path and where it was set.
    """
    settings = {} if path is None else _read_file(path)
    _validate(settings, str(path))
    merged = _with_environment(settings, os.environ if environment is None else environment)
    return _validate(merged, "the environment or the configuration file")


def config_file(folder: Path, given: str | Path | None) -> Path | None:
    """Return the file of settings of a store: the given one, else `config.yml` in its folder, else None."""
    if given is not None:
        return Path(given).expanduser()
    own = folder / "config.yml"
    return own if own.is_file() else None


def load_sharing(path: Path | None) -> SharingConfig:
    """Read quickly whether a store is shared and by whom, before it is known who opens it.

    Nothing is checked: what is wrong counts as the default here, and is for `load_config` to report.

    Args:
        path: A YAML file; None reads none.

    Returns:
        The settings, of which `enabled` and `background` are read.

    Raises:
        ConfigError: The file, or a value of the environment, cannot be read as YAML.
    """
    section = {} if path is None else _sharing_section(path)
    for name, (_, key) in override_names(SharingConfig, ("sharing",)).items():
        if name in os.environ:
            section[key] = _parse_override(name, os.environ[name])
    return SharingConfig(
        enabled=section.get("enabled") is not False,
        background="always" if section.get("background") == "always" else "asked",
    )


_SHARING_BLOCK = re.compile(r"^sharing[ \t]*:.*(?:\n(?:[ \t#].*)?)*", re.MULTILINE)
"""The section in a file of the usual form: its first line, and those that are indented, comments or empty."""


def _sharing_section(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if "sharing" not in text:
        return {}
    import yaml

    try:
        block = _SHARING_BLOCK.search(text)
        loaded = yaml.safe_load(block.group() if block else text)
    except yaml.YAMLError:
        loaded = _read_file(path)
    section = loaded.get("sharing") if isinstance(loaded, dict) else None
    if isinstance(section, bool):
        return {"enabled": section}
    return dict(section) if isinstance(section, dict) else {}


def _read_file(path: Path) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: expected sections such as `storage:`, found {type(loaded).__name__}")
    if isinstance(loaded.get("sharing"), bool):
        loaded["sharing"] = {"enabled": loaded["sharing"]}  # `sharing: off`
    return loaded


def _with_environment(settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    merged = dict(settings)
    for name, keys in override_names(Config).items():
        if name in environment:
            _set(merged, keys, _parse_override(name, environment[name]))
    return merged


def override_names(section: type[Any], prefix: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Map every environment variable that overrides a key to the key's path."""
    names: dict[str, tuple[str, ...]] = {}
    for item in fields(section):
        keys = (*prefix, item.name)
        if isinstance(item.type, type) and is_dataclass(item.type):
            names |= override_names(item.type, keys)
        else:
            names["HYDRAMEM_" + "_".join(keys).upper()] = keys
    return names


def _parse_override(name: str, text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{name}: {text[:80]!r} cannot be read as a YAML value") from error


def _set(settings: dict[str, Any], keys: tuple[str, ...], value: Any) -> None:
    *sections, last = keys
    for section in sections:
        settings[section] = dict(settings.get(section) or {})
        settings = settings[section]
    settings[last] = value


def _validate(settings: Mapping[str, Any], where: str) -> Config:
    if not settings:
        return Config()  # without the validator, which takes longer to build than a small file to read
    from pydantic import ValidationError

    try:
        # JSON mode: strict about types, yet a YAML list may fill a tuple.
        return _adapter().validate_json(json.dumps(settings, default=str), strict=True)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc'])) or '(top)'}: {_problem(problem['msg'], problem['input'])}"
            for problem in error.errors()
        )
        raise ConfigError(f"{where}: {problems}") from error


@cache
def _adapter() -> "TypeAdapter[Config]":
    from pydantic import TypeAdapter

    return TypeAdapter(Config)


def _problem(message: str, value: object) -> str:
    if message == "Unexpected keyword argument":
        return "no such key"
    return f"{message[0].lower()}{message[1:]}, got {str(value)[:60]!r}"
