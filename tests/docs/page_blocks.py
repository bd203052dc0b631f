"""The fenced blocks of a page, with the heading that each stands below."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", flags=re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page.

    Attributes:
        heading: The last heading before it.
        language: The word behind the fence.
        text: What it holds.
    """

    heading: str
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    found = []
    for match in _FENCE.finditer(page):
        before = _FENCE.sub("", page[: match.start()])
        headings = _HEADING.findall(before)
        found.append(Block(heading=headings[-1] if headings else "", language=match[1], text=match[2]))
    return found
