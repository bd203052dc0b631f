"""HydraMem: an embedded, graph-native memory for AI agents.

import hydramem

with hydramem.connect("notes") as memory:
    memory.remember("Ada leads the billing team.")
    print(memory.recall("who leads billing?").hits)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from hydramem.core.version import __version__ as __version__

if TYPE_CHECKING:
    from hydramem.core.config import Config
    from hydramem.core.errors import HydraMemError
    from hydramem.core.results.hits import Hit, Recall
    from hydramem.core.results.write_results import Ingested, Remembered
    from hydramem.core.row_types import Chunk, Entity
    from hydramem.memory_api.memory import Memory, connect


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
    "connect": "hydramem.memory_api.memory",
    "Memory": "hydramem.memory_api.memory",
    "Config": "hydramem.core.config",
    "HydraMemError": "hydramem.core.errors",
    "Chunk": "hydramem.core.row_types",
    "Entity": "hydramem.core.row_types",
    "Hit": "hydramem.core.results.hits",
    "Recall": "hydramem.core.results.hits",
    "Ingested": "hydramem.core.results.write_results",
    "Remembered": "hydramem.core.results.write_results",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import hydramem` costs next to nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
