"""`hydramem serve`, in a module of its own: over stdio it answers before the rest of the program loads."""

from typing import Annotated, Literal

from cyclopts import Parameter

from hydramem.cli.commands.plain_serve import serve_over_pipes
from hydramem.cli.options import Given


def serve(
    *,
    transport: Annotated[Literal["stdio", "http"], Parameter(help="How clients connect.")] = "stdio",
    host: Annotated[str | None, Parameter(help="Address for HTTP [default: server.host].")] = None,
    port: Annotated[int | None, Parameter(help="Port for HTTP [default: server.port].")] = None,
    tools: Annotated[
        str | None,
        Parameter(
            help="reader (recall, prime, get), agent (the everyday tools), chatgpt (search, fetch), all, or "
            "tools by name with commas between them [default: server.tools]."
        ),
    ] = None,
    background: Annotated[
        bool,
        Parameter(
            help="Instead, start a process that holds the store for all others and leaves when it is idle.",
            negative=(),
            show_default=False,
        ),
    ] = False,
    invocation: Given,
) -> None:
    """Serve the memory to MCP clients."""
    if background:
        from hydramem.cli.commands.sharing_commands import serve_in_background

        serve_in_background(invocation)
        return
    if transport == "stdio":
        serve_over_pipes(invocation, tools)
        return
    from hydramem.server import http_server

    settings = invocation.settings().server
    with invocation.open(make=True) as memory:
        http_server.serve(
            memory, project=invocation.namespace, host=host, port=port, tools=tools, settings=settings
        )
