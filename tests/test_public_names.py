"""What a caller builds, catches or receives is importable from `hydramem`, which is cheap to import."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import pytest

import hydramem
from hydramem.operations import OPERATIONS
from tests import ROOT

PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *(ROOT / "skills").glob("*/SKILL.md"),
)


def classes(hint: Any, seen: set[type]) -> set[type]:
    """Collect the classes of this package that a type hint is made of, and those of their fields."""
    for inner in get_args(hint):
        for each in inner if isinstance(inner, list) else (inner,):
            classes(each, seen)
    if isinstance(hint, type) and hint.__module__.startswith("hydramem") and hint not in seen:
        seen.add(hint)
        for inner in get_type_hints(hint).values():
            classes(inner, seen)
    return seen


def public_methods(kind: type) -> Iterator[Callable[..., object]]:
    return (method for name, method in inspect.getmembers(kind, callable) if not name.startswith("_"))


def subclasses(kind: type) -> Iterator[type]:
    yield kind
    for each in kind.__subclasses__():
        yield from subclasses(each)


def test_every_class_of_a_signature_or_result_is_public():
    methods = (
        hydramem.connect,
        *(operation.method for operation in OPERATIONS),
        *public_methods(hydramem.Memory),
        *public_methods(hydramem.LiveSession),
        *public_methods(hydramem.ScriptedGenerator),
        *public_methods(hydramem.Embedder),
        *public_methods(hydramem.Generator),
    )
    names = {name: getattr(hydramem, name) for name in hydramem.__all__}
    reached: set[type] = set()
    for method in methods:
        for hint in get_type_hints(method, None, names).values():
            classes(hint, reached)
    assert len(reached) > 80
    assert [kind for kind in reached if getattr(hydramem, kind.__name__, None) is not kind] == []


def test_every_error_is_public():
    # An error of another module stays within its layer, or is caught by the public one that it is a kind of.
    errors = [
        kind for kind in subclasses(hydramem.HydraMemError) if kind.__module__ == "hydramem.core.errors"
    ]
    assert len(errors) > 10
    assert [kind for kind in errors if getattr(hydramem, kind.__name__, None) is not kind] == []


def test_every_listed_name_exists_once():
    stub = (ROOT / "hydramem" / "__init__.pyi").read_text(encoding="utf-8")
    names = re.findall(r"^from \S+ import (\w+) as \1$", stub, flags=re.MULTILINE)
    assert sorted(names) == hydramem.__all__
    assert len(names) == stub.count("\nfrom ") == len(set(names))
    assert set(names) <= set(dir(hydramem))
    for name in names:
        assert getattr(hydramem, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        hydramem.Nothing  # noqa: B018 - looked up for its error


def test_importing_the_package_imports_no_module_of_it():
    code = "import sys, hydramem; print([name for name in sys.modules if name.startswith('hydramem.')])"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_for_callers_import_from_the_package_alone(page):
    assert re.findall(r"(?:from|import) hydramem\.\S+", page.read_text(encoding="utf-8")) == []
