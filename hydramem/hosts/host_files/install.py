"""Write HydraMem into a host: its MCP server, hooks, plugin and skills; and take them out again.

Everything is planned first: a file that cannot be parsed stops it, and nothing is written.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.hermes import plugin_files as hermes
from hydramem.hosts.host_files.file_changes import FileChange, apply_changes, difference
from hydramem.hosts.host_files.host_changes import (
    HostTarget,
    plan_plugin,
    plan_plugin_folder,
    plan_settings,
    plan_skills,
)
from hydramem.hosts.host_files.host_table import HOSTS, INSTALLED, Host, host_named
from hydramem.hosts.host_files.launch_command import Launch
from hydramem.hosts.host_files.machine import Scope

OTHER_HOSTS: dict[str, Callable[..., Sequence[FileChange]]] = {"hermes": hermes.planned_changes}
"""Hosts that plan all of their changes themselves, by name: called with a `Machine` and `remove`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What became of one file.

    Attributes:
        outcome: created, changed, deleted, unchanged, or left: a person has edited it.
        path: The file.
    """

    outcome: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFiles:
    """What was written for a host, or would be.

    Attributes:
        target: The host, or the target of skills.
        scope: Whose files: the user's or the project's.
        dry_run: Whether nothing was written.
        files: The files.
        notes: What a person has to do now.
        diff: The changes as a unified difference, on a dry run.
    """

    target: str
    scope: Scope
    dry_run: bool
    files: tuple[FileOutcome, ...]
    notes: tuple[str, ...] = ()
    diff: str = ""


def init_host(name: str, target: HostTarget, launch: Launch, *, remove: bool = False) -> HostFiles:
    """Write the MCP server into a host's file, or take it out again.

    Args:
        name: The host.
        target: Whose files.
        launch: How the host starts HydraMem.
        remove: Take the server out.

    Raises:
        InvalidInputError: There is no such host or scope, or its file cannot be parsed.
        StorageError: A file cannot be read or written.
    """
    host = host_named(name)
    changes = plan_settings(host, target, launch, ("server",), remove=remove)
    return _apply(name, target, changes, notes=() if remove else _notes(host, target))


def install(name: str, target: HostTarget, launch: Launch, *, remove: bool = False) -> HostFiles:
    """Write the MCP server, the hooks or the plugin, and the skills into a host, or take all of them out.

    Args:
        name: The host.
        target: Whose files.
        launch: How the host starts HydraMem.
        remove: Take them out.

    Raises:
        InvalidInputError: There is no such host or scope, or a file cannot be parsed.
        NotFoundError: This installation lacks a file.
        StorageError: A file cannot be read or written.
    """
    if name in OTHER_HOSTS:
        if target.scope == "project":
            raise InvalidInputError(f"{name} has no files of a project, only of a user")
        return _apply(name, target, OTHER_HOSTS[name](target.machine, remove=remove))
    if name not in INSTALLED:
        known = ", ".join((*INSTALLED, *OTHER_HOSTS))
        instead = f"; `hydramem init --host {name}` writes its MCP server" if name in HOSTS else ""
        raise InvalidInputError(f"host: {name[:80]!r} is none of {known}{instead}")
    host = host_named(name)
    changes = list(plan_settings(host, target, launch, ("server", "hooks"), remove=remove))
    copies = [plan_skills(host.skills, target, remove=remove)]
    if host.plugin:
        copies.append(plan_plugin(host, target, launch, remove=remove))
    for plan in copies:
        changes += plan.changes
    edited = tuple(path for plan in copies for path in plan.edited)
    return _apply(name, target, changes, edited, () if remove else _notes(host, target))


def install_skills(name: str, target: HostTarget, *, remove: bool = False) -> HostFiles:
    """Copy the skills to where an agent looks for them, or delete the copies.

    Args:
        name: A target of skills.
        target: Whose files.
        remove: Delete the copies that nobody has edited.

    Raises:
        InvalidInputError: There is no such target or scope.
        StorageError: A file cannot be read or written.
    """
    plan = plan_skills(name, target, remove=remove)
    return _apply(name, target, plan.changes, plan.edited)


def write_plugin(name: str, folder: Path, target: HostTarget) -> HostFiles:
    """Write a folder that a host loads as one plugin: the server, the hooks and the skills.

    Args:
        name: The host: claude-code or gemini.
        folder: The folder, which need not exist.
        target: For which machine.

    Raises:
        InvalidInputError: The host loads no such folder.
        StorageError: A file cannot be read or written.
    """
    plan = plan_plugin_folder(name, folder)
    return _apply(name, target, plan.changes, plan.edited)


def _notes(host: Host, target: HostTarget) -> tuple[str, ...]:
    return (host.notes[target.scope],) if target.scope in host.notes else ()


def _apply(
    name: str,
    target: HostTarget,
    changes: Iterable[FileChange],
    edited: Sequence[Path] = (),
    notes: tuple[str, ...] = (),
) -> HostFiles:
    """Write the changes, or show them, and say what became of each file."""
    changes = tuple(changes)
    if not target.dry_run:
        apply_changes(changes, within=(Path(target.machine.home), Path(target.machine.project)))
    shown = [
        FileOutcome(
            outcome=f"{change.kind} (backup)" if change.is_backup else change.kind, path=str(change.path)
        )
        for change in changes
        if not (change.is_backup and change.kind == "unchanged")
        and (change.before, change.after) != (None, None)
    ]
    left = [FileOutcome(outcome="left: a person has edited it", path=str(path)) for path in edited]
    return HostFiles(
        target=name,
        scope=target.scope,
        dry_run=target.dry_run,
        files=(*shown, *left),
        notes=notes,
        diff=difference(changes) if target.dry_run else "",
    )
