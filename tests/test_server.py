"""The MCP server: in memory for every tool, over a real socket and a real pipe once each."""

import asyncio
import inspect
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
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
from hydramem.server.http.known_tokens import KnownTokens, token_hash
from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import make_token
from tests.owner_process import owner

MEMORY_ONLY = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
TOKEN = "s3cret-for-tests"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


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
        return asyncio.run(self._call(name, arguments))

    async def _call(self, name, arguments):
        async with Client(self.server) as client:
            answer = await client.call_tool(name, arguments, raise_on_error=False)
            text = answer.content[0].text if answer.content else ""
            return answer.is_error, answer.structured_content, text


@pytest.fixture
def tools(memory: hydramem.Memory, tmp_path: Path) -> Tools:
    (tmp_path / "docs").mkdir()
    return Tools(memory, ingest_roots=(str(tmp_path / "docs"),))


def listed(memory: hydramem.Memory, **options: object) -> dict[str, object]:
    async def ask():
        async with Client(server.build(memory, settings=ServerConfig(), **options)) as client:
            return {tool.name: tool for tool in await client.list_tools()}

    return asyncio.run(ask())


def test_an_agent_sees_its_rows_and_all_shows_every_row(memory):
    assert set(listed(memory)) == {op.name for op in OPERATIONS if op.audience == "agent"}
    assert set(listed(memory, tools="all")) == {op.name for op in OPERATIONS}


def test_an_agent_sees_few_tools_and_can_do_its_everyday_work_with_them(memory):
    seen = set(listed(memory))
    assert {"prime", "recall", "get", "remember", "revise", "forget", "ingest", "entities", "expand"} <= seen
    assert {"undo", "garden", "restore", "erase", "merge", "curate"}.isdisjoint(seen)
    assert len(seen) <= 9


def test_tools_carry_their_words_types_and_hints(memory):
    every = listed(memory, tools="all")
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


def test_what_is_remembered_over_mcp_is_recalled_and_audited_as_mcp(memory, tools):
    _, done, _ = tools.call("remember", text="The zanzibar cache lives in hall 3.", source="chat")
    _, found, _ = tools.call("recall", query="zanzibar cache")
    assert found["hits"][0]["id"] == done["id"]
    changes = memory._use().graph.changes(target=done["id"])
    assert {change.actor for change in changes} == {"mcp"}


def test_what_a_run_recalls_is_of_use_to_a_session_of_its_own(memory, tools):
    tools.call("remember", text="The zanzibar cache lives in hall 3.")
    tools.call("recall", query="zanzibar cache")
    tools.call("prime", query="zanzibar cache")
    (session,) = memory.sessions()
    assert session.name.startswith("mcp ")
    assert len(memory._use().graph.recalled(sessions=[session.id])) == 2


@pytest.mark.slow
def test_a_server_beside_an_owner_answers_as_one_that_holds_the_store(tmp_path, monkeypatch):
    engine = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", engine)
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


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "x", "limit": "7"},
        {"query": "x", "nope": 1},
        {"query": 5},
        {"query": "x", "kinds": "note"},
        {"query": "x", "options": {"kinds": "note"}},
        {"query": "x", "options": {"nope": 1}},
        {"query": "x", "limit": 3, "options": {"limit": 3}},
        {"query": "x", "options": {"structured": "yes"}},
        {"query": "x", "options": "kinds"},
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(tools, arguments):
    is_error, _, text = tools.call("recall", **arguments)
    assert is_error
    assert text.split(":")[0].split(".")[0] in {"query", "limit", "nope", "kinds", "options", "structured"}


@pytest.mark.parametrize(
    ("memories", "said"),
    [
        ([{"text": 5}], "memories.0.text: Input should be a valid string, got '5'"),
        ([{"text": "a", "importance": "high"}], "memories.0.importance: "),
        ([{"text": "a", "nothing": 1}], "memories.0.nothing: "),
        ({"text": "a"}, "memories: "),
    ],
)
def test_the_command_line_words_a_wrong_argument_in_the_same_way(tools, tmp_path, capsys, memories, said):
    refused, _, text = tools.call("remember_many", memories=memories)
    assert refused and text.startswith(said)
    capsys.readouterr()
    command = ["--store", str(tmp_path / "other"), "remember-many", "--memories", json.dumps(memories)]
    assert run_command(command) == 1
    assert capsys.readouterr().err == f"hydramem: {text}\n"


@pytest.mark.parametrize("query", ["", "  ", "x" * 2_000_000])
def test_hostile_queries_are_clear_errors(tools, query):
    is_error, _, text = tools.call("recall", query=query)
    assert is_error
    assert text.startswith("query")


@pytest.mark.parametrize(("operation", "reads"), [("calibrate", "labels"), ("review", "import_")])
def test_reviews_are_read_and_written_only_below_the_roots(tools, tmp_path, operation, reads):
    outside = tmp_path / "labels.jsonl"
    outside.write_text('{"secret": "swordfish"}\n')
    (tmp_path / "docs" / "link.jsonl").symlink_to(outside)
    (tmp_path / "docs" / "out").symlink_to(tmp_path)
    for path in (outside, tmp_path / "docs" / "link.jsonl", tmp_path / "docs" / "out" / "new.jsonl"):
        for argument in (reads, "export"):
            is_error, _, text = tools.call(operation, **{argument: str(path)})
            assert is_error and f"{argument}: " in text and "outside the folders" in text, text
            assert "secret" not in text
    assert not (tmp_path / "new.jsonl").exists()
    inside = tmp_path / "docs" / "new.jsonl"
    is_error, done, text = tools.call(operation, export=str(inside))
    assert not is_error and done["exported"] == 0 and inside.exists(), text


def test_ingest_reads_only_below_its_roots(tools, tmp_path):
    docs, secret = tmp_path / "docs", tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe quokka password is swordfish.\n")
    (docs / "fine.md").write_text("# Fine\n\nThe wombat is fine.\n")
    (docs / "link.md").symlink_to(secret)
    (docs / "out").symlink_to(tmp_path)
    for source in (
        str(secret), "/etc/passwd", "~", str(docs / ".." / "secret.md"), str(docs / "link.md"),
        str(docs / "out" / "secret.md"), str(tmp_path / "docs-beside"), "\x00", "",
    ):  # fmt: skip
        is_error, _, text = tools.call("ingest", sources=[source])
        assert is_error, source
        assert "outside the folders" in text or "cannot be a path" in text, text
    is_error, done, text = tools.call("ingest", sources=[str(docs)])
    assert not is_error, text
    assert done["documents"] == 1
    assert any("outside" in skipped["reason"] for skipped in done["skipped"])
    _, found, _ = tools.call("recall", query="quokka password")
    assert "swordfish" not in json.dumps(found)


def test_a_refused_path_does_not_tell_whether_it_exists(tools, tmp_path):
    _, _, there = tools.call("ingest", sources=[str(tmp_path)])
    _, _, nowhere = tools.call("ingest", sources=[str(tmp_path / "nowhere")])
    assert there.replace(str(tmp_path), "") == nowhere.replace(str(tmp_path / "nowhere"), "")


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
    for operation, argument in (("backup", "to"), ("restore", "file")):
        for path in (outside / "there", outside / "nothing", outside / "new" / "folder"):
            is_error, _, text = tools.call(operation, **{argument: str(path)})
            assert is_error and "outside the folders" in text and "root:x" not in text, text
            answers.add(text.replace(str(path), "").replace(argument, ""))
    assert len(answers) == 1
    assert [each.name for each in outside.iterdir()] == ["there"]


def test_the_stores_own_backups_can_be_restored(tmp_path):
    settings = Config(embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path / "store", config=settings) as memory:
        memory.remember("Ada leads billing.")
        tools = Tools(memory, ingest_roots=(str(tmp_path / "docs"),))
        is_error, made, text = tools.call("backup")
        assert not is_error, text
        memory.remember("Grace leads search.")
        is_error, _, text = tools.call("restore", file=made["file"])
        assert not is_error, text
        assert [each.text for each in memory.memories()] == ["Ada leads billing."]


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


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_off_loopback_a_token_must_be_set(host, tmp_path):
    settings = ServerConfig(token_env="A_TOKEN")
    with pytest.raises(ConfigError, match="A_TOKEN"):
        server.required_token(host, settings, {"A_TOKEN": "  "}, TokenFile(tmp_path))
    assert server.required_token(host, settings, {"A_TOKEN": TOKEN}, TokenFile(tmp_path)) == TOKEN
    make_token(TokenFile(tmp_path), "ann", role="reader")
    assert server.required_token(host, settings, {}, TokenFile(tmp_path)) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])
def test_on_loopback_a_token_is_used_where_it_is_set(host, tmp_path):
    settings = ServerConfig(token_env="A_TOKEN")
    assert server.required_token(host, settings, {}, TokenFile(tmp_path)) is None
    assert server.required_token(host, settings, {"A_TOKEN": TOKEN}, TokenFile(tmp_path)) == TOKEN


@pytest.mark.parametrize("wrong", ["", "s3cret", TOKEN + " ", TOKEN.upper(), "\ud800", "é"])
def test_only_the_very_token_is_accepted(wrong, tmp_path):
    known = KnownTokens(
        store=TokenFile(tmp_path), environment=token_hash(TOKEN), tools="agent", project="default"
    )
    verifier = server.TokenCheck(known)
    assert asyncio.run(verifier.verify_token(wrong)) is None
    assert asyncio.run(verifier.verify_token(TOKEN)) is not None


def serve(tmp_path: Path, *options: str, **environment: str) -> subprocess.Popen[bytes]:
    settings = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}
    return subprocess.Popen(
        [sys.executable, "-m", "hydramem", "--store", str(tmp_path / "store"), "serve", *options],
        env={**os.environ, **settings, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serving(tmp_path: Path, **environment: str) -> Iterator[str]:
    """A server on a real socket that wants a token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = serve(tmp_path, "--transport", "http", "--port", str(port), HYDRAMEM_TOKEN=TOKEN, **environment)
    deadline = time.monotonic() + 60
    while not answers(port):
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path) as url:
        yield url


@pytest.mark.slow
def test_a_request_that_never_arrives_is_closed(tmp_path):
    with serving(tmp_path, HYDRAMEM_SERVER_REQUEST_SECONDS="0.5") as url:
        port = httpx.URL(url).port
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
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.post(url, json=HELLO, headers={**HEADERS, **bearer}, timeout=30).status_code == 200


def test_over_http_host_origin_and_token_are_checked(address):
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    def status(**headers: str) -> int:
        return httpx.post(address, json=HELLO, headers={**HEADERS, **headers}, timeout=30).status_code

    assert status(**bearer) == 200
    assert status() == 401
    assert status(Authorization="Bearer wrong") == 401
    assert status(**bearer, Host="evil.example") == 421
    assert status(**bearer, Origin="https://evil.example") == 403

    async def names() -> set[str]:
        async with Client(address, auth=TOKEN) as client:
            given = {"text": "Served over a socket.", "options": {"structured": True}}
            assert (await client.call_tool("remember", given)).structured_content["created"]
            return {tool.name for tool in await client.list_tools()}

    assert "recall" in asyncio.run(names())


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

    with serving(tmp_path, HYDRAMEM_SERVER_TOOLS="all") as url:
        asyncio.run(work(url))


def test_over_stdio_standard_output_is_the_protocol_alone(tmp_path):
    process = serve(tmp_path)
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
