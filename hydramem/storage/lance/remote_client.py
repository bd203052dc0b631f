"""LanceDB without its client for remote services, which a folder never needs.

`import lancedb` builds some 160 pydantic models of that client, two thirds of the time that it takes. A
program that HydraMem does not own may need them, so only the command line asks for placeholders.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

REMOTE_CLIENT = "lance_namespace_urllib3_client"
_BUILT_ON_IT = (REMOTE_CLIENT, "lance_namespace", "lancedb")


class _Placeholders(MetaPathFinder, Loader):
    """Finds the modules of the remote client; every name in one is a class that keeps what it is given."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the client and its modules, and nothing else."""
        return ModuleSpec(fullname, self, is_package=True) if _package(fullname) == REMOTE_CLIENT else None

    def exec_module(self, module: ModuleType) -> None:
        """Give a module a class for every name that is asked of it."""

        def missing(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            made = type(name, (SimpleNamespace,), {})
            setattr(module, name, made)
            return made

        vars(module)["__getattr__"] = missing


_PLACEHOLDERS = _Placeholders()


def use_placeholders() -> None:
    """Have LanceDB import placeholders for its remote client, in the whole process."""
    if REMOTE_CLIENT not in sys.modules and _PLACEHOLDERS not in sys.meta_path:
        sys.meta_path.insert(0, _PLACEHOLDERS)


def import_lancedb() -> ModuleType:
    """Import LanceDB; with the real client where it does not load with placeholders."""
    try:
        return import_module("lancedb")
    except (ImportError, AttributeError, TypeError, ValueError):
        if _PLACEHOLDERS not in sys.meta_path:
            raise
    sys.meta_path.remove(_PLACEHOLDERS)
    for name in [name for name in sys.modules if _package(name) in _BUILT_ON_IT]:
        del sys.modules[name]
    return import_module("lancedb")


def _package(name: str) -> str:
    return name.partition(".")[0]
