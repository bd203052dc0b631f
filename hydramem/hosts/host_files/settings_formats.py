"""What is ours in a host's file of settings: found, written and taken out, in JSON and in TOML."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hydramem.core.errors import InvalidInputError
from hydramem.core.settings.environment import HOME_VARIABLE, PROJECT_VARIABLE
from hydramem.hosts.host_files import json_edits
from hydramem.hosts.host_files.host_table import SERVER
from hydramem.hosts.host_files.json_text import Step, read_json
from hydramem.hosts.host_files.launch_command import is_hook_command
from hydramem.hosts.host_files.toml_edits import put_table, read_toml, take_table

_HOOKS = "hooks"
_ONLY_WHEN_NEW = frozenset({"enabled"})
"""Keys of the server that a person changes: they are set in a new entry only."""

Exists = Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class OurSettings:
    """What HydraMem has in one file of settings.

    Attributes:
        server: The entry of the MCP server, if it is there.
        hooks: Pairs of an event and a group of hooks, in the order of the file.
    """

    server: Mapping[str, Any] | None = None
    hooks: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return self.server is not None or bool(self.hooks)

    def without(self, other: "OurSettings") -> "OurSettings":
        """Return what is left when the kinds of settings that `other` has are gone."""
        return replace(
            self,
            server=self.server if other.server is None else None,
            hooks=() if other.hooks else self.hooks,
        )


class SettingsFormat(Protocol):
    """Reads and edits the text of a file of settings."""

    def find(self, text: str) -> OurSettings:
        """Return what is ours in a text."""

    def write(self, text: str, ours: OurSettings) -> str:
        """Return the text with ours in it: added where it is missing, else brought up to date."""

    def take(self, text: str, ours: OurSettings, before: str) -> str:
        """Return the text without the kinds of settings that `ours` has.

        Args:
            text: The text.
            ours: Which kinds go.
            before: The text before ours came in, as far as it is known: what was empty then stays.
        """


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """JSON with comments: servers below `server_key`, hooks below `hooks`."""

    server_key: str
    environment_key: str = "env"

    def find(self, text: str) -> OurSettings:
        """Return what is ours in a text.

        Raises:
            InvalidInputError: It is no JSON object.
        """
        root = read_json(_filled(text))
        if root.kind != "object":
            raise InvalidInputError("is no JSON object")
        server = root.find((self.server_key, SERVER))
        entry = server.data if server is not None and isinstance(server.data, dict) else None
        if server is not None and entry is None:
            raise InvalidInputError(f"{self.server_key}.{SERVER}: is no object")
        events = root.find((_HOOKS,))
        data = events.data if events is not None and isinstance(events.data, dict) else {}
        found = [
            (event, {**group, _HOOKS: ours})
            for event, groups in data.items()
            for group in (groups if isinstance(groups, list) else ())
            if (ours := [hook for hook in _hooks_of(group) if is_hook_command(hook.get("command"))])
        ]
        return OurSettings(server=entry, hooks=tuple(found))

    def write(self, text: str, ours: OurSettings) -> str:
        """Return the text with ours in it.

        Raises:
            InvalidInputError: It is no JSON, or something else stands where servers or hooks belong.
        """
        text, there = _filled(text), self.find(text)
        if ours.server is not None:
            text = self._write_server(text, ours.server, there.server)
        if ours.hooks:
            text = _write_hooks(text, ours.hooks)
        return text

    def _write_server(self, text: str, entry: Mapping[str, Any], there: Mapping[str, Any] | None) -> str:
        path = (self.server_key, SERVER)
        if there is None:
            return json_edits.put(text, path, entry)
        for key, value in entry.items():
            if isinstance(value, Mapping) and isinstance(there.get(key), Mapping):
                for name, inner in value.items():
                    text = json_edits.put(text, (*path, key, name), inner)
            elif key not in _ONLY_WHEN_NEW:
                text = json_edits.put(text, (*path, key), value)
        variables = there.get(self.environment_key)
        for name in stale_variables(entry.get(self.environment_key), variables):
            text = json_edits.take(text, (*path, self.environment_key, name))
        return text

    def take(self, text: str, ours: OurSettings, before: str) -> str:
        """Return the text without the kinds of settings that `ours` has."""
        text, root = _filled(text), read_json(_filled(before))
        if ours.server is not None:
            text = json_edits.take(text, (self.server_key, SERVER))
            text = _without_empty(text, (self.server_key,), root.find)
        if ours.hooks:
            text = _take_hooks(text, lambda path: root.find(path) is not None)
        return text


@dataclass(frozen=True, slots=True)
class TomlSettings:
    """TOML: the server is a table below `server_key`."""

    server_key: str
    environment_key: str = "env"

    def find(self, text: str) -> OurSettings:
        """Return what is ours in a text.

        Raises:
            InvalidInputError: It is no TOML.
        """
        servers = read_toml(text).get(self.server_key)
        return OurSettings(server=servers.get(SERVER) if isinstance(servers, dict) else None)

    def write(self, text: str, ours: OurSettings) -> str:
        """Return the text with ours in it.

        Raises:
            InvalidInputError: It is no TOML, or the servers stand within braces.
        """
        if ours.server is None:
            return text
        path, there = (self.server_key, SERVER), self.find(text).server
        stale = stale_variables(
            ours.server.get(self.environment_key), (there or {}).get(self.environment_key)
        )
        for name in stale:
            text = take_table(text, (*path, self.environment_key, name))
        return put_table(text, path, ours.server)

    def take(self, text: str, ours: OurSettings, before: str) -> str:
        """Return the text without the kinds of settings that `ours` has."""
        return text if ours.server is None else take_table(text, (self.server_key, SERVER))


def stale_variables(wanted: object, there: object) -> list[str]:
    """Return our variables that stand in an entry and are the default now."""
    kept = wanted if isinstance(wanted, Mapping) else {}
    found = there if isinstance(there, Mapping) else {}
    return [name for name in (HOME_VARIABLE, PROJECT_VARIABLE) if name in found and name not in kept]


def _filled(text: str) -> str:
    return text if text.strip("\ufeff \t\r\n") else text + "{}\n"


def _hooks_of(group: object) -> list[Mapping[str, Any]]:
    hooks = group.get(_HOOKS) if isinstance(group, dict) else None
    return [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []


def _write_hooks(text: str, wanted: tuple[tuple[str, Mapping[str, Any]], ...]) -> str:
    """Add a group for each event that has none of ours, and bring the commands of the others up to date."""
    events = {event for event, _ in wanted}
    text = _take_hooks(text, lambda path: len(path) == 1 or path[1] in events, keep=events)
    for event, group in wanted:
        places = _places(text, event)
        if not places:
            text = json_edits.append(text, (_HOOKS, event), group)
        (command,) = [hook["command"] for hook in group[_HOOKS] if is_hook_command(hook.get("command"))]
        for place in places:
            text = json_edits.put(text, (*place, "command"), command)
    return text


def _places(text: str, event: str) -> list[tuple[Step, ...]]:
    """Return the paths of our hooks of an event, the last first."""
    value = read_json(text).find((_HOOKS, event))
    groups = value.data if value is not None and isinstance(value.data, list) else []
    found: list[tuple[Step, ...]] = [
        (_HOOKS, event, place, _HOOKS, inner)
        for place, group in enumerate(groups)
        for inner, hook in enumerate(group[_HOOKS] if _hooks_of(group) else ())
        if isinstance(hook, dict) and is_hook_command(hook.get("command"))
    ]
    return found[::-1]


def _take_hooks(text: str, existed: Exists, keep: frozenset[str] | set[str] = frozenset()) -> str:
    """Take our hooks out of all events but those to keep, with the groups and events that become empty."""
    root = read_json(text).find((_HOOKS,))
    events = list(root.data) if root is not None and isinstance(root.data, dict) else []
    for event in events:
        places = _places(text, event) if event not in keep else []
        for place in places:
            text = json_edits.take(text, place)
            group = read_json(text).find(place[:-1])
            if group is not None and not group.items:
                text = json_edits.take(text, place[:-2])
        if places:
            text = _without_empty(text, (_HOOKS, event), existed)
    return text


def _without_empty(text: str, path: tuple[str, ...], existed: Callable[[tuple[str, ...]], object]) -> str:
    """Return the text without the containers of a path that are empty and were not there before."""
    while path:
        value = read_json(text).find(path)
        if value is None or value.items or existed(path):
            return text
        text, path = json_edits.take(text, path), path[:-1]
    return text
