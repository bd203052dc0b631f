"""HydraMem: an embedded, graph-native memory for AI agents.

import hydramem

with hydramem.connect("notes") as memory:
    memory.remember("Ada leads the billing team.")
    print(memory.recall("who leads billing?").hits)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hydramem.core.config import Config
    from hydramem.core.errors import HydraMemError
    from hydramem.core.results.recalled import Hit, Recall
    from hydramem.core.results.written import Ingested, Remembered
    from hydramem.core.types import Chunk, Entity
    from hydramem.memory.memory import Memory, connect

__version__ = "0.1.0"

__all__ = [
    "Chunk",
    "Config",
    "Entity",
    "Hit",
    "HydraMemError",
    "Ingested",
    "Memory",
    "Recall",
    "Remembered",
    "connect",
]

_HOMES = {
    "connect": "hydramem.memory.memory",
    "Memory": "hydramem.memory.memory",
    "Config": "hydramem.core.config",
    "HydraMemError": "hydramem.core.errors",
    "Chunk": "hydramem.core.types",
    "Entity": "hydramem.core.types",
    "Hit": "hydramem.core.results.recalled",
    "Recall": "hydramem.core.results.recalled",
    "Ingested": "hydramem.core.results.written",
    "Remembered": "hydramem.core.results.written",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import hydramem` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
