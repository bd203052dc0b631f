"""The MCP server over HTTP, by FastMCP: its tools, and the checks of requests.

The Host and Origin of every request are checked. A bearer token is required where its variable is set; off
loopback it must be set.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastmcp import FastMCP
from fastmcp.exceptions import PromptError, ToolError
from fastmcp.prompts import Prompt
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.tools import Tool, ToolResult
from mcp.types import Prompt as ListedPrompt
from mcp.types import TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool
from pydantic import PrivateAttr

from hydramem.core.config import ServerConfig
from hydramem.core.errors import ConfigError, HydraMemError, InvalidInputError
from hydramem.core.version import __version__
from hydramem.server.manifest import listed_tools, manifest, tool_names
from hydramem.server.prompts import ServerPrompt, listed_prompt, prompts_for
from hydramem.server.run_tool import ToolRunner

if TYPE_CHECKING:
    from hydramem import Memory


def serve(
    memory: "Memory",
    *,
    settings: ServerConfig,
    host: str | None = None,
    port: int | None = None,
    tools: str | None = None,
) -> None:
    """Serve a memory at `/mcp` until interrupted, by streamable HTTP.

    Args:
        memory: The memory to serve.
        settings: Defaults of the other arguments, the variable of the token, and the folders of `ingest`.
        host: Address to listen on.
        port: Port to listen on.
        tools: A profile, or tools by name with commas between them.

    Raises:
        ConfigError: The address is not loopback and no token is set, or there is no such tool.
    """
    address = host or settings.host
    token = required_token(address, settings, os.environ)
    build(memory, settings=settings, tools=tools, token=token).run(
        transport="http",
        host=address,
        port=port or settings.port,
        show_banner=False,
        host_origin_protection=True,
        allowed_hosts=list(settings.allowed_hosts),
        allowed_origins=list(settings.allowed_origins),
        uvicorn_config={"http": _timed_protocol(settings.request_seconds)},
    )


def _timed_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with a limit of its own: uvicorn waits for ever for the rest of a request."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimedProtocol(H11Protocol):
        """Closes a connection whose request does not arrive; an answer may take as long as it needs."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            in_body = self.cycle is not None and self.cycle.more_body
            # The head must be complete in time, however its bytes drip in; a body only has to go on.
            if in_body or self._has_arrived():
                self._stop_waiting()
            if self.waiting is None and not self._has_arrived():
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _has_arrived(self) -> bool:
            return self.cycle is not None and not (self.cycle.more_body or self.cycle.response_complete)

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(seconds, self._give_up)

        def _stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            self.waiting = None
            if not self._has_arrived():
                self.transport.close()

    return TimedProtocol


def build(
    memory: "Memory", *, settings: ServerConfig, tools: str | None = None, token: str | None = None
) -> FastMCP[Any]:
    """Build the server of a memory, with the tools of a profile.

    Raises:
        ConfigError: There is no such profile or tool.
    """
    server: FastMCP[Any] = FastMCP(
        name="hydramem",
        instructions=manifest()["instructions"],
        version=__version__,
        auth=BearerToken(token) if token else None,
        mask_error_details=True,
    )
    runner = ToolRunner(settings)
    names = tool_names(tools or settings.tools)
    for listed in listed_tools(names, output_schemas=settings.output_schemas):
        server.add_tool(_OperationTool.of(memory, runner, listed))
    for prompt in prompts_for(names).values():
        server.add_prompt(_PromptOfServer.of(prompt))
    return server


class _PromptOfServer(Prompt):
    """A prompt as FastMCP gives it."""

    _prompt: ServerPrompt = PrivateAttr()

    @classmethod
    def of(cls, prompt: ServerPrompt) -> "_PromptOfServer":
        """Make it from what the server says elsewhere too."""
        made = cls(name=prompt.name, description=prompt.description)
        made._prompt = prompt
        return made

    def to_mcp_prompt(self, **overrides: Any) -> ListedPrompt:
        """Return it as it is listed over standard input and output."""
        return ListedPrompt.model_validate({**listed_prompt(self._prompt), **overrides})

    async def render(self, arguments: dict[str, Any] | None = None) -> str:
        """Return its text."""
        try:
            return self._prompt.message(arguments or {})
        except InvalidInputError as error:
            raise PromptError(str(error)) from error


class _OperationTool(Tool):
    """An operation as FastMCP runs it; it is listed as the manifest says."""

    _memory: Any = PrivateAttr()
    _runner: ToolRunner = PrivateAttr()
    _listed: dict[str, Any] = PrivateAttr()

    @classmethod
    def of(cls, memory: "Memory", runner: ToolRunner, listed: dict[str, Any]) -> "_OperationTool":
        """Make the tool of a memory from its entry in the manifest."""
        made = cls(
            name=listed["name"],
            description=listed["description"],
            parameters=listed["inputSchema"],
            output_schema=listed.get("outputSchema"),
            annotations=ToolAnnotations.model_validate(listed["annotations"]),
        )
        made._memory, made._runner, made._listed = memory, runner, listed
        return made

    def to_mcp_tool(self, **overrides: Any) -> ListedTool:
        """Return the entry of the manifest."""
        return ListedTool.model_validate({**self._listed, **overrides})

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the operation in a thread."""
        try:
            answer = await asyncio.to_thread(self._runner.run, self._memory, self.name, arguments)
        except HydraMemError as error:
            raise ToolError(str(error)) from error
        content = [TextContent(type="text", text=answer.text)]
        return ToolResult(content=content, structured_content=answer.structured)


def required_token(host: str, settings: ServerConfig, environment: Mapping[str, str]) -> str | None:
    """Return the token that requests must carry; None for a loopback address without one.

    Raises:
        ConfigError: Other machines can reach the address, and no token is set.
    """
    token = environment.get(settings.token_env, "").strip()
    if not token and not is_loopback(host):
        raise ConfigError(
            f"server.host: {host} can be reached from other machines; put a secret into the environment "
            f"variable {settings.token_env}, or serve on 127.0.0.1"
        )
    return token or None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class BearerToken(TokenVerifier):
    """Accepts one token; it stores a hash of it and compares in constant time."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._hash = _hash(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access of a token; None for a wrong one."""
        if not hmac.compare_digest(_hash(token), self._hash):
            return None
        return AccessToken(token=token, client_id="hydramem", scopes=[])


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
