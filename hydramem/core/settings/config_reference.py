"""The configuration as text: every key with its type, default and why, read from the dataclasses."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hydramem.core import docstrings
from hydramem.core.config import Config

_HEADER = """\
# Every setting of HydraMem with its default. Keep only the keys that you change; others have their default.
# HydraMem reads this file from the store's folder, or the file that --config names. The environment variable
# HYDRAMEM_<SECTION>_<KEY> overrides a key.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key of the configuration.

    Attributes:
        path: Section and key names, outermost first.
        kind: Its type, as a person reads it.
    """

    path: tuple[str, ...]
    kind: str
    default: object
    why: str

    @property
    def variable(self) -> str:
        """The environment variable that overrides it."""
        return "HYDRAMEM_" + "_".join(self.path).upper()


def settings(section: type[Any] = Config, path: tuple[str, ...] = ()) -> Iterator[Setting]:
    """Yield every key, in the order of the dataclasses."""
    descriptions, hints, defaults = attributes(section), get_type_hints(section), section()
    for item in fields(section):
        hint, default = hints[item.name], getattr(defaults, item.name)
        if is_dataclass(hint):
            yield from settings(type(default), (*path, item.name))
        else:
            yield Setting(
                path=(*path, item.name), kind=_kind(hint), default=default, why=descriptions[item.name]
            )


def attributes(described: type[Any]) -> dict[str, str]:
    """Return the descriptions of a class's attributes, from its docstring."""
    return docstrings.section(described.__doc__, "Attributes")


def config_text() -> str:
    """Return a `config.yml` that holds every key with its default and one line of why."""
    return _HEADER + "".join(
        _section_text(item.name, type(getattr(Config(), item.name))) for item in fields(Config)
    )


def _section_text(name: str, section: type[Any]) -> str:
    lines = [f"\n# {docstrings.first_line(section.__doc__)}", f"{name}:"]
    descriptions, previous = attributes(section), ""
    for item in fields(section):
        if descriptions[item.name] != previous:  # keys with one description share its comment
            previous = descriptions[item.name]
            lines.append(f"  # {previous}")
        default = getattr(section(), item.name)
        lines += _roles_text(default) if is_dataclass(default) else [f"  {item.name}: {_yaml_value(default)}"]
    return "\n".join(lines) + "\n"


def _roles_text(roles: Any) -> list[str]:
    lines, descriptions = ["  roles:"], attributes(type(roles))
    for item in fields(roles):
        role = getattr(roles, item.name)
        keys = ", ".join(f"{key.name}: {_yaml_value(getattr(role, key.name))}" for key in fields(role))
        lines += [f"    # {descriptions[item.name]}", f"    {item.name}: {{{keys}}}"]
    return lines


def _yaml_value(value: object) -> str:
    """Write a value as YAML; JSON is YAML, and plain words need no quotes."""
    if isinstance(value, str) and re.fullmatch(r"(?!(?:null|true|false|yes|off)$)[A-Za-z_]{3,}", value):
        return value
    return json.dumps(value)


_KINDS = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    tuple[str, ...]: "list of texts",
}


def _kind(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(hint) if choice)
    if get_origin(hint) is tuple and get_origin(get_args(hint)[0]) is Literal:
        return f"list of {_kind(get_args(hint)[0])}"
    return _KINDS[hint]
