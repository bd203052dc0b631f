"""Load the configuration once: defaults, then a YAML file, then the environment.

`config.yml` at the root of the repository shows every key with its default. A key can be overridden as
`HYDRAMEM_<SECTION>_<KEY>`.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from hydramem.core.config import Config, SharingConfig
from hydramem.core.errors import ConfigError


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
        loaded = yaml.load(path.read_text(encoding="utf-8"), _loader())  # noqa: S506 - a safe one
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: expected sections such as `storage:`, found {type(loaded).__name__}")
    if isinstance(loaded.get("sharing"), bool):
        loaded["sharing"] = {"enabled": loaded["sharing"]}  # `sharing: off`
    return loaded


def _loader() -> type[Any]:
    """Return the loader of plain values: the one in C, ten times as fast, where PyYAML was built with it."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        return Config()
    import msgspec

    # As JSON: a YAML date is text, as everywhere else.
    plain = json.loads(json.dumps(settings, default=str))
    try:
        unknown = _unknown_key(plain, Config)
        if unknown:
            raise ConfigError(f"{where}: {'.'.join(unknown)}: no such key")
        return msgspec.convert(plain, Config, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_problem(str(error), plain)}") from error


def _unknown_key(settings: object, section: type[Any]) -> tuple[str, ...]:
    """Return the path of the first key that a section does not have; empty where there is none."""
    if not isinstance(settings, dict):
        return ()
    types = {item.name: item.type for item in fields(section)}
    for name, value in settings.items():
        inner = types.get(name)
        if inner is None:
            return (name,)
        found = _unknown_key(value, inner) if isinstance(inner, type) and is_dataclass(inner) else ()
        if found:
            return (name, *found)
    return ()


def _problem(message: str, settings: object) -> str:
    """Return what is wrong, and where: msgspec says `Expected ..., got ... - at `$.section.key``."""
    said, _, place = message.rpartition(" - at `$.")
    if not said:
        return f"(top): {message}"
    keys = place.rstrip("`").split(".")
    value: Any = settings
    for key in keys:
        name, _, index = key.partition("[")
        value = value[name]
        if index:
            value = value[int(index.rstrip("]"))]
    return f"{'.'.join(keys)}: {said[0].lower()}{said[1:]}: {str(value)[:60]!r}"
