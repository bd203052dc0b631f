"""Parts of docstrings: pages, commands and tools take their texts from the code."""

import inspect
import re


def summary(docstring: str | None) -> str:
    """Return the text before the first section (`Args:`, `Attributes:`, `Raises:`), as paragraphs."""
    before = re.split(
        r"^(?:Args|Attributes|Raises):$", inspect.cleandoc(docstring or ""), flags=re.MULTILINE
    )[0]
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in before.strip().split("\n\n"))


def first_line(docstring: str | None) -> str:
    """Return the sentence that a docstring begins with."""
    return summary(docstring).partition("\n")[0]


def section(docstring: str | None, name: str) -> dict[str, str]:
    """Return the entries of a section (such as `Args`) by name; `a, b: ...` describes both."""
    found = re.search(rf"^{name}:\n((?: +.*\n?|\n)*)", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)
    entries: dict[str, str] = {}
    # An entry is indented by four; what is indented further continues it.
    for line in re.sub(r"\n {5,}", " ", found.group(1)).splitlines() if found else ():
        names, colon, text = line.strip().partition(":")
        if colon:
            entries |= dict.fromkeys((one.strip() for one in names.split(",")), text.strip())
    return entries
