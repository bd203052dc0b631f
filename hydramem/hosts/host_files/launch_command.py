"""The commands by which a host starts HydraMem: the MCP server and the hook program."""

import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from hydramem.core.settings.environment import HOME_VARIABLE, PROJECT_VARIABLE
from hydramem.hosts.host_files.host_table import Host
from hydramem.hosts.host_files.machine import Machine

_HOST_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How HydraMem is started on this machine, and with which memory.

    Attributes:
        by_name: The program's words for a host with the search path of a shell.
        by_path: Its words with the whole path.
        store: The store; None for the default.
        project: The project of the memory; None for the default.
        config: A file of settings; None for the one in the store.
    """

    by_name: tuple[str, ...]
    by_path: tuple[str, ...]
    store: str | None = None
    project: str | None = None
    config: str | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables that name the memory where it is not the default."""
        given = {HOME_VARIABLE: self.store, PROJECT_VARIABLE: self.project}
        return {name: value for name, value in given.items() if value is not None}

    def program(self, host: Host) -> tuple[str, ...]:
        """Return the words that start the program in a host."""
        return self.by_path if host.has_windows else self.by_name

    def words(self, host: Host) -> tuple[str, ...]:
        """Return the words that start the program in a host, and its memory as options."""
        options = (("--store", self.store), ("--project", self.project), ("--config", self.config))
        given = tuple(word for name, value in options if value is not None for word in (name, value))
        return (*self.program(host), *given)


def server_entry(host: Host, launch: Launch) -> dict[str, object]:
    """Return the entry of the MCP server in the shape of a host."""
    program, *before = launch.program(host)
    config = ("--config", launch.config) if launch.config is not None else ()
    arguments = [*before, *config, "serve"]
    entry: dict[str, object] = {}
    if host.is_command_list:
        entry |= {"type": "local", "command": [program, *arguments]}
    else:
        entry |= {"type": "stdio"} if host.has_type else {}
        entry |= {"command": program, "args": arguments}
    if environment := launch.environment():
        entry[host.environment_key] = environment
    return entry | ({"enabled": True} if host.is_command_list else {})


def hook_command(host: Host, launch: Launch, platform: str) -> str:
    """Return the command line of a host's hooks, as the shell of the platform takes it."""
    words = (*launch.words(host), "hook", host.name)
    if platform == "win32":
        return " ".join(f'"{word}"' if re.search(r"[^\w./\\:-]", word) else word for word in words)
    return shlex.join(words)


def is_hook_command(command: object) -> bool:
    """Whether a command line is one of HydraMem's hooks, with whatever path and options."""
    if not isinstance(command, str):
        return False
    *before, subcommand, host = ["", "", *command.split()]
    programs = [re.split(r"[/\\]", word.strip("\"'"))[-1] for word in before]
    return subcommand == "hook" and _HOST_NAME.fullmatch(host) is not None and _starts_hydramem(programs)


def _starts_hydramem(words: list[str]) -> bool:
    """Whether words, without their paths, name the program or run its module."""
    if "hydramem" in words or "hydramem.exe" in words:
        return True
    return any(
        first.startswith("python") and rest == ["-m", "hydramem"]
        for (first, *rest) in zip(words, words[1:], words[2:], strict=False)
    )


def chosen_launch(
    *, found: str | None, running: tuple[str, ...], activated: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that start this program by name, and by path.

    Args:
        found: Where the search path has `hydramem`; None where it has not.
        running: The words that start the running program.
        activated: The folder of the virtual environment that this shell has activated, if any: its
            programs are on the search path of this shell only.
    """
    if found is None:
        return running, running
    is_lasting = activated is None or not PurePath(found).is_relative_to(activated)
    return ("hydramem",) if is_lasting else (found,), (found,)


def this_launch(machine: Machine, *, store: Path, project: str, config: Path | None) -> Launch:
    """Return how the running program is started again, with this memory."""
    found = shutil.which("hydramem")
    own = Path(sys.argv[0])
    running = (str(own.absolute()),) if own.stem == "hydramem" else (sys.executable, "-m", "hydramem")
    variables: Mapping[str, str] = machine.environment
    activated = variables.get("VIRTUAL_ENV") or variables.get("CONDA_PREFIX")
    by_name, by_path = chosen_launch(found=found, running=running, activated=activated)
    is_default = store == Path(machine.home, ".hydramem").resolve()
    return Launch(
        by_name=by_name,
        by_path=by_path,
        store=None if is_default else str(store),
        project=None if project == "default" else project,
        config=None if config is None else str(config.expanduser().resolve()),
    )
