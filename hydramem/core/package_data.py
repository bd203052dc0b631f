"""Tables that the package carries in `data/*.toml`."""

import tomllib
from importlib.resources import files
from typing import Any


def data_tables(name: str) -> dict[str, Any]:
    """Read `data/<name>.toml` and return its tables by name."""
    return tomllib.loads((files("hydramem") / "data" / f"{name}.toml").read_text(encoding="utf-8"))
