"""The agents themselves accept what `hydramem install` wrote, and the folders of plugins and extensions."""

import json
import re

import pytest

from tests.hosts.real_agents.agents import CLAUDE_CODE, CODEX, GEMINI, OPENCODE
from tests.hosts.real_agents.desk import Desk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.mark.parametrize(
    "agent", [CLAUDE_CODE, GEMINI, OPENCODE], ids=lambda agent: agent.host, indirect=True
)
def test_the_agent_connects_to_the_server(desk: Desk) -> None:
    listed = desk.run("mcp", "list")
    plain = re.sub(r"\x1b\[\d*m", "", listed.stdout + listed.stderr)
    line = next(line for line in plain.splitlines() if "hydramem" in line)
    assert {"✔", "✓"} & set(line) and line.lower().endswith("connected"), line


@pytest.mark.parametrize("agent", [CODEX], ids=lambda agent: agent.host, indirect=True)
def test_codex_lists_the_server(desk: Desk) -> None:
    (server,) = json.loads(desk.run("mcp", "list", "--json").stdout)
    assert server["name"] == "hydramem" and server["enabled"]
    assert server["transport"]["command"].endswith("hydramem")
    assert server["transport"]["args"] == ["serve"]


@pytest.mark.parametrize(
    ("agent", "command", "said"),
    [
        (CLAUDE_CODE, ("plugin", "validate"), "Validation passed"),
        (GEMINI, ("extensions", "validate"), "successfully validated"),
    ],
    ids=["claude-code", "gemini"],
    indirect=["agent"],
)
def test_the_agent_accepts_the_folder_of_a_plugin(desk: Desk, command: tuple[str, ...], said: str) -> None:
    folder = desk.folder / "hydramem"
    desk.hydramem("plugin", desk.agent.host, str(folder))
    judged = desk.run(*command, str(folder))
    assert judged.returncode == 0 and said in judged.stdout + judged.stderr
