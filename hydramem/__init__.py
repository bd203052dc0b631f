"""HydraMem: an embedded, graph-native memory for AI agents.

import hydramem

with hydramem.connect("notes") as memory:
    memory.remember("Ada leads the billing team.")
    print(memory.recall("who leads billing?").hits)

`__init__.pyi` lists the public names. Each is imported when it is first used, so that `import hydramem` costs
next to nothing.
"""


def _modules() -> dict[str, str]:
    """Return the module of each public name, from lines such as `from MODULE import Chunk as Chunk`."""
    from pathlib import Path

    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    return {line.split()[-1]: line.split()[1] for line in lines if line.startswith("from ")}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_modules())
    module = _modules().get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_modules()})
