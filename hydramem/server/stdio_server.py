"""The MCP server over standard input and output.

A client that starts a server for one question does not wait for it, so the first answers come from the
manifest, before the code of any operation is imported; the memory is opened meanwhile. Requests are answered
in the order of their completion. Specification: https://modelcontextprotocol.io/specification.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from hydramem.core.config import ServerConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.version import __version__
from hydramem.server.background_opening import BackgroundOpening
from hydramem.server.json_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MalformedError,
    Message,
    RpcError,
    Writer,
    read_message,
)
from hydramem.server.manifest import listed_tools, manifest, tool_names
from hydramem.server.prompts import listed_prompt, prompts_for
from hydramem.server.running_calls import RunningCalls

if TYPE_CHECKING:
    from hydramem import Memory

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of the protocol that a connection agrees on by `initialize`, oldest first."""

REQUEST_VERSIONS = ("2026-07-28",)
"""Versions that every request names for itself; there is no handshake."""

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_UNSUPPORTED_VERSION = -32022
_SELF = {"name": "hydramem", "version": __version__}
_SECONDS_TO_LIST = 1.0
"""How long the opening of the memory waits for the tools to be listed."""

_LISTS = {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"}


def serve_stdio(
    open_memory: "Callable[[], Memory]", settings: ServerConfig, tools: str | None = None
) -> None:
    """Serve a memory over standard input and output, until the input ends.

    Args:
        open_memory: Opens the memory; called in a thread, again after it has failed.
        settings: The tools where none are given, and the folders of `ingest`.
        tools: A profile, or tools by name with commas between them.

    Raises:
        ConfigError: There is no such profile or tool.
    """
    names = tool_names(tools or settings.tools)
    source, target = _protocol_streams()
    with source, target:
        StdioServer(source, target, open_memory, settings=settings, names=names).run()


def _protocol_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the protocol: what else is printed goes to standard error."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, target


class StdioServer:
    """Answers the messages of one client."""

    def __init__(
        self,
        source: BinaryIO,
        target: BinaryIO,
        open_memory: "Callable[[], Memory]",
        *,
        settings: ServerConfig,
        names: tuple[str, ...],
    ) -> None:
        self._source = source
        self._writer = Writer(target)
        self._settings = settings
        self._names = names
        self._prompts = prompts_for(names)
        self._opening = BackgroundOpening(open_memory, wait_seconds=_SECONDS_TO_LIST)
        self._calls = RunningCalls(self._opening, self._writer, settings)
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": _initialized,
            "server/discover": _discovered,
            "ping": lambda params: {},
            "tools/list": self._listed,
            "prompts/list": lambda params: {"prompts": list(map(listed_prompt, self._prompts.values()))},
            "prompts/get": self._prompt,
            "resources/list": lambda params: {"resources": []},
            "resources/templates/list": lambda params: {"resourceTemplates": []},
        }

    def run(self) -> None:
        """Answer every message until the input ends; calls that run then are answered first."""
        try:
            for line in self._source:
                if line.strip():
                    self._receive(line)
            self._calls.wait()
        finally:
            self._opening.close()

    def _receive(self, line: bytes) -> None:
        try:
            said = read_message(line)
        except MalformedError as error:
            self._writer.error(error.id, error)
            return
        if said is None:
            return
        if said.id is None:
            if said.method == "notifications/cancelled":
                self._calls.cancel(said.params.get("requestId"))
            return
        try:
            self._answer(said)
        except RpcError as error:
            self._writer.error(said.id, error)

    def _answer(self, said: Message) -> None:
        """Answer a request, now or when its call is done.

        Raises:
            RpcError: It cannot be answered.
        """
        envelope = _envelope(said)
        if said.method == "tools/call":
            self._opening.begin()
            self._calls.start(said, self._names, envelope)
            return
        answer = self._answers.get(said.method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {said.method[:80]}")
        cached = {"ttlMs": 0, "cacheScope": "private"} if envelope and said.method in _LISTS else {}
        self._writer.result(said.id, {**answer(said.params), **cached, **envelope})
        if said.method == "tools/list":
            self._opening.begin()

    def _listed(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"tools": listed_tools(self._names, output_schemas=self._settings.output_schemas)}

    def _prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments") or {}
        prompt = self._prompts.get(name) if isinstance(name, str) else None
        if prompt is None or not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: no such prompt")
        try:
            text = prompt.message(arguments)
        except InvalidInputError as error:
            raise RpcError(INVALID_PARAMS, f"Invalid params: {error}") from error
        content = {"type": "text", "text": text}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


def _envelope(said: Message) -> dict[str, Any]:
    """Return what the answer holds besides its result, by the version that the request names.

    Raises:
        RpcError: It names a version that is not known.
    """
    meta = said.params.get("_meta")
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if version is None:
        return {}
    if version not in REQUEST_VERSIONS:
        known = {"supported": [*HANDSHAKE_VERSIONS, *REQUEST_VERSIONS], "requested": version}
        raise RpcError(_UNSUPPORTED_VERSION, "Unsupported protocol version", known)
    return {"resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": _SELF}}


def _initialized(params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    if not isinstance(asked, str):
        raise RpcError(INVALID_PARAMS, "Invalid params: `protocolVersion` is missing")
    agreed = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return {"protocolVersion": agreed, "serverInfo": _SELF, **_abilities()}


def _discovered(params: dict[str, Any]) -> dict[str, Any]:
    return {"supportedVersions": list(REQUEST_VERSIONS), **_abilities()}


def _abilities() -> dict[str, Any]:
    fixed = {"listChanged": False}
    return {"capabilities": {"tools": fixed, "prompts": fixed}, "instructions": manifest()["instructions"]}
