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
from hydramem.server.manifest import instructions, listed_templates, listed_tools, reads, tool_names
from hydramem.server.prompts import listed_prompt, prompts_for
from hydramem.server.resources import listed_resources
from hydramem.server.stdio.background_opening import BackgroundOpening
from hydramem.server.stdio.json_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MalformedError,
    Message,
    RpcError,
    Writer,
    read_message,
)
from hydramem.server.stdio.memory_requests import MemoryRequests
from hydramem.server.stdio.running_calls import RunningCalls

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

_CACHEABLE = {
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "server/discover",
}
"""Methods whose answers say, since 2026-07-28, how long they hold."""


def serve_stdio(
    open_memory: "Callable[[], Memory]", settings: ServerConfig, *, project: str, tools: str | None = None
) -> None:
    """Serve a memory over standard input and output, until the input ends.

    Args:
        open_memory: Opens the memory; called in a thread, again after it has failed.
        settings: The tools where none are given, and the folders of `ingest`.
        project: The memory's own project, whose overview is listed.
        tools: A profile, or tools by name with commas between them.

    Raises:
        ConfigError: There is no such profile or tool.
    """
    names = tool_names(tools or settings.tools)
    source, target = _protocol_streams()
    with source, target:
        StdioServer(source, target, open_memory, settings=settings, names=names, project=project).run()


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
        project: str,
    ) -> None:
        self._source = source
        self._writer = Writer(target)
        self._settings = settings
        self._names = names
        self._project = project
        self._prompts = prompts_for(names)
        self._opening = BackgroundOpening(open_memory, wait_seconds=_SECONDS_TO_LIST)
        self._calls = RunningCalls(self._writer)
        requests = MemoryRequests(self._opening, settings, names=names, project=project)
        self._behind = {"tools/call": requests.tool, "resources/read": requests.resource}
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialized,
            "server/discover": self._discovered,
            "ping": lambda params: {},
            "tools/list": self._listed,
            "prompts/list": lambda params: {"prompts": list(map(listed_prompt, self._prompts.values()))},
            "prompts/get": self._prompt,
            "resources/list": self._resources,
            "resources/templates/list": lambda params: {"resourceTemplates": listed_templates(names)},
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
        cached = {"ttlMs": 0, "cacheScope": "private"} if envelope and said.method in _CACHEABLE else {}
        behind = self._behind.get(said.method)
        if behind is not None:
            self._opening.begin()
            self._calls.start(said, behind(said.params), {**cached, **envelope})
            return
        answer = self._answers.get(said.method)
        if answer is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {said.method[:80]}")
        self._writer.result(said.id, {**answer(said.params), **cached, **envelope})
        if said.method == "tools/list":
            self._opening.begin()

    def _listed(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"tools": listed_tools(self._names, output_schemas=self._settings.output_schemas)}

    def _resources(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"resources": listed_resources(self._project) if reads(self._names) else []}

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise RpcError(INVALID_PARAMS, "Invalid params: `protocolVersion` is missing")
        agreed = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {"protocolVersion": agreed, "serverInfo": _SELF, **self._abilities()}

    def _discovered(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"supportedVersions": list(REQUEST_VERSIONS), **self._abilities()}

    def _abilities(self) -> dict[str, Any]:
        fixed = {"listChanged": False}
        resources = {"resources": fixed} if reads(self._names) else {}
        return {
            "capabilities": {"tools": fixed, "prompts": fixed, **resources},
            "instructions": instructions(self._names),
        }

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
