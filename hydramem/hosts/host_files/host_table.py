"""The hosts as data: where each keeps its MCP servers, its hooks and its skills, and in which shape."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.machine import Machine, Scope

Paths = Callable[[Machine], tuple[PurePath, ...]]
"""Where a file may be: the first that exists counts, else the first."""

SERVER = "hydramem"
"""The name of the MCP server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host.

    Attributes:
        name: As in `hydramem init --host NAME`.
        title: As its makers write it.
        servers: The file of MCP servers by scope; a scope that is missing does not exist.
        server_key: The key in that file below which servers stand by name.
        environment_key: The key of a server's environment variables.
        has_type: Whether a server says that it speaks over stdio.
        is_command_list: Whether a server's command and arguments are one list.
        has_windows: Whether it starts from a desktop and so does not know the search path of a shell.
        hooks: The file of hooks by scope.
        events: The events of its hooks that call HydraMem.
        hook_timeout: The time after which it gives a hook up, in its own unit.
        plugin: The file of the plugin that takes the place of hooks, by scope.
        skills: The name of its folder of skills, in `SKILL_FOLDERS`.
        notes: What a person has to do by scope.
    """

    name: str
    title: str
    servers: Mapping[Scope, Paths]
    server_key: str = "mcpServers"
    environment_key: str = "env"
    has_type: bool = False
    is_command_list: bool = False
    has_windows: bool = False
    hooks: Mapping[Scope, Paths] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    hook_timeout: int = 0
    plugin: Mapping[Scope, Paths] = field(default_factory=dict)
    skills: str = ""
    notes: Mapping[Scope, str] = field(default_factory=dict)


def claude_folder(machine: Machine) -> PurePath:
    """Return the folder of Claude Code."""
    return machine.named("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def codex_folder(machine: Machine) -> PurePath:
    """Return the folder of Codex."""
    return machine.named("CODEX_HOME", machine.home / ".codex")


def gemini_folder(machine: Machine) -> PurePath:
    """Return the folder of Gemini CLI."""
    return machine.named("GEMINI_CLI_HOME", machine.home) / ".gemini"


def hermes_folder(machine: Machine) -> PurePath:
    """Return the folder of Hermes."""
    return machine.named("HERMES_HOME", machine.home / ".hermes")


def _in_project(*names: str) -> Paths:
    return lambda machine: tuple(machine.project / name for name in names)


def _claude_servers(machine: Machine) -> tuple[PurePath, ...]:
    # In the folder that the variable names, or beside the folder that is the default.
    return (machine.named("CLAUDE_CONFIG_DIR", machine.home) / ".claude.json",)


def _opencode(machine: Machine) -> PurePath:
    return machine.config_folder / "opencode"


_RESTART = "Restart it, so that it starts the server."

HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        host.name: host
        for host in (
            Host(
                name="claude-code",
                title="Claude Code",
                servers={"user": _claude_servers, "project": _in_project(".mcp.json")},
                has_type=True,
                hooks={
                    "user": lambda machine: (claude_folder(machine) / "settings.json",),
                    "project": _in_project(".claude/settings.json"),
                },
                events=("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"),
                hook_timeout=10,
                skills="claude",
                notes={"project": "Claude Code asks once whether you trust the servers of .mcp.json."},
            ),
            Host(
                name="codex",
                title="Codex CLI",
                servers={
                    "user": lambda machine: (codex_folder(machine) / "config.toml",),
                    "project": _in_project(".codex/config.toml"),
                },
                server_key="mcp_servers",
                hooks={
                    "user": lambda machine: (codex_folder(machine) / "hooks.json",),
                    "project": _in_project(".codex/hooks.json"),
                },
                events=("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"),
                hook_timeout=10,
                skills="codex",
                notes={
                    "user": "Codex runs new hooks once you trust them: open `/hooks` in it.",
                    "project": "Codex reads these files in projects that you trust, and runs new hooks "
                    "once you trust them: open `/hooks` in it.",
                },
            ),
            Host(
                name="gemini",
                title="Gemini CLI",
                servers={
                    "user": lambda machine: (gemini_folder(machine) / "settings.json",),
                    "project": _in_project(".gemini/settings.json"),
                },
                hooks={
                    "user": lambda machine: (gemini_folder(machine) / "settings.json",),
                    "project": _in_project(".gemini/settings.json"),
                },
                events=("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
                hook_timeout=10_000,
                skills="gemini",
                notes={"project": "Gemini CLI runs hooks of a project only in a folder that you trust."},
            ),
            Host(
                name="opencode",
                title="OpenCode",
                servers={
                    "user": lambda machine: (
                        _opencode(machine) / "opencode.json",
                        _opencode(machine) / "opencode.jsonc",
                    ),
                    "project": _in_project("opencode.json", "opencode.jsonc"),
                },
                server_key="mcp",
                environment_key="environment",
                is_command_list=True,
                plugin={
                    "user": lambda machine: (_opencode(machine) / "plugin" / "hydramem.js",),
                    "project": _in_project(".opencode/plugin/hydramem.js"),
                },
                skills="opencode",
            ),
            Host(
                name="cursor",
                title="Cursor",
                servers={
                    "user": lambda machine: (machine.home / ".cursor" / "mcp.json",),
                    "project": _in_project(".cursor/mcp.json"),
                },
                has_windows=True,
                notes={"user": _RESTART, "project": _RESTART},
            ),
            Host(
                name="vscode",
                title="VS Code",
                servers={
                    "user": lambda machine: (machine.application_folder / "Code" / "User" / "mcp.json",),
                    "project": _in_project(".vscode/mcp.json"),
                },
                server_key="servers",
                has_type=True,
                has_windows=True,
            ),
            Host(
                name="windsurf",
                title="Windsurf",
                servers={
                    "user": lambda machine: (
                        machine.home / ".codeium" / "windsurf" / "mcp_config.json",
                        machine.home / ".codeium" / "mcp_config.json",
                    )
                },
                has_windows=True,
                notes={"user": _RESTART},
            ),
            Host(
                name="claude-desktop",
                title="Claude Desktop",
                servers={
                    "user": lambda machine: (
                        machine.application_folder / "Claude" / "claude_desktop_config.json",
                    )
                },
                has_windows=True,
                notes={"user": _RESTART},
            ),
        )
    }
)
"""Every host into whose files a server can be written, by name."""

INSTALLED = tuple(host.name for host in HOSTS.values() if host.events or host.plugin)
"""The hosts that have hooks or a plugin beside the server."""

SKILL_FOLDERS: Mapping[str, Mapping[Scope, Paths]] = MappingProxyType(
    {
        "claude": {
            "user": lambda machine: (claude_folder(machine) / "skills",),
            "project": _in_project(".claude/skills"),
        },
        "agents": {
            "user": lambda machine: (machine.home / ".agents" / "skills",),
            "project": _in_project(".agents/skills"),
        },
        "github": {
            "user": lambda machine: (machine.home / ".copilot" / "skills",),
            "project": _in_project(".github/skills"),
        },
        "hermes": {"user": lambda machine: (hermes_folder(machine) / "skills",)},
        "codex": {
            "user": lambda machine: (codex_folder(machine) / "skills",),
            "project": _in_project(".codex/skills"),
        },
        "gemini": {
            "user": lambda machine: (gemini_folder(machine) / "skills",),
            "project": _in_project(".gemini/skills"),
        },
        "opencode": {
            "user": lambda machine: (_opencode(machine) / "skills",),
            "project": _in_project(".opencode/skills"),
        },
        "cursor": {
            "user": lambda machine: (machine.home / ".cursor" / "skills",),
            "project": _in_project(".cursor/skills"),
        },
    }
)
"""Where agents look for skills, by the target of `hydramem skills install`."""


PLUGIN_FOLDERS: Mapping[str, str] = MappingProxyType(
    {"claude-code": "claude_code_plugin", "gemini": "gemini_extension"}
)
"""The folder in `data/hosts` of each host that loads a folder of server, hooks and skills as one plugin."""


def host_named(name: str) -> Host:
    """Return a host.

    Raises:
        InvalidInputError: There is no such host.
    """
    if name not in HOSTS:
        raise InvalidInputError(f"host: {name[:80]!r} is none of {', '.join(HOSTS)}")
    return HOSTS[name]


def paths_in(
    places: Mapping[Scope, Paths], scope: Scope, machine: Machine, what: str
) -> tuple[PurePath, ...]:
    """Return the paths of a scope.

    Raises:
        InvalidInputError: There are none; `what` names the thing.
    """
    if scope not in places:
        raise InvalidInputError(f"{what} has no files of a {scope}, only of a {next(iter(places))}")
    return places[scope](machine)
