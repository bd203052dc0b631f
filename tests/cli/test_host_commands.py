"""The commands that write into files of hosts, as a person types them."""

import json

import pytest

from hydramem.cli.main import with_own_scope
from tests.cli.conftest import in_own_project


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME", "HYDRAMEM_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_server_in_and_out(shell, home, store):
    assert "created: " in shell.ok("init", "--host", "claude-code")
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["hydramem"]
    assert entry["env"] == {"HYDRAMEM_HOME": str(store)}
    assert "unchanged" in shell.ok("init", "--host", "claude-code")
    assert "deleted" in shell.ok("init", "--host", "claude-code", "--remove")
    assert "nothing of ours" in shell.ok("init", "--host", "claude-code", "--remove")
    assert not home.exists()
    assert not store.exists(), "no memory is made for it"


def test_the_project_of_the_memory_and_the_files_of_the_project(shell, home, tmp_path):
    (tmp_path / ".git").mkdir()
    shell.ok("--project", "work", "init", "--host", "cursor", "--project")
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["hydramem"]
    assert entry["env"]["HYDRAMEM_PROJECT"] == "work"
    assert not home.exists()


@in_own_project
def test_the_variable_names_the_project_of_the_memory(shell, monkeypatch):
    monkeypatch.setenv("HYDRAMEM_PROJECT", "work")
    shell.ok("remember", "The ferry leaves at nine.")
    assert "ferry" in shell.ok("--project", "work", "recall", "When does the ferry leave?")
    assert "nothing" in shell.ok("--project", "default", "recall", "When does the ferry leave?")


def test_a_dry_run_is_a_difference(shell, home):
    shown = shell.ok("init", "--host", "codex", "--dry-run")
    assert "+[mcp_servers.hydramem]" in shown.splitlines()
    assert shell.json("init", "--host", "codex", "--dry-run")["diff"] == shown
    assert not home.exists()


def test_install_list_and_uninstall(shell, home):
    shell.ok("install", "claude-code")
    assert "SessionStart" in (home / ".claude" / "settings.json").read_text()
    rows = {row["name"]: row["installed"] for row in shell.json("skills", "list")}
    assert rows["hydramem-query"] == ["claude (user): current"]
    shell.ok("uninstall", "claude-code")
    assert not home.exists()


def test_skills_of_a_project(shell, tmp_path):
    shell.ok("skills", "install", "--project", "--target", "agents")
    assert (tmp_path / ".agents" / "skills" / "hydramem-remember" / "SKILL.md").exists()
    shell.ok("skills", "uninstall", "--target", "agents", "--project")
    assert not (tmp_path / ".agents").exists()


@pytest.mark.parametrize(
    ("host", "manifest"), [("claude-code", ".claude-plugin/plugin.json"), ("gemini", "gemini-extension.json")]
)
def test_a_folder_that_a_host_loads_as_a_plugin(shell, tmp_path, host, manifest):
    shell.ok("plugin", host, "made/hydramem")
    made = tmp_path / "made" / "hydramem"
    assert json.loads((made / manifest).read_text())["name"] == "hydramem"
    assert (made / "hooks" / "hooks.json").exists()
    assert (made / "skills" / "hydramem-query" / "SKILL.md").exists()
    (made / "hooks" / "hooks.json").write_text("{}")
    assert "left: a person has edited it" in shell.ok("plugin", host, "made/hydramem")
    assert (made / "hooks" / "hooks.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("init", "--host", "emacs"), "none of claude-code"),
        (("init", "--remove"), "--host"),
        (("init", "--host", "cursor", "--project", "--user"), "exclude"),
        (("install", "cursor"), "init --host cursor"),
        (("skills", "install", "--target", "emacs"), "none of claude"),
        (("skills", "install", "--target", "hermes", "--project"), "no files of a project"),
    ],
)
def test_what_is_wrong_is_said(shell, words, said):
    assert said in shell.wrong(*words)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("install codex --project", "install codex --in-project"),
        ("--project work install codex --project", "--project work install codex --in-project"),
        ("--json skills install --project", "--json skills install --in-project"),
        ("init --project work", "init --project work"),
        ("recall install --project work", "recall install --project work"),
    ],
)
def test_project_behind_a_command_of_hosts_is_their_own(line, expected):
    assert " ".join(with_own_scope(line.split())) == expected
