"""The MCP server over HTTP, by FastMCP: what it serves, and the checks of requests.

The Host and Origin of every request are checked. A bearer token is required where there is one, in its
variable or made by `hydramem token`; off loopback there must be. Each request has the rights of its token.
"""

import asyncio
import ipaddress
import os
import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier

from hydramem.core.config import ServerConfig
from hydramem.core.errors import ConfigError
from hydramem.core.version import __version__
from hydramem.server.fastmcp_parts import (
    OperationTool,
    PromptPart,
    ResourcePart,
    ServedMemory,
    TemplatePart,
)
from hydramem.server.http.front_door import FrontDoor, checked
from hydramem.server.http.known_tokens import KnownTokens, token_hash
from hydramem.server.http.limits import Limits
from hydramem.server.http.timed_protocol import timed_protocol
from hydramem.server.manifest import (
    every_tool,
    instructions,
    listed_templates,
    listed_tools,
    reads,
    tool_names,
)
from hydramem.server.prompts import prompts_for
from hydramem.server.resources import listed_resources
from hydramem.server.run_tool import ToolRunner
from hydramem.sharing.connect import call
from hydramem.sharing.token_store import token_store
from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import TokenStore

if TYPE_CHECKING:
    from hydramem import Memory


def serve(
    memory: "Memory",
    *,
    settings: ServerConfig,
    project: str = "default",
    host: str | None = None,
    port: int | None = None,
    tools: str | None = None,
) -> None:
    """Serve a memory at `/mcp` until interrupted, by streamable HTTP.

    Args:
        memory: The memory to serve.
        settings: Defaults of the other arguments, limits, and the folders of files.
        project: The memory's own project, whose overview is listed.
        host: Address to listen on.
        port: Port to listen on.
        tools: A profile, or tools by name with commas between them.

    Raises:
        ConfigError: The address is not loopback and no token is set, or there is no such tool.
    """
    address = host or settings.host
    store = token_store(memory.folder, memory.config.storage)
    token = required_token(address, settings, os.environ, store)
    served = _served(memory, settings=settings, project=project, tools=tools, token=token, store=store)
    app = _server_of(served, settings=settings).http_app(
        host_origin_protection=True,
        allowed_hosts=list(settings.allowed_hosts),
        allowed_origins=list(settings.allowed_origins),
    )

    def read_store() -> None:
        call(memory, "jobs", {"limit": 1}, actor="health")

    door = FrontDoor(
        app,
        tokens=served.tokens,
        needs_token=served.needs_token,
        limits=Limits(per_minute=settings.requests_per_minute, concurrent=settings.concurrent_calls),
        most_bytes=int(settings.body_mb * 2**20),
        read_store=read_store,
    )
    options = uvicorn.Config(
        door,
        host=address,
        port=port or settings.port,
        http=timed_protocol(settings.request_seconds),
        ws="none",
        lifespan="on",
        log_level="info",
        timeout_graceful_shutdown=1,
    )
    StoppingServer(options, door, settings.stop_seconds, served.threads.executor).run()


def build(
    memory: "Memory",
    *,
    settings: ServerConfig,
    project: str = "default",
    tools: str | None = None,
) -> FastMCP[Any]:
    """Build the server of a memory for its own user, with the tools of a profile, its prompts and resources.

    Raises:
        ConfigError: There is no such profile or tool.
    """
    served = _served(
        memory, settings=settings, project=project, tools=tools, token=None, store=TokenFile(memory.folder)
    )
    return _server_of(replace(served, needs_token=False), settings=settings)


def _served(
    memory: "Memory",
    *,
    settings: ServerConfig,
    project: str,
    tools: str | None,
    token: str | None,
    store: TokenStore,
) -> ServedMemory:
    tokens = KnownTokens(
        store=store,
        environment=token_hash(token) if token else None,
        tools=tools or settings.tools,
        project=project,
    )
    return ServedMemory(
        memory=memory,
        project=project,
        runner=ToolRunner(settings),
        tokens=tokens,
        needs_token=tokens.are_required,
    )


def _server_of(served: ServedMemory, *, settings: ServerConfig) -> FastMCP[Any]:
    own = tool_names(served.tokens.tools)
    # A token can have a profile of its own; what each sees is checked at every request.
    names = every_tool() if served.needs_token else own
    server: FastMCP[Any] = FastMCP(
        name="hydramem",
        instructions=instructions(own),
        version=__version__,
        auth=TokenCheck(served.tokens) if served.needs_token else None,
        mask_error_details=True,
    )
    project = served.project
    for tool in listed_tools(names, output_schemas=settings.output_schemas):
        server.add_tool(OperationTool.of(served, tool))
    for prompt in prompts_for(names).values():
        server.add_prompt(PromptPart.of(served, prompt))
    for resource in listed_resources(project) if reads(names) else ():
        server.add_resource(ResourcePart.of(served, resource))
    for template in listed_templates(names):
        server.add_template(TemplatePart.of(served, template))
    return server


def required_token(
    host: str, settings: ServerConfig, environment: Mapping[str, str], store: TokenStore
) -> str | None:
    """Return the token of the environment; None where there is none.

    Raises:
        ConfigError: Other machines can reach the address, and there is no token at all.
    """
    token = environment.get(settings.token_env, "").strip()
    if not token and not store.rows() and not is_loopback(host):
        raise ConfigError(
            f"server.host: {host} can be reached from other machines; make a token with `hydramem token "
            f"make`, put a secret into the environment variable {settings.token_env}, or serve on "
            "127.0.0.1"
        )
    return token or None


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class TokenCheck(TokenVerifier):
    """Accepts the tokens of a server."""

    def __init__(self, tokens: KnownTokens) -> None:
        super().__init__()
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access of a token; None for a wrong one."""
        # The database that holds the tokens may be slow or away: other requests do not wait for it.
        access = await checked(self._tokens.access, token)
        return None if access is None else AccessToken(token=token, client_id=access.actor, scopes=[])


class StoppingServer(uvicorn.Server):
    """Ends on a signal once the calls that run have ended, or after some seconds; a second signal is at once.

    Args:
        config: Of uvicorn.
        door: Refuses new calls meanwhile.
        seconds: How long the calls may take.
        threads: Of the calls; the event loop ends with them, and the store is closed after that.
    """

    def __init__(
        self, config: uvicorn.Config, door: FrontDoor, seconds: float, threads: ThreadPoolExecutor
    ) -> None:
        super().__init__(config)
        self._threads = threads
        self._door = door
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, and remember the event loop for the signal."""
        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(self._threads)
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end. uvicorn would raise the signal again at last, and so kill what closes the store."""
        if self._loop is None or self._door.stopping:
            self.should_exit = self.force_exit = True
            return
        self._loop.call_soon_threadsafe(self._begin_to_end)

    def _begin_to_end(self) -> None:
        self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        await self._door.stop(self._seconds)
        self.should_exit = True
