"""The MCP server over pipes: driven in memory line by line, and as a process by the real client."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from hydramem.core.errors import ConfigError, StoreBusyError
from hydramem.core.ids import short_id
from hydramem.server import http_server
from hydramem.server.manifest import listed_tools, manifest, tool_names
from hydramem.server.prompts import prompts_for
from hydramem.server.search_and_fetch import PAIR
from hydramem.server.stdio.stdio_server import HANDSHAKE_VERSIONS, StdioServer
from hydramem.server.tool_schemas import manifest as made_manifest
from hydramem.sharing.operation_specs import SPECS
from hydramem.text.tokens import count_tokens
from tests.engines import DISK_ENGINE
from tests.owner_process import owner

MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
SETTINGS = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class Pipes:
    """A server on pipes in this process, asked line by line."""

    def __init__(self, open_memory, settings: ServerConfig, tools: str = "all") -> None:
        own, self._to = os.pipe()
        back, theirs = os.pipe()
        self._sending, self._answers = os.fdopen(self._to, "wb"), os.fdopen(back, "rb")
        self._streams = os.fdopen(own, "rb"), os.fdopen(theirs, "wb")
        self.server = StdioServer(
            *self._streams, open_memory, settings=settings, names=tool_names(tools), project="default"
        )
        self._thread = threading.Thread(target=self.server.run)
        self._thread.start()

    def send(self, line: object) -> None:
        self._sending.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self._sending.flush()

    def next(self) -> dict:
        return json.loads(self._answers.readline())

    def ask(self, method: str, identity: object = 1, **params: object) -> dict:
        self.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return self.next()

    def tool(self, name: str, **arguments: object) -> dict:
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def close(self) -> list[bytes]:
        """End the input; return what was still answered."""
        if not self._sending.closed:
            self._sending.close()
            self._thread.join(30)
            assert not self._thread.is_alive()
            self._streams[1].close()
            self._streams[0].close()
            with self._answers:
                return self._answers.readlines()
        return []


def write_costs(lines: Iterable[str]) -> None:
    """Write figures where `pytest -s` shows them."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def pipes(tmp_path: Path) -> Iterator[Pipes]:
    (tmp_path / "docs").mkdir()
    settings = ServerConfig(ingest_roots=(str(tmp_path / "docs"),))
    made = Pipes(lambda: hydramem.connect(tmp_path / "store", config=MEMORY_ONLY), settings)
    yield made
    made.close()


def test_the_manifest_says_what_the_operations_are():
    assert manifest() == json.loads(json.dumps(made_manifest()))


@pytest.mark.parametrize(
    ("profile", "schemas"), [("reader", False), ("agent", True), ("all", False), ("get,fetch", True)]
)
def test_fastmcp_and_the_pipes_list_the_same_tools(pipes, tmp_path, profile, schemas):
    settings = ServerConfig(tools=profile, output_schemas=schemas)

    async def over_fastmcp():
        with hydramem.connect(tmp_path / "other", config=MEMORY_ONLY) as memory:
            async with Client(http_server.build(memory, settings=settings)) as client:
                tools = await client.list_tools()
                return [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]

    piped = Pipes(lambda: hydramem.connect(tmp_path / "store", config=MEMORY_ONLY), settings, profile)
    listed = piped.ask("tools/list")["result"]["tools"]
    piped.close()
    assert [tool["name"] for tool in listed] == [
        name for name in (*SPECS, *PAIR) if name in tool_names(profile)
    ]
    assert all(("outputSchema" in tool) == (schemas or tool["name"] in PAIR) for tool in listed)
    assert asyncio.run(over_fastmcp()) == listed


def test_what_a_list_of_tools_costs():
    def cost(profile: str, *parts: str) -> int:
        tools = listed_tools(tool_names(profile), output_schemas=False)
        shown = [{key: tool[key] for key in parts or tool} for tool in tools]
        return count_tokens(json.dumps({"tools": shown}, separators=(",", ":"), ensure_ascii=False))

    seen = ("name", "description", "inputSchema")
    write_costs(
        f"{profile}: {cost(profile, *seen)} seen by a model, {cost(profile)} in all"
        for profile in ("reader", "agent", "chatgpt", "all")
    )
    assert cost("agent", *seen) <= 2000
    assert cost("agent") <= 3000
    assert cost("reader", *seen) <= 500


def test_an_unknown_profile_or_tool_is_named():
    assert tool_names("reader") == ("recall", "prime", "get")
    assert tool_names(" get, recall ") == ("get", "recall")
    assert tool_names("chatgpt") == tool_names("search,fetch") == PAIR
    for wrong in ("", "reade", "recall,nothing"):
        with pytest.raises(ConfigError, match=r"server\.tools"):
            tool_names(wrong)


def test_a_connection_agrees_on_a_version(pipes):
    for asked, agreed in zip(
        (*HANDSHAKE_VERSIONS, "1999-01-01"), (*HANDSHAKE_VERSIONS, HANDSHAKE_VERSIONS[-1]), strict=True
    ):
        result = pipes.ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})["result"]
        assert result["protocolVersion"] == agreed
    assert result["serverInfo"]["name"] == "hydramem"
    assert set(result["capabilities"]) == {"tools", "prompts", "resources"}
    assert "recall" in result["instructions"]


def test_a_request_that_names_its_version_needs_no_handshake(pipes):
    found = pipes.ask("server/discover", **MODERN)["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert (found["resultType"], found["cacheScope"]) == ("complete", "private")
    listed = pipes.ask("tools/list", **MODERN)["result"]
    assert (listed["resultType"], listed["ttlMs"]) == ("complete", 0)
    done = pipes.ask("tools/call", name="projects", **MODERN)["result"]
    assert (done["resultType"], done["isError"]) == ("complete", False)
    other = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}
    refused = pipes.ask("tools/list", **other)["error"]
    assert refused["code"] == -32022 and "2026-07-28" in refused["data"]["supported"]


@pytest.mark.parametrize(
    ("line", "code", "identity"),
    [
        (b"{nothing\n", -32700, None),
        (b"\xff\xfe\n", -32700, None),
        (b"[" * 100_000 + b"\n", -32700, None),
        (b"[]\n", -32600, None),
        (b'{"id": 1, "method": "ping"}\n', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 4}\n', -32600, 4),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}\n', -32600, None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}\n', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 4, "method": 5}\n', -32600, 4),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": [1]}\n', -32602, 4),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "sampling/nothing"}\n', -32601, "a"),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call"}\n', -32602, 4),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "initialize"}\n', -32602, 4),
    ],
)
def test_a_malformed_line_is_answered_with_an_error(pipes, line, code, identity):
    pipes.send(line)
    answer = pipes.next()
    assert (answer["error"]["code"], answer["id"]) == (code, identity)
    assert pipes.ask("ping", 7) == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_what_needs_no_answer_gets_none(pipes):
    for quiet in (
        b"\n",
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}\n',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}\n',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
    ):
        pipes.send(quiet)
    assert pipes.ask("ping", 9)["result"] == {}


def test_prompts_are_the_same_over_fastmcp_and_pipes(pipes, tmp_path):
    async def over_fastmcp():
        with hydramem.connect(tmp_path / "other", config=MEMORY_ONLY) as memory:
            async with Client(http_server.build(memory, settings=ServerConfig(tools="all"))) as client:
                listed = await client.list_prompts()
                given = await client.get_prompt("recall-first", {"question": "Who leads billing?"})
                shown = [each.model_dump(by_alias=True, exclude_none=True) for each in listed]
                return shown, given.messages[0].content.text

    listed = pipes.ask("prompts/list")["result"]["prompts"]
    asked = {"name": "recall-first", "arguments": {"question": "Who leads billing?"}}
    (message,) = pipes.ask("prompts/get", **asked)["result"]["messages"]
    assert (listed, message["content"]["text"]) == asyncio.run(over_fastmcp())
    assert message["role"] == "user" and message["content"]["text"].endswith("\n\nWho leads billing?")
    for wrong in ({"name": "nothing"}, {}, {"name": "end-of-session", "arguments": {"question": "x"}}):
        assert pipes.ask("prompts/get", **wrong)["error"]["code"] == -32602


def test_a_prompt_is_listed_where_its_tools_are():
    assert set(prompts_for(tool_names("agent"))) == {"recall-first", "end-of-session"}
    assert set(prompts_for(tool_names("reader"))) == {"recall-first"}
    for profile in ("agent", "all"):
        for prompt in prompts_for(tool_names(profile)).values():
            named = set(re.findall(r"`([a-z_]+)`", prompt.text)) - {"replaces"}
            assert named == set(prompt.tools)


def test_tools_answer_with_text_and_with_the_whole_value_where_asked(pipes):
    kept = pipes.tool("remember", text="Ada leads billing.", options={"structured": True})
    assert kept["structuredContent"]["created"] is True
    found = pipes.tool("recall", query="Ada")
    assert "structuredContent" not in found and not found["isError"]
    (content,) = found["content"]
    assert content["type"] == "text" and "Ada leads billing." in content["text"]
    assert short_id(kept["structuredContent"]["id"]) in content["text"]


def test_errors_of_a_tool_are_answers_with_their_message(pipes, tmp_path):
    for name, arguments, said in (
        ("get", {"id": "c_nothing"}, "c_nothing"),
        ("get", {}, "id: is missing"),
        ("recall", {"query": "x", "nope": 1}, "nope: no such argument"),
        ("nothing", {}, "Unknown tool"),
        ("ingest", {"sources": [str(tmp_path / "secret.md")]}, "outside the folders"),
    ):
        answer = pipes.tool(name, **arguments)
        assert answer["isError"] and said in answer["content"][0]["text"]


def test_a_memory_that_cannot_be_opened_is_tried_again_at_the_next_call(tmp_path):
    failing = [StoreBusyError("held by another process")] * 2

    def opening():
        if failing:
            raise failing.pop()
        return hydramem.connect(tmp_path / "store", config=MEMORY_ONLY)

    pipes = Pipes(opening, ServerConfig())
    while failing:
        answer = pipes.tool("projects")
        assert not answer["isError"] or "held by" in answer["content"][0]["text"]
    assert not pipes.tool("projects")["isError"]
    pipes.close()


def test_progress_is_sent_where_it_is_asked_for(pipes, tmp_path):
    for number in range(3):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Page {number}\n\nHall {number} is cold.\n")
    said = {"name": "ingest", "arguments": {"sources": [str(tmp_path / "docs")]}}
    pipes.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                "params": {**said, "_meta": {"progressToken": "p1"}}})  # fmt: skip
    reached = []
    while (message := pipes.next()).get("id") != 5:
        assert message["method"] == "notifications/progress"
        assert message["params"]["progressToken"] == "p1"
        reached.append(message["params"]["progress"])
    assert reached == sorted(set(reached)) and reached[-1] == 3
    assert not message["result"]["isError"]


def test_a_cancelled_call_stops_and_is_not_answered(pipes, tmp_path):
    for number in range(20):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Page {number}\n\nHall {number} is cold.\n" * 20)
    pipes.tool("projects")  # the memory is open
    said = {"name": "ingest", "arguments": {"sources": [str(tmp_path / "docs")]}}
    pipes.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
                "params": {**said, "_meta": {"progressToken": 1}}})  # fmt: skip
    assert pipes.next()["method"] == "notifications/progress"
    pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    left = [json.loads(line) for line in pipes.close()]
    assert all(message.get("id") != 5 for message in left)
    assert len(left) < 19


@pytest.mark.slow
def test_beside_an_owner_calls_report_are_cancelled_and_answered(tmp_path, monkeypatch):
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(40):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\nHall {number} is cold.\n" * 5)
    with owner(tmp_path / "store"):
        pipes = Pipes(lambda: hydramem.connect(tmp_path / "store"), ServerConfig(ingest_roots=(str(docs),)))
        kept = pipes.tool("remember", text="Ada leads billing.", options={"structured": True})
        assert kept["structuredContent"]["created"] is True
        call = {"name": "ingest", "arguments": {"sources": [str(docs)]}, "_meta": {"progressToken": 1}}
        pipes.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call})
        assert pipes.next()["method"] == "notifications/progress"
        pipes.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        pipes.send({"jsonrpc": "2.0", "id": 6, "method": "tools/call",
                    "params": {"name": "recall", "arguments": {"query": "who leads billing?"}}})  # fmt: skip
        left = [json.loads(line) for line in pipes.close()]
    (answer,) = (message for message in left if "id" in message)
    assert answer["id"] == 6 and "Ada leads billing." in answer["result"]["content"][0]["text"]


def test_at_the_end_of_the_input_what_runs_is_answered(tmp_path):
    pipes = Pipes(lambda: hydramem.connect(tmp_path / "store", config=MEMORY_ONLY), ServerConfig())
    call = {"name": "remember", "arguments": {"text": "Ada leads billing."}}
    pipes.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call})
    (answer,) = map(json.loads, pipes.close())
    assert answer["id"] == 5 and not answer["result"]["isError"]


def _served(tmp_path: Path, *options: str) -> StdioTransport:
    arguments = ["-m", "hydramem", "--store", str(tmp_path / "store"), "serve", *options]
    return StdioTransport(sys.executable, arguments, env={**os.environ, **SETTINGS}, keep_alive=False)


@pytest.mark.costly  # a process
def test_the_real_client_works_with_the_process(tmp_path):
    async def work():
        async with Client(_served(tmp_path, "--tools", "reader")) as client:
            assert {tool.name for tool in await client.list_tools()} == {"recall", "prime", "get"}
            assert not (await client.call_tool("prime", {})).is_error
            refused = await client.call_tool("remember", {"text": "Ada"}, raise_on_error=False)
            assert refused.is_error
            return await client.list_prompts(), await client.list_resources()

    prompts, resources = asyncio.run(work())
    assert [prompt.name for prompt in prompts] == ["recall-first"]
    assert [str(resource.uri) for resource in resources] == ["hydramem://project/default"]


def test_the_first_answers_need_nothing_heavy(tmp_path):
    arguments = [sys.executable, "-X", "importtime", "-m", "hydramem", "--store", str(tmp_path), "serve"]
    asked = (("initialize", {"protocolVersion": "2025-06-18"}), ("tools/list", {}), ("prompts/list", {}))
    with subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **SETTINGS},
    ) as process:
        for number, (method, params) in enumerate(asked):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in asked] == [0, 1, 2]
        process.kill()
        imported = process.stderr.read().decode().splitlines()
    # What the opening has begun to import behind the answers comes last.
    first = [line.rpartition("|")[2].strip() for line in imported]
    first = first[: first.index("hydramem.server.stdio.stdio_server")]
    assert "msgspec" in first
    heavy = {"cyclopts", "fastmcp", "mcp", "lancedb", "pyarrow", "ladybug", "numpy", "pydantic", "asyncio"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in first)
