"""The commands that write HydraMem into the files of a host: init --host, install, uninstall and skills."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

from hydramem.cli.options import Given, Invocation
from hydramem.cli.output import show, write
from hydramem.cli.terminal import console, plain
from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files import install as host_files
from hydramem.hosts.host_files.host_changes import HostTarget
from hydramem.hosts.host_files.launch_command import Launch, this_launch
from hydramem.hosts.host_files.machine import this_machine
from hydramem.hosts.host_files.skills import list_skills

if TYPE_CHECKING:
    from hydramem.hosts.host_files.install import HostFiles

InProject = Annotated[
    bool,
    Parameter(
        name=("--in-project", "--project"),
        help="Write into the files of the project in this folder.",
        negative=(),
        show_default=False,
    ),
]
OfUser = Annotated[
    bool,
    Parameter(
        name="--user",
        help="Write into your own files, for all projects; the default.",
        negative=(),
        show_default=False,
    ),
]
DryRun = Annotated[
    bool,
    Parameter(
        name="--dry-run", help="Show what would change, and write nothing.", negative=(), show_default=False
    ),
]
SkillTarget = Annotated[
    str,
    Parameter(
        name="--target",
        help="claude, codex, gemini, opencode, cursor, github, hermes, or agents (~/.agents/skills).",
    ),
]


def add_host_commands(app: App, group: Group) -> None:
    """Add the commands of this module to an app."""
    app.command(install, group=group)
    app.command(uninstall, group=group)
    app.command(plugin, group=group)
    skills = App(name="skills", help="Install the skills for agents, list them, delete them.", group=group)
    skills.command(install_skills, name="install")
    skills.command(list_installed, name="list")
    skills.command(uninstall_skills, name="uninstall")
    app.command(skills)


def init_host(host: str, target: HostTarget, invocation: Invocation, *, remove: bool) -> None:
    """Write the MCP server into a host's file, or take it out again, and say what was written."""
    _report(host_files.init_host(host, target, _launch(target, invocation), remove=remove), invocation)


def install(
    host: str,
    *,
    in_project: InProject = False,
    user: OfUser = False,
    dry_run: DryRun = False,
    invocation: Given,
) -> None:
    """Write the MCP server, hooks and skills into a host: claude-code, codex, gemini or opencode.

    Args:
        host: The host.
    """
    target = target_of(in_project=in_project, user=user, dry_run=dry_run)
    _report(host_files.install(host, target, _launch(target, invocation)), invocation)


def uninstall(
    host: str,
    *,
    in_project: InProject = False,
    user: OfUser = False,
    dry_run: DryRun = False,
    invocation: Given,
) -> None:
    """Take the MCP server, hooks and skills out of a host again; the memory stays.

    Args:
        host: The host.
    """
    target = target_of(in_project=in_project, user=user, dry_run=dry_run)
    _report(host_files.install(host, target, _launch(target, invocation), remove=True), invocation)


def plugin(host: str, folder: Path, *, dry_run: DryRun = False, invocation: Given) -> None:
    """Write a folder that a host loads as one plugin: the MCP server, the hooks and the skills.

    Args:
        host: claude-code (for `claude --plugin-dir`), or gemini (for `gemini extensions link`).
        folder: The folder; for gemini, its last part must be `hydramem`.
    """
    target = target_of(in_project=False, user=False, dry_run=dry_run)
    _report(host_files.write_plugin(host, folder.expanduser().absolute(), target), invocation)


def install_skills(
    *,
    target: SkillTarget,
    in_project: InProject = False,
    user: OfUser = False,
    dry_run: DryRun = False,
    invocation: Given,
) -> None:
    """Copy the skills to where an agent looks for them; a copy that you have edited stays."""
    place = target_of(in_project=in_project, user=user, dry_run=dry_run)
    _report(host_files.install_skills(target, place), invocation)


def uninstall_skills(
    *,
    target: SkillTarget,
    in_project: InProject = False,
    user: OfUser = False,
    dry_run: DryRun = False,
    invocation: Given,
) -> None:
    """Delete the copies of the skills; a copy that you have edited stays."""
    place = target_of(in_project=in_project, user=user, dry_run=dry_run)
    _report(host_files.install_skills(target, place, remove=True), invocation)


def list_installed(*, invocation: Given) -> None:
    """List the skills, and where each is installed."""
    show(list_skills(this_machine()), as_json=invocation.json)


def target_of(*, in_project: bool, user: bool, dry_run: bool) -> HostTarget:
    """Return whose files are meant, on this machine.

    Raises:
        InvalidInputError: Both are named.
    """
    if in_project and user:
        raise InvalidInputError("--project and --user exclude each other")
    return HostTarget(machine=this_machine(), scope="project" if in_project else "user", dry_run=dry_run)


def _launch(target: HostTarget, invocation: Invocation) -> Launch:
    return this_launch(
        target.machine, store=invocation.folder, project=invocation.namespace, config=invocation.config
    )


def _report(done: "HostFiles", invocation: Invocation) -> None:
    if invocation.json:
        show(done, as_json=True)
        return
    out = console()
    if done.dry_run:
        out.print(plain(done.diff) or "nothing would change", markup=False, end="" if done.diff else "\n")
        return
    for file in done.files:
        write(f"{file.outcome}: {file.path}", out)
    if not done.files:
        write("nothing of ours is there", out)
    for note in done.notes:
        write(note, out)
