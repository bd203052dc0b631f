"""Write the pages that are generated from the code; with --check, fail if one is stale.

python docs/generate.py [--check]
"""

import io
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from generators import diagram_data, diagrams, dump_page, operation_pages, plots, surface_pages, type_texts
from generators.type_texts import NOTE
from rich.console import Console

from hydramem.core import config, row_types
from hydramem.core.docstrings import first_line
from hydramem.core.settings.config_reference import Setting, config_text, settings

ROOT = Path(__file__).resolve().parent.parent


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
    sections = "".join(_section(name, rows) for name, rows in by_section.items())
    return (
        f"# Configuration\n\n{NOTE}\n"
        "Settings are read from `config.yml` in the store's folder, or from the file that `--config`\n"
        "names; a missing key has its default. An environment variable overrides both. `hydramem init`\n"
        "writes a file with every key into the store, `hydramem config set KEY VALUE` changes one and keeps\n"
        "comments, and `hydramem config list` shows what is in force and where it comes from. An\n"
        "unknown key, or a value of the wrong type, is a `ConfigError`. A secret is never a value:\n"
        f"a key that ends in `_env` names the environment variable that holds it.\n{sections}"
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
        f"{first_line(row_types.Times.__doc__)}\n\n{type_texts.fields(row_types.Times)}"
        "\n## Nodes\n"
        + "".join(map(type_texts.row, NODES))
        + "\n## Edges\n"
        + "".join(map(type_texts.row, EDGES))
    )


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
    "hydramem/data/operations.json": operation_pages.operations_data,
    "hydramem/data/mcp.json": operation_pages.tools_data,
    "docs/reliability.md": reliability_page,
    "config.yml": config_text,
    "docs/reference.md": operation_pages.reference_page,
    "docs/configuration.md": configuration_page,
    "docs/schema.md": schema_page,
    "docs/dump.md": dump_page.dump_page,
    "hydramem/data/help.txt": help_page,
    "docs/python.md": surface_pages.python_page,
    "docs/cli.md": surface_pages.cli_page,
    "docs/benchmarks.md": lambda: plots.benchmarks_page(ROOT),
    **{
        f"docs/assets/diagrams/{name}.svg": partial(diagrams.draw, diagram)
        for name, diagram in diagram_data.DIAGRAMS.items()
    },
    **{f"docs/assets/plots/{name}.svg": partial(plot, ROOT) for name, plot in plots.PLOTS.items()},
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
