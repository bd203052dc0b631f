"""The MCP server: in memory for every tool, over a real socket and a real pipe once each."""

import asyncio
import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from fastmcp import Client

import hydramem
from hydramem.cli.main import run as run_command
from hydramem.core.config import Config, EmbeddingConfig, ServerConfig, StorageConfig
from hydramem.core.errors import ConfigError
from hydramem.operations import OPERATIONS
from hydramem.server import http_server as server
from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import make_token
from tests.engines import DISK_ENGINE
from tests.owner_process import owner
from tests.server.team import HELLO, SETTINGS, serving

TOKEN = "s3cret-for-tests"
MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
TOKEN = "s3cret-for-tests"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=MEMORY_ONLY) as memory:
        yield memory


class Tools:
    """Calls tools of a server in memory; an answer is (is it an error, structured content, text)."""

    def __init__(self, memory: hydramem.Memory, **settings: object) -> None:
        given = ServerConfig(output_schemas=True, **settings)
        self.server = server.build(memory, settings=given, tools="all")

    def call(self, name: str, /, **arguments: object) -> tuple[bool, dict, str]:
        (answer,) = self.each(name, arguments)
        return answer

    def each(self, name: str, *calls: dict[str, object]) -> list[tuple[bool, dict, str]]:
        """Call a tool several times over one connection."""

        async def work() -> list[tuple[bool, dict, str]]:
            async with Client(self.server) as client:
                said = [await client.call_tool(name, each, raise_on_error=False) for each in calls]
                texts = [answer.content[0].text if answer.content else "" for answer in said]
                return [
                    (answer.is_error, answer.structured_content, text)
                    for answer, text in zip(said, texts, strict=True)
                ]

        return asyncio.run(work())


@pytest.fixture
def tools(memory: hydramem.Memory, tmp_path: Path) -> Tools:
    (tmp_path / "docs").mkdir()
    return Tools(memory, ingest_roots=(str(tmp_path / "docs"),))


def listed(memory: hydramem.Memory, **options: object) -> dict[str, object]:
    async def ask():
        async with Client(server.build(memory, settings=ServerConfig(), **options)) as client:
            return {tool.name: tool for tool in await client.list_tools()}

    return asyncio.run(ask())


def test_an_agent_sees_few_tools_and_can_do_its_everyday_work_with_them(memory):
    seen = set(listed(memory))
    assert seen == {op.name for op in OPERATIONS if op.audience == "agent"}
    assert {"prime", "recall", "get", "remember", "revise", "forget", "ingest", "entities", "expand"} <= seen
    assert {"undo", "garden", "restore", "erase", "merge", "curate"}.isdisjoint(seen)
    assert len(seen) <= 9


def test_tools_carry_their_words_types_and_hints(memory):
    every = listed(memory, tools="all")
    assert set(every) == {op.name for op in OPERATIONS}
    for operation in OPERATIONS:
        tool = every[operation.name].model_dump(by_alias=True)
        assert tool["description"]
        assert "Args:" not in tool["description"]
        shown = tool["inputSchema"]["properties"]
        rare = shown["options"]["description"].split(", ")
        assert set(shown).isdisjoint(rare)
        assert {*shown, *rare} == {*operation.signature.parameters, "options", "structured"}
        assert all(argument["description"] for argument in shown.values())
        assert tool["outputSchema"] is None
        assert tool["annotations"]["readOnlyHint"] == (operation.effect == "read")
        assert tool["annotations"]["destructiveHint"] == (operation.effect == "destroy")


@pytest.mark.slow
def test_every_tool_answers(tools, tmp_path):
    (tmp_path / "docs" / "team.md").write_text("# Team\n\nAda Lovelace leads the Billing Team.\n")
    (tmp_path / "docs" / "memory.jsonl").write_text('{"type": "entity", "name": "Grace", "observations": []}')
    chunk = {"text": "Grace Hopper wrote the Flow Compiler."}
    relation = {"subject": "Grace Hopper", "type": "wrote", "object": "Flow Compiler"}
    _, done, _ = tools.call(
        "remember", text="Ada Lovelace moved Billing to MySQL.", session="monday", source="chat"
    )
    calls = {
        "ingest": {"sources": [str(tmp_path / "docs")]},
        "ingest_extracted": {"source": "mail:1", "chunks": [chunk], "relations": [relation]},
        "remember": {"text": "Ada Lovelace likes tea."},
        "remember_many": {"memories": [{"text": "Ada Lovelace likes rum."}, {"text": "Grace likes ships."}]},
        "revise": {"id": done["id"], "scope": "/new"},
        "relabel": {"ids": [done["id"]], "categories": ["team"]},
        "recalled": {"id": done["id"]},
        "entity": {"name": "Countess Lovelace", "type": "person"},
        "capture": {"session": "monday", "turns": [{"author": "user", "text": "Who leads billing?"}]},
        "distill": {"session": "monday"},
        "recall": {"query": "who leads billing?"},
        "prime": {"query": "who leads billing?", "project": "other"},
        "get": {"id": done["id"]},
        "document": {"source": "mail:1"},
        "relations": {"entity": "Grace Hopper"},
        "expand": {"starts": ["Grace Hopper", done["id"]], "depth": 3},
        "neighbors": {"entity": "Grace Hopper"},
        "path": {"start": "Grace Hopper", "end": "Flow Compiler", "count": 2},
        "relate": {"subject": "Ada Lovelace", "type": "knows", "object": "Grace Hopper"},
        "unrelate": {"subject": "Ada Lovelace", "type": "knows", "object": "Grace Hopper"},
        "history": {"id": done["id"]},
        "merge": {"keep": "Ada Lovelace", "others": ["Countess Lovelace"]},
        "split": {"what": "Countess Lovelace"},
        "promote": {"ids": [done["id"]], "layer": "shared", "reason": "two people said so"},
        "move": {"source": "/new", "destination": "/old", "reason": "tidying"},
        "curate": {"target": "memory", "changes": [{"action": "add", "content": "Tea at four."}]},
        "forget": {"ids": [done["id"]]},
        "revive": {"ids": [done["id"]]},
        "erase": {"ids": [done["id"]], "dry_run": True},
        "undo": {"id": done["run"]},
        "dump": {"folder": str(tmp_path / "docs" / "dump")},
        "load": {"folder": str(tmp_path / "docs" / "dump")},
        "import_memories": {"source": str(tmp_path / "docs" / "memory.jsonl")},
        "export_memories": {"path": str(tmp_path / "docs" / "vault")},
        "put_items": {"items": [{"namespace": ["users"], "key": "ada", "value": {"likes": "tea"}}]},
        "get_items": {"namespace": ["users"], "keys": ["ada"]},
        "append_session_items": {"session": "tuesday", "items": ['{"role": "user"}']},
        "session_items": {"session": "tuesday"},
        "pop_session_items": {"session": "tuesday"},
    }
    # What these need is not here: torch or enough relations, a store that is kept, a file.
    needs = {"train": ("torch", "relations"), "backup": ("memory",), "restore": ("memory", "file")}
    for operation in sorted(
        OPERATIONS, key=lambda op: list(calls).index(op.name) if op.name in calls else 99
    ):
        is_error, structured, text = tools.call(operation.name, **calls.get(operation.name, {}))
        if operation.name in needs:
            assert is_error and any(word in text for word in needs[operation.name]), (operation.name, text)
            continue
        assert not is_error, (operation.name, text)
        assert structured is not None, operation.name


@pytest.mark.costly
def test_what_is_remembered_over_mcp_is_recalled_and_audited_as_mcp(memory, tools):
    _, done, _ = tools.call("remember", text="The zanzibar cache lives in hall 3.", source="chat")
    _, found, _ = tools.call("recall", query="zanzibar cache")
    assert found["hits"][0]["id"] == done["id"]
    assert {entry.actor for entry in memory.history(done["id"]).entries} == {"mcp"}
    (session,) = memory.sessions()
    assert session.name.startswith("mcp "), "what it recalls is of use to a session of its own"


@pytest.mark.slow
def test_a_server_beside_an_owner_answers_as_one_that_holds_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    docs, outside = tmp_path / "docs", tmp_path / "secret.md"
    docs.mkdir()
    (docs / "page.md").write_text("# Billing\n\nBilling runs on MySQL since the move in May.\n")
    outside.write_text("swordfish")
    with owner(tmp_path / "store"), hydramem.connect(tmp_path / "store") as memory:
        assert not isinstance(memory, hydramem.Memory)
        tools = Tools(memory, ingest_roots=(str(docs),))
        assert tools.call("ingest", sources=[str(docs)])[1]["documents"] == 1
        (kept,) = tools.call("remember_many", memories=[{"text": "Ada leads billing."}])[1]["result"]
        texts = {hit["text"] for hit in tools.call("recall", query="billing")[1]["hits"]}
        assert "Ada leads billing." in texts
        assert len(texts) == 2
        assert tools.call("history", id=kept["id"])[1]["entries"][0]["actor"] == "mcp"
        refused, _, text = tools.call("ingest", sources=[str(outside)])
        assert refused and "outside the folders" in text
        refused, _, text = tools.call("get", id="c_nothing")
        assert refused and "c_nothing" in text
        refused, _, text = tools.call("restore", file=str(tmp_path / "store" / "backups" / "none.tar.gz"))
        assert refused and "outside the folders" not in text


def test_our_errors_are_readable_and_others_are_masked(memory, tools, tmp_path):
    is_error, _, text = tools.call("get", id="c_none")
    assert is_error
    assert "c_none" in text
    memory.close()
    is_error, _, text = tools.call("projects")
    assert is_error
    assert "closed" in text


def test_wrong_arguments_are_refused_before_anything_runs(tools):
    calls = (
        {},
        {"query": ""},
        {"query": "x" * 2_000_000},
        {"query": "x", "limit": "7"},
        {"query": "x", "nope": 1},
        {"query": 5},
        {"query": "x", "options": {"kinds": "note"}},
        {"query": "x", "options": {"nope": 1}},
        {"query": "x", "limit": 3, "options": {"limit": 3}},
        {"query": "x", "options": {"structured": "yes"}},
        {"query": "x", "options": "kinds"},
    )
    for is_error, _, text in tools.each("recall", *calls):
        named = text.split(":")[0].split(".")[0]
        assert is_error and named in {"query", "limit", "nope", "kinds", "options", "structured"}, text


def test_the_command_line_words_a_wrong_argument_in_the_same_way(tools, tmp_path, capsys):
    cases = (
        ([{"text": 5}], "memories.0.text: Input should be a valid string, got '5'"),
        ([{"text": "a", "nothing": 1}], "memories.0.nothing: "),
        ({"text": "a"}, "memories: "),
    )
    answers = tools.each("remember_many", *({"memories": memories} for memories, _ in cases))
    capsys.readouterr()
    for (memories, said), (refused, _, text) in zip(cases, answers, strict=True):
        assert refused and text.startswith(said)
        command = ["--store", str(tmp_path / "other"), "remember-many", "--memories", json.dumps(memories)]
        assert run_command(command) == 1
        assert capsys.readouterr().err == f"hydramem: {text}\n"


@pytest.mark.parametrize(("operation", "reads"), [("calibrate", "labels"), ("review", "import_")])
def test_reviews_are_read_and_written_only_below_the_roots(tools, tmp_path, operation, reads):
    outside = tmp_path / "labels.jsonl"
    outside.write_text('{"secret": "swordfish"}\n')
    (tmp_path / "docs" / "link.jsonl").symlink_to(outside)
    (tmp_path / "docs" / "out").symlink_to(tmp_path)
    paths = (outside, tmp_path / "docs" / "link.jsonl", tmp_path / "docs" / "out" / "new.jsonl")
    for argument in (reads, "export"):
        for is_error, _, text in tools.each(operation, *({argument: str(path)} for path in paths)):
            assert is_error and f"{argument}: " in text and "outside the folders" in text, text
            assert "secret" not in text
    assert not (tmp_path / "new.jsonl").exists()
    inside = tmp_path / "docs" / "new.jsonl"
    is_error, done, text = tools.call(operation, export=str(inside))
    assert not is_error and done["exported"] == 0 and inside.exists(), text


def test_ingest_reads_only_below_its_roots(memory, tools, tmp_path):
    docs, secret = tmp_path / "docs", tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe quokka password is swordfish.\n")
    (docs / "fine.md").write_text("# Fine\n\nThe wombat is fine.\n")
    (docs / "link.md").symlink_to(secret)
    (docs / "out").symlink_to(tmp_path)
    sources = (
        str(secret), "/etc/passwd", "~", str(docs / ".." / "secret.md"), str(docs / "link.md"),
        str(docs / "out" / "secret.md"), str(tmp_path / "docs-beside"), "\x00", "",
    )  # fmt: skip
    nowhere = str(tmp_path / "nowhere")
    calls = [{"sources": [source]} for source in (*sources, nowhere, str(docs))]
    *refused, (is_error, done, text) = tools.each("ingest", *calls)
    for wrong, _, said in refused:
        assert wrong and ("outside the folders" in said or "cannot be a path" in said), said
    told = refused[-1][2].replace(nowhere, "")
    assert refused[0][2].replace(str(secret), "") == told, "it does not tell what exists"
    assert not is_error and done["documents"] == 1, text
    assert any("outside" in skipped["reason"] for skipped in done["skipped"])
    assert "swordfish" not in repr(memory.recall("quokka password"))


def _plain_value(parameter: inspect.Parameter, text: str = "x") -> object:
    """Return a text as a parameter takes it: alone, or as the one of several."""
    return [text] if "Sequence" in str(parameter.annotation) else text


@pytest.mark.slow
def test_no_parameter_of_any_operation_reaches_files_outside_the_roots(tools, tmp_path):
    """Every text parameter of the table is given a path outside; what then touches the disk names it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.jsonl").write_text('{"secret": "swordfish"}\n')
    touched: list[str] = []

    def notice(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event.split(".")[0] in ("open", "os", "shutil", "tempfile", "glob"):
            touched.extend(str(each) for each in arguments if str(outside) in str(each))

    async def reached() -> AsyncIterator[str]:
        async with Client(tools.server) as client:
            for operation in OPERATIONS:
                given = operation.signature.parameters
                needed = {name: _plain_value(one) for name, one in given.items() if one.default is one.empty}
                for name in [name for name, one in given.items() if "str" in str(one.annotation)]:
                    for path in (outside / "there.jsonl", outside / "new"):
                        arguments = {**needed, name: _plain_value(given[name], str(path))}
                        answer = await client.call_tool(operation.name, arguments, raise_on_error=False)
                        assert "swordfish" not in str(answer.content)
                        if touched:
                            yield f"{operation.name}.{name}"
                            touched.clear()

    async def gathered() -> set[str]:
        return {name async for name in reached()}

    watching = True
    sys.addaudithook(notice)
    try:
        assert asyncio.run(gathered()) == set()
    finally:
        watching = False
    assert [each.name for each in outside.iterdir()] == ["there.jsonl"]


def test_backups_are_written_and_restored_only_below_the_roots(tools, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there").write_text("root:x:0")
    answers = set()
    paths = (outside / "there", outside / "nothing", outside / "new" / "folder")
    for operation, argument in (("backup", "to"), ("restore", "file")):
        calls = ({argument: str(path)} for path in paths)
        for path, (is_error, _, text) in zip(paths, tools.each(operation, *calls), strict=True):
            assert is_error and "outside the folders" in text and "root:x" not in text, text
            answers.add(text.replace(str(path), "").replace(argument, ""))
    assert len(answers) == 1
    assert [each.name for each in outside.iterdir()] == ["there"]


@pytest.mark.engine
@pytest.mark.costly  # a store on disk, packed and unpacked
def test_the_stores_own_backups_can_be_restored(tmp_path):
    settings = Config(storage=StorageConfig(graph=DISK_ENGINE), embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        memory.remember("Ada leads billing.")
        tools = Tools(memory, ingest_roots=(str(tmp_path / "docs"),))
        is_error, made, text = tools.call("backup")
        assert not is_error, text
        memory.remember("Grace leads search.")
        is_error, _, text = tools.call("restore", file=made["file"])
        assert not is_error, text
        assert [each.text for each in memory.memories()] == ["Ada leads billing."]


@pytest.mark.costly
def test_a_folder_of_links_does_not_tell_what_is_outside(tools, tmp_path):
    docs, outside = tmp_path / "docs", tmp_path / "outside"
    (outside / "private").mkdir(parents=True)
    (outside / "private" / "diary.md").write_text("# Diary\n")
    (docs / "folder").symlink_to(outside)
    (docs / "file.md").symlink_to(outside / "private" / "diary.md")
    (docs / "nothing.md").symlink_to(outside / "nothing.md")
    (docs / "inside.md").symlink_to(docs / "fine.md")
    (docs / "fine.md").write_text("# Fine\n\nThe wombat is fine.\n")
    _, done, _ = tools.call("ingest", sources=[str(docs)])
    assert done["documents"] == 1
    skipped = {Path(each["source"]).name: each["reason"] for each in done["skipped"]}
    assert set(skipped) == {"folder", "file.md", "nothing.md"}
    assert len(set(skipped.values())) == 1
    assert "diary" not in json.dumps(done) and "private" not in json.dumps(done)


def test_roots_are_the_working_folder_unless_configured(memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.md").write_text("# Here\n\nThe wombat is here.\n")
    tools = Tools(memory)
    assert not tools.call("ingest", sources=["here.md"])[0]
    assert tools.call("ingest", sources=[".."])[0]


def test_a_token_must_be_set_off_loopback_and_is_used_on_it(tmp_path):
    def required(host: str, **environment: str) -> str | None:
        settings = ServerConfig(token_env="A_TOKEN")
        return server.required_token(host, settings, environment, TokenFile(tmp_path))

    off, on = ("0.0.0.0", "::", "192.168.1.4", "example.org", ""), ("127.9.9.9", "::1", "[::1]", "localhost")
    for host in off:
        with pytest.raises(ConfigError, match="A_TOKEN"):
            required(host, A_TOKEN="  ")
    for host in on:
        assert required(host) is None
    for host in (*off, *on):
        assert required(host, A_TOKEN=TOKEN) == TOKEN
    make_token(TokenFile(tmp_path), "ann", role="reader")
    assert [required(host) for host in off] == [None] * len(off)


@pytest.mark.slow
def test_a_request_that_never_arrives_is_closed(tmp_path):
    with serving(tmp_path, HYDRAMEM_SERVER_REQUEST_SECONDS="0.5") as team:
        port = httpx.URL(team.url).port
        head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        waiting = []
        for sent in (b"", b"POST /mcp", head, head + b"Content-Length: 100\r\n\r\n{"):
            one = socket.create_connection(("127.0.0.1", port))
            one.settimeout(20)
            one.sendall(sent)
            waiting.append(one)
        for one in waiting:
            # Some are answered first, such as a request without its token; all are closed.
            while one.recv(4096):
                pass
            one.close()
        assert team.status(team.tokens["owner"]) == 200


@pytest.mark.slow
def test_over_http_calls_report_their_progress_and_stop_when_they_are_cancelled(tmp_path):
    for folder, count in (("few", 3), ("many", 60)):
        (tmp_path / folder).mkdir()
        for number in range(count):
            text = f"# Page {number}\n\nHall {number} of {folder} is cold.\n" * 20
            (tmp_path / folder / f"{number}.md").write_text(text)
    reached: list[tuple[float, float | None, str | None]] = []

    async def work(url: str) -> None:
        async with Client(url, auth=TOKEN) as client:

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                reached.append((progress, total, message))

            await client.call_tool("ingest", {"sources": ["few"]}, progress_handler=hear)
            assert [each[:2] for each in reached] == [(0, 3), (3, 3)], "all three were stored together"
            assert all(message for _, _, message in reached)

            begun = asyncio.Event()

            async def notice(*said: object) -> None:
                begun.set()

            given = {"sources": ["many"]}
            call = asyncio.create_task(client.call_tool("ingest", given, progress_handler=notice))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        async with Client(url, auth=TOKEN) as client:
            # One ingest goes on at a time: after this one, the cancelled one has ended.
            await client.call_tool("ingest", {"sources": ["few"]})
            asked = {"limit": 100, "options": {"structured": True}}
            stored = (await client.call_tool("documents", asked)).structured_content["result"]
            assert 3 <= len(stored) < 63

    with serving(tmp_path, HYDRAMEM_TOKEN=TOKEN) as team:
        asyncio.run(work(team.url))


@pytest.mark.costly  # a process
def test_over_stdio_standard_output_is_the_protocol_alone(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "hydramem", "--store", str(tmp_path / "store"), "serve"],
        env={**os.environ, **SETTINGS},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    arguments = {"text": "Said over a pipe.", "options": {"structured": True}}
    call = {"name": "remember", "arguments": arguments}
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    for message in (HELLO, ready, ask):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    answers = {}
    while 2 not in answers:
        line = process.stdout.readline()
        assert line, process.stderr.read().decode()
        message = json.loads(line)
        answers[message.get("id")] = message
    process.stdin.close()
    assert answers[2]["result"]["structuredContent"]["created"] is True
    assert process.wait(timeout=30) == 0
    assert process.stdout.read() == b""
    process.stdout.close()
    process.stderr.close()
