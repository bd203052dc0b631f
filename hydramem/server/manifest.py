"""The list of tools, read from `data/mcp.json`: ready before any code of an operation is imported."""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from hydramem.core.errors import ConfigError

_FILE = Path(__file__).parent.parent / "data" / "mcp.json"


@cache
def manifest() -> dict[str, Any]:
    """Return what `docs/generate.py` wrote: `instructions`, `profiles` and `tools`."""
    loaded: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded


def tool_names(chosen: str) -> tuple[str, ...]:
    """Return the names of the tools of a profile, or those that are named with commas between them.

    Raises:
        ConfigError: There is no such profile, and no such tool.
    """
    profiles: dict[str, list[str]] = manifest()["profiles"]
    if chosen in profiles:
        return tuple(profiles[chosen])
    names = dict.fromkeys(name.strip() for name in chosen.split(","))
    unknown = [name for name in names if name not in profiles["all"]]
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
    """
    chosen = set(names)
    tools = [tool for tool in manifest()["tools"] if tool["name"] in chosen]
    if not output_schemas:
        return tools
    from hydramem.server.tool_schemas import output_schema
    from hydramem.sharing.operation_specs import SPECS

    return [{**tool, "outputSchema": output_schema(SPECS[tool["name"]])} for tool in tools]
