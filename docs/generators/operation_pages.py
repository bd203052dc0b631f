"""Write what the table of operations says: as data for the surfaces, and as the page of the reference."""

import dataclasses
import inspect
import json
from collections.abc import Sequence
from typing import Any, get_args, get_origin, get_type_hints

from generators import type_texts
from generators.type_texts import NOTE
from hydramem.core.docstrings import section, summary
from hydramem.operations import OPERATIONS, Operation


def operations_data() -> str:
    """Return the table of operations as data, which surfaces read in place of the code."""
    types: dict[str, str] = {}
    for operation in OPERATIONS:
        for given in operation.signature.parameters.values():
            types |= _modules(given.annotation)
        types |= _modules(operation.signature.return_annotation)
    rows = list(map(_operation_row, OPERATIONS))
    data = {"types": dict(sorted(types.items())), "operations": rows}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _operation_row(operation: Operation) -> dict[str, Any]:
    fields = {item.name: getattr(operation, item.name) for item in dataclasses.fields(operation)}
    del fields["method"], fields["owners"]
    signature = operation.signature
    return {
        "name": operation.name,
        **fields,
        "role": operation.role,
        "reports_progress": operation.reports_progress,
        "parameters": list(map(_parameter_row, signature.parameters.values())),
        "returns": type_texts.expression(signature.return_annotation),
        "doc": inspect.getdoc(operation.method),
    }


def _parameter_row(given: inspect.Parameter) -> dict[str, Any]:
    row = {"name": given.name, "kind": given.kind.name, "annotation": type_texts.expression(given.annotation)}
    return row if given.default is given.empty else {**row, "default": given.default}


def _modules(hint: Any) -> dict[str, str]:
    """Return the modules of the classes of this package that a type names."""
    found = {name: module for inner in get_args(hint) for name, module in _modules(inner).items()}
    if isinstance(hint, type) and hint.__module__.startswith("hydramem."):
        found[hint.__name__] = hint.__module__
    return found


def tools_data() -> str:
    """Return the tools of the MCP server as data, which it lists in place of the code."""
    from hydramem.server.tool_schemas import manifest

    return json.dumps(manifest(), indent=1, ensure_ascii=False) + "\n"


_GROUPS = {"write": "Write", "read": "Read", "check": "Check", "tend": "Tend"}
_EFFECTS = {
    "read": "reads",
    "write": "writes",
    "destroy": "removes from recall",
}


def reference_page() -> str:
    """Return the page of every operation, in the order of the table."""
    page = (
        f"# Reference\n\n{NOTE}\n"
        "Every operation has one name everywhere: a method of `Memory`, a command, an MCP tool.\n"
        "Arguments after the first are named. On the command line `--store`, `--project`, `--config` and\n"
        "`--json` can be given before or after any command. An MCP client sees the tools marked *agent*,\n"
        "and all of them with `hydramem serve --tools all`; it gives rare arguments as keys of `options`\n"
        "([mcp.md](mcp.md)). A time is ISO 8601 text with a zone, or a date,\n"
        "which is its start in UTC; Python takes an aware `datetime` as well.\n"
    )
    results: dict[str, type[Any]] = {}
    for group, title in _GROUPS.items():
        rows = [operation for operation in OPERATIONS if operation.group == group]
        page += f"\n## {title}\n" * bool(rows) + "".join(map(_operation, rows))
        for operation in rows:
            _collect(operation.signature.return_annotation, results)
    shown = "".join(type_texts.row(results[name]) for name in sorted(results))
    about = "Frozen dataclasses; with `--json`, and over MCP on request, the same fields in JSON."
    return f"{page}\n## Results\n\n{about}\n{shown}"


def _operation(operation: Operation) -> str:
    about, signature = operation.method.__doc__, operation.signature
    agent = "agent, " if operation.audience == "agent" else ""
    result = type_texts.type_text(signature.return_annotation)
    text = (
        f"\n### {operation.name}\n\n{summary(about)}\n\n"
        f"- MCP tool `{operation.name}` ({agent}{_EFFECTS[operation.effect]}; "
        f"role {operation.role}{', not for some projects only' * operation.whole_store})\n"
        f"- `hydramem {_usage(operation)}`\n"
        f"- `memory.{operation.name}({_python(signature)})` gives {result}\n"
    )
    words = section(about, "Args")
    if signature.parameters:
        text += "\n| argument | type | default | |\n|---|---|---|---|\n"
    for name, given in signature.parameters.items():
        default = "" if given.default is given.empty else f"`{given.default!r}`"
        text += (
            f"| `{name}` | {type_texts.type_text(given.annotation)} | {default} | {words.get(name, '')} |\n"
        )
    raised = section(about, "Raises")
    if raised:
        text += "\n" + "".join(f"Raises `{name}`: {why}\n" for name, why in raised.items())
    return text


def _usage(operation: Operation) -> str:
    """Return one line of how the command is typed, options in brackets."""
    from hydramem.cli.table_commands import command_name, is_structured

    words = [command_name(operation.name)]
    for name, given in operation.signature.parameters.items():
        if name == "project":
            continue
        is_list = get_origin(given.annotation) is Sequence and not is_structured(given.annotation)
        many = "..." if given.kind is not given.KEYWORD_ONLY and is_list else ""
        option = f"--{'no-' * (given.default is True)}{name.strip('_').replace('_', '-')}"
        shown = name.upper() if given.kind is not given.KEYWORD_ONLY else option
        if given.kind is given.KEYWORD_ONLY and given.annotation is not bool:
            shown = f"{option} {name.upper()}"
        words.append(f"{shown}{many}" if given.default is given.empty else f"[{shown}{many}]")
    return " ".join(words)


def _python(signature: inspect.Signature) -> str:
    plain = [given.replace(annotation=given.empty) for given in signature.parameters.values()]
    return str(inspect.Signature(plain))[1:-1]


def _collect(hint: Any, into: dict[str, type[Any]]) -> None:
    """Collect the dataclasses of a result, also nested ones."""
    for inner in get_args(hint):
        _collect(inner, into)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint.__name__ not in into:
        into[hint.__name__] = hint
        for inner in get_type_hints(hint).values():
            _collect(inner, into)
