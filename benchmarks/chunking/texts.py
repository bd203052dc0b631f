"""The texts that are cut: files of the Python installation, pages written from them, and written code.

Every machine that runs HydraMem has them: modules of the standard library, and sources that come within the
wheels of what HydraMem needs. Nothing is fetched.
"""

import ast
import errno
import html.entities
import http
import json
import mimetypes
import os
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from textwrap import dedent

import yaml

from benchmarks.chunking.functions import Span, brace_functions, cython_functions, python_functions
from benchmarks.chunking.written import LANGUAGES, written_files

STANDARD_LIBRARY = ("asyncio", "email", "http", "json", "logging", "unittest")
_WRITTEN_FILES = 6
_LONGEST_FILE = 100_000
_LARGEST_GROUP = 400_000
_TABLES_A_PAGE = 5
_Table = tuple[str, list[tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text to cut.

    Attributes:
        group: What it is an example of.
        origin: Where texts of the group come from.
        kind: As `chunk` takes it: markdown, text or code.
        units: Spans that should be in one chunk each where they fit: functions, fences or tables.
    """

    group: str
    origin: str
    kind: str
    text: str
    units: tuple[Span, ...] = ()


def all_texts() -> list[Text]:
    """Return every text, by group."""
    return [*_source_files(), *_written_code(), *_data_files(), *_pages(), *_fences(), *_tables()]


# Source code -------------------------------------------------------------------------------------
def _source_files() -> Iterator[Text]:
    python = [path for name in STANDARD_LIBRARY for path in sorted((_library() / name).glob("*.py"))]
    yield from _code("Python", "standard library", python, python_functions)
    yield from _code(
        "Cython", "pyarrow, sklearn", _installed("*.pyx", "pyarrow", "sklearn"), cython_functions
    )
    yield from _code("C", "numpy, sklearn", _installed("*.c", "numpy", "sklearn"), brace_functions)
    yield from _code("C++", "pyarrow", _installed("*.cc", "pyarrow"), brace_functions)


def _code(
    group: str, origin: str, paths: Sequence[Path], functions: Callable[[str], list[Span]]
) -> Iterator[Text]:
    sizes = {path: path.stat().st_size for path in paths if path.stat().st_size <= _LONGEST_FILE}
    # Files from all of the folders, not the first ones.
    step = ceil(sum(sizes.values()) / _LARGEST_GROUP)
    for path in list(sizes)[:: max(1, step)]:
        text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
        if text.strip():
            yield Text(group=group, origin=origin, kind="code", text=text, units=tuple(functions(text)))


def _written_code() -> Iterator[Text]:
    for name in LANGUAGES:
        for text, spans in written_files(name, count=_WRITTEN_FILES):
            yield Text(group=name, origin="written, seeded", kind="code", text=text, units=tuple(spans))


def _library() -> Path:
    return Path(sysconfig.get_paths()["stdlib"])


def _installed(pattern: str, *packages: str) -> list[Path]:
    """Return the files of installed packages; the packages are found, not imported."""
    found = []
    for package in packages:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            found.extend(sorted(Path(folder).rglob(pattern)))
    return found


# Data --------------------------------------------------------------------------------------------
def _data_files() -> Iterator[Text]:
    schemas = _installed("*", "jsonschema_specifications")
    held = [json.loads(path.read_text("utf-8")) for path in schemas if _is_schema(path)]
    held += [[*_described(module)] for module in _modules()]
    for each in held:
        text = json.dumps(each, indent=2, ensure_ascii=False)
        yield Text(group="JSON", origin="schemas, outlines of modules", kind="code", text=text)
        text = yaml.safe_dump(each, sort_keys=False, allow_unicode=True)
        yield Text(group="YAML", origin="the same as JSON", kind="code", text=text)


def _is_schema(path: Path) -> bool:
    return path.is_file() and "schemas" in path.parts and path.suffix in ("", ".json")


def _described(module: "_Module") -> Iterator[dict[str, object]]:
    for one in module.functions:
        yield {
            "name": one.name,
            "arguments": list(one.arguments),
            "about": one.first_line,
            "place": {"file": module.name, "lines": list(one.lines)},
        }


# Pages -------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    arguments: tuple[str, ...]
    about: str
    source: str
    lines: tuple[int, int]

    @property
    def first_line(self) -> str:
        return self.about.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    about: str
    functions: tuple[_Function, ...]


@cache
def _modules() -> tuple[_Module, ...]:
    return tuple(_read_modules())


def _read_modules() -> Iterator[_Module]:
    for package in STANDARD_LIBRARY:
        for path in sorted((_library() / package).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            tree, lines = ast.parse(text), text.split("\n")
            functions = [
                _Function(
                    node.name,
                    tuple(argument.arg for argument in node.args.args),
                    ast.get_docstring(node) or "",
                    dedent("\n".join(lines[node.lineno - 1 : node.end_lineno])),
                    (node.lineno, node.end_lineno or node.lineno),
                )
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and ast.get_docstring(node)
            ]
            if len(functions) > 1:
                yield _Module(f"{package}.{path.stem}", ast.get_docstring(tree) or "", tuple(functions))


def _pages() -> Iterator[Text]:
    """Yield a page for each module: a section for each function, many of them of one line."""
    for module in _modules():
        parts = [f"# {module.name}", module.about]
        for one in module.functions:
            parts += [f"## {one.name}", one.about]
        text = "\n\n".join(parts) + "\n"
        yield Text(group="Markdown", origin="docstrings of the standard library", kind="markdown", text=text)


def _fences() -> Iterator[Text]:
    """Yield a page for each module: for each function a line, and its source in a fence."""
    for module in _modules():
        text, units = f"# {module.name}\n\n", []
        for one in module.functions:
            if "```" in one.source:
                continue
            text += f"{one.first_line}\n\n"
            fence = f"```python\n{one.source}\n```"
            units.append((len(text), len(text) + len(fence)))
            text += f"{fence}\n\n"
        origin = "functions of the standard library"
        yield Text(group="Fences", origin=origin, kind="markdown", text=text, units=tuple(units))


def _tables() -> Iterator[Text]:
    """Yield pages with several tables each: some of a few rows, some of hundreds."""
    tables: list[_Table] = [
        ("Status codes", [(str(one.value), one.phrase, one.description) for one in http.HTTPStatus]),
        ("Types of files", [*mimetypes.MimeTypes().types_map[True].items()]),
        ("Errors", [(str(code), name, os.strerror(code)) for code, name in errno.errorcode.items()]),
        ("Entities", [(name, f"U+{code:04X}") for name, code in html.entities.name2codepoint.items()]),
    ]
    for module in _modules():
        outline = ((one.name, ", ".join(one.arguments), one.first_line) for one in module.functions)
        tables.append((module.name, [*outline]))
    for first in range(0, len(tables), _TABLES_A_PAGE):
        text, units = "", []
        for title, rows in tables[first : first + _TABLES_A_PAGE]:
            text += f"# {title}\n\nThese are known, one a row.\n\n"
            table = _table(rows)
            units.append((len(text), len(text) + len(table)))
            text += f"{table}\n\n"
        origin = "tables of the standard library"
        yield Text(group="Tables", origin=origin, kind="markdown", text=text, units=tuple(units))


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = [[cell.replace("|", "/").strip() for cell in row] for row in rows]
    names = ["name", "what it is", "about"][: len(cells[0])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (names, ["---"] * len(names), *cells))
