"""The list of tools, read from `data/mcp.json`: ready before any code of an operation is imported."""

import json
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hydramem.core.errors import ConfigError

_FILE = Path(__file__).parent.parent / "data" / "mcp.json"


@cache
def manifest() -> dict[str, Any]:
    """Return what `docs/generate.py` wrote: `instructions`, `profiles`, `tools` and `resourceTemplates`."""
    loaded: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def every_tool() -> tuple[str, ...]:
    """Return the names of all tools."""
    return tuple(tool["name"] for tool in manifest()["tools"])


def tool_names(chosen: str) -> tuple[str, ...]:
    """Return the names of the tools of a profile, or those that are named with commas between them.

    Raises:
        ConfigError: There is no such profile, and no such tool.
    """
    profiles: dict[str, list[str]] = manifest()["profiles"]
    if chosen in profiles:
        return tuple(profiles[chosen])
    names = dict.fromkeys(name.strip() for name in chosen.split(","))
    known = {tool["name"] for tool in manifest()["tools"]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(
            f"server.tools: {unknown[0][:80]!r} is neither a tool nor one of {', '.join(profiles)}; "
            "`hydramem serve --tools recall,remember` shows two tools"
        )
    return tuple(names)


def listed_tools(names: Iterable[str], *, output_schemas: bool) -> list[dict[str, Any]]:
    """Return tools as `tools/list` shows them, in the order of the table.

    Args:
        names: The tools.
        output_schemas: Whether each has the schema of its whole value; this imports the types of results.
            `search` and `fetch` have theirs always.
    """
    chosen = set(names)
    tools = [tool for tool in manifest()["tools"] if tool["name"] in chosen]
    if not output_schemas:
        return tools
    from hydramem.server.tool_schemas import output_schema
    from hydramem.sharing.operation_specs import SPECS

    return [
        tool if "outputSchema" in tool else {**tool, "outputSchema": output_schema(SPECS[tool["name"]])}
        for tool in tools
    ]


def instructions(names: Collection[str]) -> str:
    """Return what a client is told of a server with these tools."""
    sentences = manifest()["instructions"]
    return " ".join(each["text"] for each in sentences if set(each["tools"]) <= set(names))


def reads(names: Collection[str]) -> bool:
    """Return whether one of these tools reads; then a client may read resources, too."""
    return any(tool["annotations"]["readOnlyHint"] for tool in manifest()["tools"] if tool["name"] in names)


def listed_templates(names: Collection[str]) -> list[dict[str, Any]]:
    """Return the templates of resources as a server with these tools lists them."""
    return list(manifest()["resourceTemplates"]) if reads(names) else []
