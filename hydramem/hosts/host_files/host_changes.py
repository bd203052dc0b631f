"""Plan what is written into the files of one host: its MCP server, its hooks or plugin, and its skills."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.hosts.host_files.file_changes import FileChange, read_bytes
from hydramem.hosts.host_files.host_table import PLUGIN_FOLDERS, SKILL_FOLDERS, Host, Paths, paths_in
from hydramem.hosts.host_files.launch_command import Launch, hook_command, server_entry
from hydramem.hosts.host_files.machine import Machine, Scope
from hydramem.hosts.host_files.managed_copies import CopyPlan, plan_copies, plan_removal
from hydramem.hosts.host_files.settings_file import plan_taking, plan_writing
from hydramem.hosts.host_files.settings_formats import (
    JsonSettings,
    OurSettings,
    SettingsFormat,
    TomlSettings,
)
from hydramem.hosts.host_files.skills import skill_files

Part = Literal["server", "hooks"]

_DATA = Path(__file__).parent.parent.parent / "data" / "hosts"
_PLUGIN = _DATA / "opencode" / "hydramem.js"
_PLUGIN_COMMAND = 'const COMMAND = ["hydramem"];'
"""The line of the plugin that names the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTarget:
    """For which machine and whose files, and whether to write."""

    machine: Machine
    scope: Scope = "user"
    dry_run: bool = False


def plan_settings(
    host: Host, target: HostTarget, launch: Launch, parts: Sequence[Part], *, remove: bool = False
) -> tuple[FileChange, ...]:
    """Plan the server, the hooks or both in a host's files of settings.

    Raises:
        InvalidInputError: The host has no files in this scope, or one cannot be parsed.
        StorageError: A file cannot be read.
    """
    by_path: dict[Path, tuple[SettingsFormat, OurSettings]] = {}
    for part in parts:
        places = host.servers if part == "server" else host.hooks
        if not places:
            continue
        paths = [Path(path) for path in paths_in(places, target.scope, target.machine, host.title)]
        for path in paths if remove else [first_of(paths)]:
            form, ours = by_path.get(path, (_format(host, path), OurSettings()))
            by_path[path] = (form, _with_part(ours, host, target, launch, part))
    plan = plan_taking if remove else plan_writing
    return tuple(change for path, (form, ours) in by_path.items() for change in plan(path, form, ours))


def _format(host: Host, path: Path) -> SettingsFormat:
    form = TomlSettings if path.suffix == ".toml" else JsonSettings
    return form(host.server_key, host.environment_key)


def _with_part(ours: OurSettings, host: Host, target: HostTarget, launch: Launch, part: Part) -> OurSettings:
    if part == "server":
        return OurSettings(server=server_entry(host, launch), hooks=ours.hooks)
    command = hook_command(host, launch, target.machine.platform)
    hook = {"type": "command", "command": command, "timeout": host.hook_timeout}
    return OurSettings(server=ours.server, hooks=tuple((event, {"hooks": [hook]}) for event in host.events))


def plan_plugin(host: Host, target: HostTarget, launch: Launch, *, remove: bool = False) -> CopyPlan:
    """Plan the plugin of a host that has no hooks.

    Raises:
        NotFoundError: This installation lacks the plugin.
        StorageError: A file cannot be read.
    """
    path = Path(paths_in(host.plugin, target.scope, target.machine, host.title)[0])
    if remove:
        return plan_removal(path.parent, [path.name])
    data = read_bytes(_PLUGIN)
    if data is None or _PLUGIN_COMMAND.encode() not in data:
        raise NotFoundError(f"{_PLUGIN}: this installation lacks the plugin; install hydramem again")
    command = f"const COMMAND = {json.dumps(launch.words(host))};"
    return plan_copies(path.parent, {path.name: data.replace(_PLUGIN_COMMAND.encode(), command.encode())})


def plan_skills(name: str, target: HostTarget, *, remove: bool = False) -> CopyPlan:
    """Plan the copies of the skills for a target of `SKILL_FOLDERS`.

    Raises:
        InvalidInputError: There is no such target or scope.
        StorageError: A file cannot be read.
    """
    if name not in SKILL_FOLDERS:
        raise InvalidInputError(f"target: {name[:80]!r} is none of {', '.join(SKILL_FOLDERS)}")
    places: Mapping[Scope, Paths] = SKILL_FOLDERS[name]
    folder = Path(paths_in(places, target.scope, target.machine, name)[0])
    return plan_removal(folder) if remove else plan_copies(folder, skill_files())


def plan_plugin_folder(name: str, folder: Path) -> CopyPlan:
    """Plan a folder that a host loads as one plugin: the server, the hooks and the skills.

    Raises:
        InvalidInputError: The host loads no such folder.
        StorageError: A file cannot be read.
    """
    if name not in PLUGIN_FOLDERS:
        raise InvalidInputError(f"host: {name[:80]!r} is none of {', '.join(PLUGIN_FOLDERS)}")
    root = _DATA / PLUGIN_FOLDERS[name]
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    skills = {f"skills/{name}": data for name, data in skill_files().items()}
    return plan_copies(folder, files | skills)


def first_of(paths: Sequence[Path]) -> Path:
    """Return the first path that exists, else the first."""
    return next((path for path in paths if path.exists()), paths[0])
