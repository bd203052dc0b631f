"""The command `config`: show the settings of a store and where each comes from, and change config.yml."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from cyclopts import App

from hydramem.cli.options import Given, Invocation
from hydramem.cli.output import show
from hydramem.cli.terminal import console, plain
from hydramem.core.config import Config
from hydramem.core.errors import ConfigError, InvalidInputError, StorageError
from hydramem.core.settings.config_loading import config_file, load_config, parsed_value, set_in_file
from hydramem.core.settings.config_reference import Setting, settings
from hydramem.core.settings.yaml_edits import with_value, without
from hydramem.sharing.owners import owner_of

Origin = Literal["default", "file", "environment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigValue:
    """One setting as it is in force.

    Attributes:
        key: Section and name.
        value: What is in force.
        origin: Where it comes from: the default, the file, or an environment variable.
        place: The file or the variable; empty for a default.
    """

    key: str
    value: object
    origin: Origin
    place: str = ""


def config_app() -> App:
    """Return the command with its four parts."""
    app = App(name="config", help="Show the settings of a store, and change its config.yml.")
    app.command(list_settings, name="list")
    app.command(get_setting, name="get")
    app.command(set_setting, name="set")
    app.command(unset_setting, name="unset")
    return app


def list_settings(*, changed: bool = False, invocation: Given) -> None:
    """List every setting with its value and where it comes from.

    Args:
        changed: Only those that are not the default.
    """
    rows = tuple(row for row in _values(invocation) if not changed or row.origin != "default")
    show(rows, as_json=invocation.json, nothing="every setting has its default")


def get_setting(key: str, *, invocation: Given) -> None:
    """Show a setting, or all of a section, and where its value comes from.

    Args:
        key: Section and name, such as search.min_relevance, or a section.
    """
    rows = tuple(row for row in _values(invocation) if row.key == key or row.key.startswith(f"{key}."))
    if not rows:
        raise _unknown(key)
    show(rows[0] if len(rows) == 1 else rows, as_json=invocation.json)


def set_setting(key: str, value: str, *, invocation: Given) -> None:
    """Set a setting in config.yml; its comments and all else stay as they are.

    Args:
        key: Section and name, such as search.min_relevance.
        value: The value as in YAML: true, 0.25, [a, b] or words.
    """
    setting = _setting(key)
    given: object = value if setting.kind == "text" else parsed_value(key, value)
    file = _file(invocation)
    text = _read(file)
    try:
        changed = with_value(text, setting.path, given)
    except InvalidInputError as error:
        raise ConfigError(f"{file}: {error}") from error
    _write(file, changed, setting, invocation)


def unset_setting(key: str, *, invocation: Given) -> None:
    """Take a setting out of config.yml, so that its default is in force again.

    Args:
        key: Section and name.
    """
    setting, file = _setting(key), _file(invocation)
    text = _read(file)
    try:
        changed = without(text, setting.path)
    except InvalidInputError as error:
        raise ConfigError(f"{file}: {error}") from error
    _write(file, changed, setting, invocation)


def _write(file: Path, text: str, setting: Setting, invocation: Invocation) -> None:
    try:
        set_in_file(file, text)
    except ConfigError as error:
        raise ConfigError(f"{error} (it is {setting.kind}); nothing was changed") from error
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror}") from error
    row = next(row for row in _values(invocation) if row.key == _dotted(setting))
    show(row, as_json=invocation.json)
    err = console(errors=True)
    if row.origin == "environment":
        err.print(plain(f"{row.place} is set and overrides the file"), style="yellow")
    if (owner := owner_of(invocation.folder)) is not None:
        said = f"process {owner.pid} ({owner.program}) holds the store and reads this when it starts again"
        err.print(plain(f"{said}; `hydramem stop` ends it" if owner.background else said), style="yellow")


def _values(invocation: Invocation) -> Iterator[ConfigValue]:
    """Yield every setting in force, in the order of the reference."""
    file = config_file(invocation.folder, invocation.config)
    config, own = load_config(file), load_config(file, environment={})
    defaults = Config()
    for setting in settings():
        value = _at(config, setting)
        if setting.variable in os.environ:
            origin, place = "environment", setting.variable
        elif _at(own, setting) != _at(defaults, setting):
            origin, place = "file", str(file)
        else:
            origin, place = "default", ""
        yield ConfigValue(key=_dotted(setting), value=value, origin=origin, place=place)  # type: ignore[arg-type]


def _at(config: Config, setting: Setting) -> Any:
    return reduce(getattr, setting.path, config)


def _dotted(setting: Setting) -> str:
    return ".".join(setting.path)


def _setting(key: str) -> Setting:
    known: Mapping[str, Setting] = {_dotted(setting): setting for setting in settings()}
    if key not in known:
        raise _unknown(key)
    return known[key]


def _unknown(key: str) -> InvalidInputError:
    names = [_dotted(setting) for setting in settings()]
    near = difflib.get_close_matches(key, names, n=3) or [name for name in names if name.startswith(key)][:3]
    hint = f"; did you mean {', '.join(near)}?" if near else "; `hydramem config list` shows all"
    return InvalidInputError(f"{key[:80]}: no such setting{hint}")


def _file(invocation: Invocation) -> Path:
    return config_file(invocation.folder, invocation.config) or invocation.folder / "config.yml"


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as YAML: {error}") from error
