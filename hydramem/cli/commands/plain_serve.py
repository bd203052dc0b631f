"""`hydramem serve` over standard input and output, read without Cyclopts: that takes as long as all the rest.

A client that starts a server for one question does not wait for it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.cli.options import Invocation

if TYPE_CHECKING:
    from hydramem import Memory

_OPTIONS = frozenset({"--store", "--project", "--config", "--tools", "--transport"})


def plain_serve(tokens: Sequence[str]) -> tuple[Invocation, str | None] | None:
    """Return the options of a command line that serves over standard input and output, and its tools.

    Returns:
        None for every command line that is not plainly one: help, HTTP, a mistake; Cyclopts reads those.
    """
    given: dict[str, str] = {}
    commands = 0
    words = iter(tokens)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "serve":
            commands += 1
        elif name in _OPTIONS and name not in given and (commands or name not in ("--tools", "--transport")):
            given[name] = value if equals else next(words, "")
            if not given[name] or given[name].startswith("-"):
                return None
        else:
            return None
    if commands != 1 or given.get("--transport", "stdio") != "stdio":
        return None
    store, config = given.get("--store"), given.get("--config")
    invocation = Invocation(
        store=None if store is None else Path(store),
        project=given.get("--project"),
        config=None if config is None else Path(config),
    )
    return invocation, given.get("--tools")


def serve_over_pipes(invocation: Invocation, tools: str | None, *, alone: bool = False) -> None:
    """Serve a memory over standard input and output until the input ends.

    Args:
        invocation: The options of every command.
        tools: A profile, or tools by name; None takes those of the settings.
        alone: Nothing else runs in this process, so libraries may be loaded without what only others use.
    """
    from hydramem.server.stdio.stdio_server import serve_stdio

    def opened() -> "Memory":
        if alone:
            from hydramem.storage.lance.remote_client import use_placeholders

            use_placeholders()
        return invocation.open(make=True)

    serve_stdio(opened, invocation.settings().server, project=invocation.namespace, tools=tools)
