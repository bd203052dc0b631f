"""Load the configuration once: defaults, then a YAML file, then the environment.

`config.yml` at the root of the repository shows every key with its default. A key can be overridden as
`HYDRAMEM_<SECTION>_<KEY>`.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

from hydramem.core.config import Config, HooksConfig, SharingConfig
from hydramem.core.errors import ConfigError
from hydramem.core.settings.environment import config_file as config_file
from hydramem.core.settings.environment import make_store_folder


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


def set_in_file(path: Path, text: str) -> None:
    """Write a file of settings whole, once its text is known to be right.

    Raises:
        ConfigError: The text is no valid configuration; the file stays as it is.
        OSError: It cannot be written.
    """
    _validate(_sections(text, path), str(path))
    make_store_folder(path.parent)
    target = path.resolve()  # a link stays one
    beside = target.with_name(f"{target.name}.new")
    try:
        with beside.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


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
    section = _quick_section(path, "sharing", SharingConfig)
    return SharingConfig(
        enabled=section.get("enabled") is not False,
        background="always" if section.get("background") == "always" else "asked",
    )


def load_section(path: Path | None, name: Literal["hooks"]) -> Config:
    """Return the settings of one section of a file and of the environment; all others have their defaults.

    Args:
        path: A YAML file; None reads none.
        name: The section.

    Raises:
        ConfigError: As `load_config`, about this section.
    """
    section = _quick_section(path, name, HooksConfig)
    return _validate({name: section} if section else {}, str(path))


_SECTION_BLOCKS = {
    name: re.compile(rf"^{name}[ \t]*:.*(?:\n(?:[ \t#].*)?)*", re.MULTILINE) for name in ("sharing", "hooks")
}
"""Sections in a file of the usual form: the first line, and those that are indented, comments or empty."""


def _quick_section(path: Path | None, name: str, section: type[Any]) -> dict[str, Any]:
    """Return the values of a section that a file and the environment set."""
    found = {} if path is None else _section_of_file(path, name)
    for variable, (_, key) in override_names(section, (name,)).items():
        if variable in os.environ:
            found[key] = parsed_value(variable, os.environ[variable])
    return found


def _section_of_file(path: Path, name: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if name not in text:
        return {}
    import yaml

    try:
        block = _SECTION_BLOCKS[name].search(text)
        loaded = yaml.safe_load(block.group() if block else text)
    except yaml.YAMLError:
        loaded = _read_file(path)
    section = loaded.get(name) if isinstance(loaded, dict) else None
    if name == "sharing":
        section = _as_section(section)
    return dict(section) if isinstance(section, dict) else {}


def _read_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    return _sections(text, path)


def _sections(text: str, path: Path) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.load(text, _loader())  # noqa: S506 - a safe one
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {error}") from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path}: expected sections such as `storage:`, found {type(loaded).__name__}")
    if "sharing" in loaded:
        loaded["sharing"] = _as_section(loaded["sharing"])
    return loaded


def _as_section(sharing: object) -> object:
    """Return the section `sharing`, which can be written as `sharing: off`."""
    return {"enabled": sharing} if isinstance(sharing, bool) else sharing


def _loader() -> type[Any]:
    """Return the loader of plain values: the one in C, ten times as fast, where PyYAML was built with it."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _with_environment(settings: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    merged = dict(settings)
    for name, keys in override_names(Config).items():
        if name in environment:
            _set(merged, keys, parsed_value(name, environment[name]))
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


def parsed_value(name: str, text: str) -> Any:
    """Return the value that a text is in YAML.

    Raises:
        ConfigError: It is none; the message begins with the name.
    """
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
