"""LanceDB without what takes most of its import, and what a folder never needs.

That is its client for remote services, some 160 pydantic models, and before Python 3.12 the package
`overrides`, which compares the signatures of a hundred methods with those that they override. Together they
take three quarters of the time of `import lancedb`. A program that HydraMem does not own may need them, so
only the command line asks for placeholders.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import TypeVar

REMOTE_CLIENT = "lance_namespace_urllib3_client"
_OVERRIDES = "overrides"
_REPLACED = (REMOTE_CLIENT, _OVERRIDES)
_BUILT_ON_THEM = (*_REPLACED, "lance_namespace", "lancedb")
_T = TypeVar("_T")


class _Placeholders(MetaPathFinder, Loader):
    """Finds the modules that are replaced.

    Every name in one of the remote client is a class that keeps what it is given.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the packages and their modules, and nothing else."""
        return ModuleSpec(fullname, self, is_package=True) if _package(fullname) in _REPLACED else None

    def exec_module(self, module: ModuleType) -> None:
        """Give a module of the client a class for every name that is asked of it."""
        if module.__name__ == _OVERRIDES:
            vars(module).update(override=_unchanged, EnforceOverrides=_Base)
            return

        def missing(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            made = type(name, (SimpleNamespace,), {})
            setattr(module, name, made)
            return made

        vars(module)["__getattr__"] = missing


class _Base:
    """Stands for `overrides.EnforceOverrides`, as LanceDB has it from Python 3.12 on."""


def _unchanged(method: _T) -> _T:
    return method


_PLACEHOLDERS = _Placeholders()


def use_placeholders() -> None:
    """Have LanceDB import placeholders, in the whole process."""
    if "lancedb" not in sys.modules and _PLACEHOLDERS not in sys.meta_path:
        sys.meta_path.insert(0, _PLACEHOLDERS)


def import_lancedb() -> ModuleType:
    """Import LanceDB; with the real packages where it does not load with placeholders."""
    try:
        return import_module("lancedb")
    except (ImportError, AttributeError, TypeError, ValueError):
        if _PLACEHOLDERS not in sys.meta_path:
            raise
    sys.meta_path.remove(_PLACEHOLDERS)
    for name in [name for name in sys.modules if _package(name) in _BUILT_ON_THEM]:
        del sys.modules[name]
    return import_module("lancedb")


def _package(name: str) -> str:
    return name.partition(".")[0]
