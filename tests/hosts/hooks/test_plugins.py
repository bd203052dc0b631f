"""The folders that hosts load: their manifests, and the plugin of OpenCode as node runs it."""

import json
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.host_events import EVENTS
from hydramem.hosts.hooks.said_text import said_text
from tests.hosts.hooks.conftest import turns

PLUGINS = Path(str(files("hydramem"))) / "data" / "hosts"
CLAUDE, GEMINI, OPENCODE = (
    PLUGINS / name for name in ("claude_code_plugin", "gemini_extension", "opencode/hydramem.js")
)
with_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH")
SERVER = {"hydramem": {"command": "hydramem", "args": ["serve"]}}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("folder", "host", "second"), [(CLAUDE, "claude-code", 1), (GEMINI, "gemini", 1000)])
def test_every_event_of_a_host_calls_the_hook(folder: Path, host: str, second: int) -> None:
    hooks = read(folder / "hooks" / "hooks.json")["hooks"]
    assert set(hooks) == set(EVENTS[host])
    for [entry] in hooks.values():
        [call] = entry["hooks"]
        assert (call["type"], call["command"]) == ("command", f"hydramem hook {host}")
        assert call["timeout"] == 10 * second, "in the unit of the host"
        assert "async" not in call, "a host that ends drops what runs beside it"


def test_manifests_name_this_version_and_the_server() -> None:
    claude, gemini = read(CLAUDE / ".claude-plugin/plugin.json"), read(GEMINI / "gemini-extension.json")
    assert claude["version"] == gemini["version"] == hydramem.__version__
    assert claude["name"] == gemini["name"] == "hydramem"
    assert (CLAUDE / claude["mcpServers"]).is_file()
    assert read(CLAUDE / ".mcp.json")["mcpServers"] == gemini["mcpServers"] == SERVER


def test_the_plugin_of_opencode_has_the_line_that_install_replaces() -> None:
    lines = OPENCODE.read_text(encoding="utf-8").splitlines()
    assert lines.count('const COMMAND = ["hydramem"];') == 1


_PATIENT = """
import runpy
from hydramem.hosts.hooks.deadline import Deadline
Deadline.__init__.__defaults__ = (60.0,)
runpy.run_module("hydramem", run_name="__main__")
"""
"""`hydramem` whose hooks may take as long as a busy machine makes them."""

_RUN = """
import { pathToFileURL } from "node:url";
const { HydraMem } = await import(pathToFileURL(process.argv[2]).href);
const directory = process.argv[3];
const messages = [];
const client = { session: { messages: async () => ({ data: messages }) } };
const load = () => HydraMem({ client, directory });
const plugins = [await load(), await load()];
const each = async (name, ...given) => { for (const one of plugins) await one[name]?.(...given); };
const system = async (sessionID) => {
  const output = { system: ["base"] };
  await each("experimental.chat.system.transform", { sessionID }, output);
  return output.system.slice(1);
};
const text = (text, more) => ({ type: "text", text, ...more });
const seen = {};
const asked = [text('"Which database does billing use?"'), text("injected", { synthetic: true })];
const child = { info: { id: "child", parentID: "a" } };
await each("event", { event: { type: "session.created", properties: child } });
await each("chat.message", { sessionID: "child" }, { parts: asked });
seen.child = await system("child");
seen.before = await system("a");
await each("chat.message", { sessionID: "a" }, { parts: asked });
seen.first = await system("a");
await each("chat.message", { sessionID: "a" }, { parts: [text("And which database again?")] });
seen.second = await system("a");
const time = { created: 1795000000000 };
messages.push({ info: { id: "m1", role: "user", time }, parts: asked });
const answer = [{ type: "reasoning", text: "secret" }, text("MySQL.")];
messages.push({ info: { id: "m2", role: "assistant", time }, parts: answer });
for (let again = 0; again < 2; again++)
  await each("event", { event: { type: "session.idle", properties: { sessionID: "a" } } });
await each("experimental.session.compacting", { sessionID: "a" }, { context: [] });
seen.compacted = await system("a");
await each("chat.message", { sessionID: "a" }, { parts: [text("Go on with the database.")] });
seen.anew = await system("a");
for (const one of plugins) await one.dispose();
console.log(JSON.stringify(seen));
"""


@with_node
@pytest.mark.costly  # a process for each event
def test_the_plugin_of_opencode_injects_and_captures(
    memory: hydramem.Memory, place: HookPlace, tmp_path: Path
) -> None:
    memory.remember("Billing uses the database MySQL 8.")
    memory.prime("What is loaded at the first question?")
    seen, errors = run_plugin(tmp_path, place, [sys.executable, "-c", _PATIENT])
    assert errors == ""
    assert seen["before"] == seen["child"] == [], "a title is asked for without a message"
    [block] = seen["first"]
    assert "MySQL 8" in block and said_text(block) == ""
    assert seen["second"] == [block], "what the session was given stays in its prompts"
    assert seen["compacted"] == []
    assert ["MySQL 8" in one for one in seen["anew"]] == [True]
    said = [("user", "Which database does billing use?"), ("assistant", "MySQL.")]
    assert turns(memory, "opencode:a") == said


@with_node
@pytest.mark.parametrize("program", ["/nowhere/hydramem", "/bin/cat"])
def test_the_plugin_of_opencode_goes_on_without_the_program(
    free_place: HookPlace, tmp_path: Path, program: str
) -> None:
    seen, errors = run_plugin(tmp_path, free_place, [program])
    assert errors == "" and set(map(str, seen.values())) == {"[]"}


def run_plugin(tmp_path: Path, place: HookPlace, command: list[str]) -> tuple[dict[str, list[str]], str]:
    text = OPENCODE.read_text(encoding="utf-8").replace("MILLISECONDS = 2000", "MILLISECONDS = 60000")
    store = (
        [*command, "--store", str(place.store), "--project", str(place.project)]
        if len(command) > 1
        else command
    )
    plugin, program = tmp_path / "hydramem.mjs", tmp_path / "run.mjs"
    plugin.write_text(text.replace('["hydramem"]', json.dumps(store)), encoding="utf-8")
    program.write_text(_RUN, encoding="utf-8")
    done = subprocess.run(
        ["node", str(program), str(plugin), "/srv/ada/shop"],
        capture_output=True,
        text=True,
        timeout=240,
        env=dict(os.environ),
        check=False,
    )
    return json.loads(done.stdout or "{}"), done.stderr


@with_node
@pytest.mark.parametrize(("answer", "times"), [("", 2), ('{"kept": true}', 1)])
def test_messages_are_told_again_until_the_program_has_kept_them(
    free_place: HookPlace, tmp_path: Path, answer: str, times: int
) -> None:
    """A program that ran out of time ends with exit code 0 and says nothing."""
    told, program = tmp_path / "told", tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ncat >> '{told}'; echo >> '{told}'\nprintf '%s' '{answer}'\n")
    program.chmod(0o755)
    _, errors = run_plugin(tmp_path, free_place, [str(program)])
    assert errors == ""
    events = [json.loads(line) for line in told.read_text().splitlines()]
    idle = [each for each in events if each["hook_event_name"] == "session.idle"]
    assert [len(each["messages"]) for each in idle] == [2, 2][:times] + [0] * (2 - times)
