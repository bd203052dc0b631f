"""Where each host keeps its files, on each system; no file is touched."""

from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.hosts.host_files.host_table import HOSTS, SKILL_FOLDERS, host_named, paths_in
from hydramem.hosts.host_files.machine import Machine
from tests import ROOT


def machine(platform: str, **environment: str) -> Machine:
    kind: type[PurePath] = PureWindowsPath if platform == "win32" else PurePosixPath
    home = {"linux": "/srv/ada", "darwin": "/Volumes/ada", "win32": "C:\\Users\\ada"}[platform]
    return Machine(platform=platform, home=kind(home), project=kind("/work/ferry"), environment=environment)


def servers(host: str, where: Machine, scope: str = "user") -> list[str]:
    return [str(path) for path in paths_in(HOSTS[host].servers, scope, where, host)]


@pytest.mark.parametrize(
    ("host", "platform", "environment", "expected"),
    [
        ("claude-code", "linux", {}, "/srv/ada/.claude.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("codex", "darwin", {"CODEX_HOME": "/x"}, "/x/config.toml"),
        ("gemini", "linux", {"GEMINI_CLI_HOME": "/g"}, "/g/.gemini/settings.json"),
        ("opencode", "linux", {}, "/srv/ada/.config/opencode/opencode.json"),
        ("opencode", "linux", {"XDG_CONFIG_HOME": "/cfg"}, "/cfg/opencode/opencode.json"),
        ("cursor", "win32", {}, "C:\\Users\\ada\\.cursor\\mcp.json"),
        ("vscode", "darwin", {}, "/Volumes/ada/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {"APPDATA": "D:\\Roaming"}, "D:\\Roaming\\Code\\User\\mcp.json"),
        ("windsurf", "win32", {}, "C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json"),
        (
            "claude-desktop",
            "darwin",
            {},
            "/Volumes/ada/Library/Application Support/Claude/claude_desktop_config.json",
        ),
    ],
)
def test_the_file_of_servers(host, platform, environment, expected):
    assert servers(host, machine(platform, **environment))[0] == expected


def test_files_of_a_project():
    where = machine("linux")
    found = {
        name: servers(name, where, "project")[0] for name, host in HOSTS.items() if "project" in host.servers
    }
    assert found == {
        "claude-code": "/work/ferry/.mcp.json",
        "codex": "/work/ferry/.codex/config.toml",
        "gemini": "/work/ferry/.gemini/settings.json",
        "opencode": "/work/ferry/opencode.json",
        "cursor": "/work/ferry/.cursor/mcp.json",
        "vscode": "/work/ferry/.vscode/mcp.json",
    }


def test_what_is_not_known_is_refused_with_what_is():
    with pytest.raises(InvalidInputError, match="no files of a project"):
        servers("windsurf", machine("linux"), "project")
    with pytest.raises(InvalidInputError, match=r"'emacs' is none of claude-code, .*windsurf"):
        host_named("emacs")


def test_skills_and_second_names_of_files():
    assert servers("windsurf", machine("linux"))[1] == "/srv/ada/.codeium/mcp_config.json"
    assert servers("opencode", machine("linux"))[1].endswith("opencode.jsonc")
    where = machine("linux", CODEX_HOME="/x", HERMES_HOME="/h")
    found = {
        (name, scope): str(paths(where)[0])
        for name, scopes in SKILL_FOLDERS.items()
        for scope, paths in scopes.items()
    }
    assert found["claude", "user"] == "/srv/ada/.claude/skills"
    assert found["agents", "project"] == "/work/ferry/.agents/skills"
    assert found["github", "project"] == "/work/ferry/.github/skills"
    assert found["codex", "user"] == "/x/skills"
    assert found["hermes", "user"] == "/h/skills"
    assert ("hermes", "project") not in found


def test_the_page_of_hosts_names_every_host_and_file():
    page = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    where = machine("linux")
    for name, host in HOSTS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        for scope in host.servers:
            assert all(path.rsplit("/", 1)[1] in row for path in servers(name, where, scope))
        assert host.server_key in row
        assert all(event in page for event in host.events)
    assert all(f"`{target}`" in page for target in SKILL_FOLDERS)
