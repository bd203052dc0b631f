"""Every regular expression of the package, found by its source: none can be added unseen.

Each call of the module `re` in the package is a site. A pattern that is a plain string is read from the
source; others are recorded while the modules are imported and `_compile_late` runs. A site without a pattern
is an error of the test, not of the pattern.
"""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hydramem

_ROOT = Path(hydramem.__file__).parent
_CALLS = frozenset({"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"})
_ANCHORED = frozenset({"match", "fullmatch"})


@dataclass(frozen=True, slots=True)
class Site:
    """A call of `re` in a file, by its first and last line.

    Attributes:
        name: The module's variable that holds the pattern, where there is one.
    """

    file: str
    first: int
    last: int
    method: str
    name: str
    literal: str | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A pattern with where it stands, and the methods that run it: `finditer` where it may start anywhere."""

    pattern: re.Pattern[str]
    file: str
    line: int
    methods: tuple[str, ...]


def sites() -> Iterator[Site]:
    """Yield every call of `re` in the package."""
    for path in sorted(_ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            id(node.value): node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                raise AssertionError(f"{path}: import re as a module, so that its patterns are found")
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            of = node.func.value
            if isinstance(of, ast.Name) and of.id == "re" and node.func.attr in _CALLS:
                first = node.args[0]
                most = 3 if node.func.attr in ("sub", "subn") else 2
                flagged = len(node.args) > most or any(word.arg == "flags" for word in node.keywords)
                plain = isinstance(first, ast.Constant) and isinstance(first.value, str)
                literal = str(first.value) if plain and not flagged and node.func.attr != "compile" else None
                last = node.end_lineno or node.lineno
                file = str(path.relative_to(_ROOT))
                yield Site(file, node.lineno, last, node.func.attr, names.get(id(node), ""), literal)


def _anchored_names() -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the methods of patterns that are run by `match` and `fullmatch` alone, by file and variable."""
    used: dict[tuple[str, str], set[str]] = {}
    for path in _ROOT.rglob("*.py"):
        file = str(path.relative_to(_ROOT))
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        methods = {id(each.value): each.attr for each in nodes if isinstance(each, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                used.setdefault((file, node.id), set()).add(methods.get(id(node), "read"))
    # A public name may be used in other files: those are run as if they could start anywhere.
    return {
        key: tuple(sorted(methods))
        for key, methods in used.items()
        if methods <= _ANCHORED and key[1].startswith("_")
    }


def compiled() -> tuple[list[Compiled], list[Site]]:
    """Return the patterns of the package, and the sites that none was seen of."""
    recorded: dict[tuple[str, int], dict[tuple[str, int], re.Pattern[str]]] = {}
    compile_ = re._compile  # type: ignore[attr-defined]

    def record(pattern: object, flags: int) -> re.Pattern[str]:
        done: re.Pattern[str] = compile_(pattern, flags)
        frame = sys._getframe(2)
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(_ROOT):
            place = (str(file.relative_to(_ROOT)), frame.f_lineno)
            shown = done if isinstance(done.pattern, str) else _of_text(done)
            recorded.setdefault(place, {})[shown.pattern, shown.flags] = shown
        return done

    re._compile = record  # type: ignore[attr-defined]
    try:
        absent = _import_all()
        _compile_late()
    finally:
        re._compile = compile_  # type: ignore[attr-defined]
    found: dict[tuple[str, int, tuple[str, ...]], Compiled] = {}
    unseen = []
    anchored = _anchored_names()
    for site in sites():
        patterns = [
            each
            for (file, line), those in recorded.items()
            if file == site.file and site.first <= line <= site.last
            for each in those.values()
        ]
        if site.literal is not None:
            patterns.append(re.compile(site.literal))
        elif not patterns and site.file not in absent:
            unseen.append(site)
        methods = (site.method,) if site.method in _ANCHORED else ("finditer",)
        if site.method == "compile":
            methods = anchored.get((site.file, site.name), methods)
        for pattern in patterns:
            key = (pattern.pattern, pattern.flags, methods)
            found[key] = Compiled(pattern, site.file, site.first, methods)
    return list(found.values()), unseen


def _of_text(pattern: re.Pattern[bytes]) -> re.Pattern[str]:
    """Return a pattern of bytes as one of the characters with these codes: the attacks are text."""
    return re.compile(pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII)


def _import_all() -> set[str]:
    """Import every module; return the files of those whose package this environment lacks (an extra's)."""
    absent = set()
    for module in pkgutil.walk_packages(hydramem.__path__, "hydramem."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.startswith("hydramem"):
                raise
            absent.add(module.name.removeprefix("hydramem.").replace(".", "/") + ".py")
    return absent


def _compile_late() -> None:
    """Run what compiles patterns only when it is called."""
    from hydramem.cli import main
    from hydramem.core import docstrings
    from hydramem.core.row_types import Chunk, Times
    from hydramem.core.time import now
    from hydramem.ingest.documents.formats.document_text import without_place_lines
    from hydramem.ingest.extraction.extract import _with_title
    from hydramem.ingest.screening import quarantine
    from hydramem.search.conversation.turn_scores import _stem_pattern
    from hydramem.text.quotes import find_quote
    from hydramem.verification.first_stage import passage

    main.build()
    docstrings.summary("A.\n\nArgs:\n    a: b")
    docstrings.section("A.\n\nArgs:\n    a: b", "Args")
    for format in ("pdf", "pptx", "xlsx"):
        without_place_lines("# Page 1", format)
    _with_title("The Ada House", [], "Ada House")
    quarantine.injection_rules()
    for name in quarantine._tables()["context"]:
        quarantine._context(name)
    _stem_pattern("who leads the billing team")
    find_quote("Ada  Hale", ["ada hale"])
    passage._describes("a French poet", "French")
    at = Times(recorded_at=now())
    text = "Ada Hale leads billing."
    chunk = Chunk(id="c_1", project="default", kind="note", text=text, position=0, tokens=5, times=at)
    passage._begun(passage.parse_passage(chunk), "hale")
