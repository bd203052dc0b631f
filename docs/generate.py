"""Write the pages that are generated from the code; with --check, fail if one is stale.

python docs/generate.py [--check]
"""

import dataclasses
import inspect
import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from rich.console import Console

from hydramem.core import config, row_types
from hydramem.core.config_reference import Setting, attributes, config_text, settings
from hydramem.core.docstrings import first_line, section, summary
from hydramem.operations import OPERATIONS, Operation

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Made by docs/generate.py from the code: change the code, then run it. -->\n"


def main(arguments: list[str]) -> int:
    """Write every page, or name the stale ones; return the exit code."""
    code = 0
    for name, page in PAGES.items():
        text = page()
        if _read(ROOT / name) == text:
            continue
        if "--check" in arguments:
            print(f"{name} is stale: run `python docs/generate.py`")
            code = 1
        else:
            (ROOT / name).write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return code


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


# Configuration -----------------------------------------------------------------------------------


def configuration_page() -> str:
    """Return the page of every setting."""
    by_section: dict[str, list[Setting]] = {}
    for setting in settings():
        by_section.setdefault(setting.path[0], []).append(setting)
    return (
        f"# Configuration\n\n{NOTE}\n"
        "Settings are read from `config.yml` in the store's folder, or from the file that `--config`\n"
        "names; a missing key has its default. An environment variable overrides both. `hydramem init`\n"
        "writes a file with every key into the store. An unknown key, or a value of the wrong type, is a\n"
        "`ConfigError`. A secret is never a value: a key that ends in `_env` names the environment variable\n"
        "that holds it.\n" + "".join(_section(name, rows) for name, rows in by_section.items())
    )


def _section(name: str, rows: list[Setting]) -> str:
    about = first_line(type(getattr(config.Config(), name)).__doc__)
    lines = ["| key | values | default | what it does | variable |", "|---|---|---|---|---|"]
    lines += [
        f"| `{'.'.join(row.path)}` | {row.kind} | `{_shown(row.default)}` | {row.why} | `{row.variable}` |"
        for row in rows
    ]
    return f"\n## {name}\n\n{about}\n\n" + "\n".join(lines) + "\n"


def _shown(default: object) -> str:
    return str(list(default)) if isinstance(default, tuple) else f"{default}" if default != "" else '""'


# Schema ------------------------------------------------------------------------------------------

NODES = (
    row_types.Document,
    row_types.Chunk,
    row_types.Entity,
    row_types.Session,
    row_types.Change,
    row_types.Job,
)
EDGES = (row_types.Relation, row_types.Mention, row_types.Link, row_types.Recalled)


def schema_page() -> str:
    """Return the page of the rows that a store holds."""
    from hydramem.storage.schema import SCHEMA_VERSION

    return (
        f"# Schema\n\n{NOTE}\n"
        f"Version {SCHEMA_VERSION}. The graph store holds these rows and is authoritative; the vector store\n"
        "holds copies of chunks and entities and can be rebuilt from it. A row is a frozen dataclass of\n"
        "`hydramem.core.row_types`.\n"
        "\n## The four times\n\n"
        f"{first_line(row_types.Times.__doc__)}\n\n{_fields(row_types.Times)}"
        "\n## Nodes\n" + "".join(map(_row, NODES)) + "\n## Edges\n" + "".join(map(_row, EDGES))
    )


def _row(row: type[Any]) -> str:
    return f"\n### {row.__name__}\n\n{first_line(row.__doc__)}\n\n{_fields(row)}"


def _fields(row: type[Any]) -> str:
    whys, hints = attributes(row), get_type_hints(row)
    lines = ["| field | type | |", "|---|---|---|"]
    lines += [
        f"| `{item.name}` | {type_text(hints[item.name])} | {whys.get(item.name, '')} |"
        for item in dataclasses.fields(row)
    ]
    return "\n".join(lines) + "\n"


def type_text(hint: Any) -> str:
    """Write a type as the pages show it: module names left out, bars escaped for a table."""
    return f"`{expression(hint)}`".replace("|", "\\|")


def expression(hint: Any) -> str:
    """Write a type as an expression without module names."""
    plain = hint.__name__ if isinstance(hint, type) and not getattr(hint, "__args__", ()) else str(hint)
    plain = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])", "", plain).replace("NoneType", "None")
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", plain)


# Dumps -------------------------------------------------------------------------------------------

_KINDS = {
    "text": "text",
    "texts": "list of texts",
    "json": "object",
    "time": "time",
    "number": "number",
    "integer": "whole number",
    "flag": "true or false",
}


_ABOUT_DUMPS = """\
`hydramem dump DIR` writes a whole memory into a new folder, `hydramem load DIR` reads it into a store on
either graph engine. Dumping what was loaded gives the same files, byte for byte, and loading twice changes
nothing. A dump is a folder with `manifest.json` and one file for each table.

- A file is UTF-8, one JSON object on a line, each line ended by a line feed. A null field is left out.
- Lines are sorted by their key, text by code point, and no key is there twice.
- A time is ISO 8601 in UTC with microseconds: `2024-05-01T12:00:00.000000Z`.
- A field that names a row of another file names one that is in the dump. Only the `evidence` of a relation
  and the `target` of a change can name a row that no longer exists.
- `before`, `after` and `image` of a change, and `payload` of a job, are JSON as text, kept as written.
- With `--vectors`, `chunk_vectors.jsonl` and `entity_vectors.jsonl` hold `id` and `vector`: the float32
  numbers, little-endian, in base64. A store with the same embedder reads them; another computes its own.
- A job that runs during the dump is written as waiting.
- Derived data (the vector store, its outbox, snapshots) is not included, nor are plain files of the store
  that can be copied (`config.yml`, `curated/`, `models/`).

A dump appears when it is complete. A killed dump leaves a hidden folder whose name ends in `.dump`; the next
dump into the same place removes it.

Loading checks everything before it writes anything: hashes, every line, order and references. It writes only
rows that the store lacks; a row that exists and differs is left unchanged and counted.
"""


def dump_page() -> str:
    """Return the page of the format that `dump` writes and `load` reads."""
    from hydramem.storage.exchange import json_lines, manifest
    from hydramem.storage.exchange import manifest as layout

    files = "\n".join(
        f"| `{part.file}` | {part.table.row.__name__} | {_sorted_by(part)} "
        f"| {first_line(part.table.row.__doc__)} |"
        for part in layout.PARTS
    )
    parts = (
        f"\n### {part.file}\n\n{_dumped(part, json_lines.fields_of(part.table))}" for part in layout.PARTS
    )
    described = (
        f"\n### {row.__name__}\n\n{_fields(row)}" for row in (manifest.DumpManifest, manifest.FileEntry)
    )
    return (
        f"# Dumps\n\n{NOTE}\n{_ABOUT_DUMPS}\n"
        f"This is version {layout.VERSION} of the format.\n"
        f"\n## Files\n\n| file | row | sorted by | |\n|---|---|---|---|\n{files}\n"
        f"\n## {layout.MANIFEST}\n{''.join(described)}"
        f"\n## Fields\n{''.join(parts)}"
    )


def _sorted_by(part: Any) -> str:
    if part.is_node:
        return "`id`"
    names = [*part.table.ends, *(name for name in ("id", "at", "rank") if hasattr(part.table.row, name))]
    return ", ".join(f"`{name}`" for name in names)


def _dumped(part: Any, fields: Any) -> str:
    whys = attributes(part.table.row)
    table = ["| field | holds | |", "|---|---|---|"]
    for item in fields:
        holds = " ".join(f"`{choice}`" for choice in sorted(item.choices)) or _KINDS[item.kind]
        must = ", always there" if item.required and not item.nullable else ""
        table.append(f"| `{item.name}` | {holds}{must} | {whys.get(item.name, '')} |")
    return "\n".join(table) + "\n"


# Operations ----------------------------------------------------------------------------------------


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
    del fields["method"]
    signature = operation.signature
    return {
        "name": operation.name,
        **fields,
        "reports_progress": operation.reports_progress,
        "parameters": list(map(_parameter_row, signature.parameters.values())),
        "returns": expression(signature.return_annotation),
        "doc": inspect.getdoc(operation.method),
    }


def _parameter_row(given: inspect.Parameter) -> dict[str, Any]:
    row = {"name": given.name, "kind": given.kind.name, "annotation": expression(given.annotation)}
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


# Reference ---------------------------------------------------------------------------------------

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
    shown = "".join(_row(results[name]) for name in sorted(results))
    about = "Frozen dataclasses; with `--json`, and over MCP on request, the same fields in JSON."
    return f"{page}\n## Results\n\n{about}\n{shown}"


def _operation(operation: Operation) -> str:
    about, signature = operation.method.__doc__, operation.signature
    agent = "agent, " if operation.audience == "agent" else ""
    text = (
        f"\n### {operation.name}\n\n{summary(about)}\n\n"
        f"- MCP tool `{operation.name}` ({agent}{_EFFECTS[operation.effect]})\n"
        f"- `hydramem {_usage(operation)}`\n"
        f"- `memory.{operation.name}({_python(signature)})` gives {type_text(signature.return_annotation)}\n"
    )
    words = section(about, "Args")
    if signature.parameters:
        text += "\n| argument | type | default | |\n|---|---|---|---|\n"
    for name, given in signature.parameters.items():
        default = "" if given.default is given.empty else f"`{given.default!r}`"
        text += f"| `{name}` | {type_text(given.annotation)} | {default} | {words.get(name, '')} |\n"
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


# Help --------------------------------------------------------------------------------------------


def help_page() -> str:
    """Return the first page of help: what there is, a line each."""
    from hydramem.cli.main import build

    page = io.StringIO()
    build().meta.help_print([], console=Console(file=page, width=100, color_system=None))
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


# Reliability -------------------------------------------------------------------------------------


def reliability_page() -> str:
    """Return the page on reliability with the counts of the fault suites, by suite and engine."""
    page = _read(ROOT / "docs/reliability.md")
    before, after = page.split(_COUNTS[0])[0], page.split(_COUNTS[1])[1]
    found: dict[str, dict[str, dict[str, float]]] = json.loads(_read(ROOT / "docs/reliability.json"))
    rows = [
        f"| {suite} | {engine} | {'; '.join(f'{number:,} {name}' for name, number in counts.items())} |"
        for suite, engines in sorted(found.items())
        for engine, counts in sorted(engines.items(), reverse=True)
    ]
    table = "\n".join(["| suite | engine | counts |", "|---|---|---|", *rows])
    return f"{before}{_COUNTS[0]}\n\n{table}\n\n{_COUNTS[1]}{after}"


_COUNTS = ("<!-- Counts by docs/generate.py from docs/reliability.json. -->", "<!-- End of counts. -->")
# The command line is built from the first of these, so no page imports it before that one is written.
PAGES: dict[str, Callable[[], str]] = {
    "hydramem/data/operations.json": operations_data,
    "hydramem/data/mcp.json": tools_data,
    "docs/reliability.md": reliability_page,
    "config.yml": config_text,
    "docs/reference.md": reference_page,
    "docs/configuration.md": configuration_page,
    "docs/schema.md": schema_page,
    "docs/dump.md": dump_page,
    "hydramem/data/help.txt": help_page,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
