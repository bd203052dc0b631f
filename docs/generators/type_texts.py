"""Write types and the fields of data classes as the generated pages show them."""

import dataclasses
import re
from typing import Any, get_type_hints

from hydramem.core.docstrings import first_line
from hydramem.core.settings.config_reference import attributes

NOTE = "<!-- Made by docs/generate.py from the code: change the code, then run it. -->\n"
"""What stands at the head of a page that is written by the code."""


def row(of: type[Any]) -> str:
    """Return the section of a data class: its name, what it is, its fields."""
    return f"\n### {of.__name__}\n\n{first_line(of.__doc__)}\n\n{fields(of)}"


def fields(of: type[Any]) -> str:
    """Return the table of the fields of a data class."""
    whys, hints = attributes(of), get_type_hints(of)
    lines = ["| field | type | |", "|---|---|---|"]
    lines += [
        f"| `{item.name}` | {type_text(hints[item.name])} | {whys.get(item.name, '')} |"
        for item in dataclasses.fields(of)
    ]
    return "\n".join(lines) + "\n"


def type_text(hint: Any) -> str:
    """Write a type as the pages show it: module names left out, bars escaped for a table."""
    return f"`{expression(hint)}`".replace("|", "\\|")


def expression(hint: Any) -> str:
    """Write a type as an expression without module names."""
    plain = hint.__name__ if isinstance(hint, type) and not getattr(hint, "__args__", ()) else str(hint)
    plain = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])", "", plain).replace("NoneType", "None")
    return re.sub(r"^Optional\[(.*)\]$", r"\1 | None", plain)
