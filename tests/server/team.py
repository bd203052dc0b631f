"""The HTTP server for a team, as a process, and what a client of MCP sends to it."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from fastmcp import Client

from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import TokenStore, make_token

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
SETTINGS = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}


@dataclass
class Team:
    """A server, its tokens by name, and its process."""

    url: str
    tokens: dict[str, str]
    store: TokenStore
    process: subprocess.Popen[bytes]

    def status(self, token: str | None, **headers: str) -> int:
        return self.post(HELLO, token, **headers).status_code

    def post(self, message: object, token: str | None, **headers: str) -> httpx.Response:
        bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.post(self.url, json=message, headers={**HEADERS, **bearer, **headers}, timeout=30)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url.replace("/mcp", path), timeout=30)

    def call(self, name: str, tool: str, /, **arguments: object) -> tuple[bool, dict, str]:
        async def work() -> tuple[bool, dict, str]:
            async with Client(self.url, auth=self.tokens[name]) as client:
                given = {**arguments, "options": {"structured": True, **arguments.pop("options", {})}}
                answer = await client.call_tool(tool, given, raise_on_error=False)
                return answer.is_error, answer.structured_content or {}, answer.content[0].text

        return asyncio.run(work())

    def tools(self, name: str) -> set[str]:
        async def work() -> set[str]:
            async with Client(self.url, auth=self.tokens[name]) as client:
                return {tool.name for tool in await client.list_tools()}

        return asyncio.run(work())


@contextmanager
def serving(
    folder: Path, *options: str, tokens_in: TokenStore | None = None, **environment: str
) -> Iterator[Team]:
    store = tokens_in or TokenFile(folder / "store")
    made = {
        "reader": make_token(store, "reader", role="reader", projects=["ours"]),
        "writer": make_token(store, "writer", role="writer", projects=["ours"]),
        "gardener": make_token(store, "gardener", role="gardener", projects=["ours"]),
        "other": make_token(store, "other", role="writer", projects=["theirs"]),
        "chat": make_token(store, "chat", role="reader", projects=["ours"], tools="chatgpt"),
        "owner": make_token(store, "owner", role="owner"),
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "hydramem", "--store", str(folder / "store"), "serve"]
    process = subprocess.Popen(
        [*command, "--transport", "http", "--port", str(port), "--tools", "all", *options],
        env={**os.environ, **SETTINGS, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    tokens = {name: token for name, (_, token) in made.items()}
    team = Team(f"http://127.0.0.1:{port}/mcp", tokens, store, process)
    deadline = time.monotonic() + 90
    while True:
        try:
            if team.get("/readyz").status_code == 200:
                break
        except httpx.TransportError:
            pass
        assert process.poll() is None, process.stderr.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        yield team
    finally:
        process.terminate()
        process.communicate(timeout=60)
