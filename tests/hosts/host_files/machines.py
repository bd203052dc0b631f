"""Machines for tests: a home and a project in a temporary folder, and how HydraMem is started there."""

from pathlib import Path

from hydramem.hosts.host_files.host_changes import HostTarget
from hydramem.hosts.host_files.launch_command import Launch
from hydramem.hosts.host_files.machine import Machine, Scope

LAUNCH = Launch(by_name=("hydramem",), by_path=("/opt/bin/hydramem",))
OTHER_STORE = Launch(
    by_name=("hydramem",), by_path=("/opt/bin/hydramem",), store="/srv/my memory", project="work"
)


def target(folder: Path, scope: Scope = "user", *, dry_run: bool = False, **environment: str) -> HostTarget:
    machine = Machine(
        platform="linux", home=folder / "home", project=folder / "project", environment=environment
    )
    return HostTarget(machine=machine, scope=scope, dry_run=dry_run)


def tree(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
