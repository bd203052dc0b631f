"""Ways to cut a text: HydraMem's own, and two that are common, as spans of the text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hydramem.text.chunking import chunk
from hydramem.text.tokens import count_tokens, token_ends


@dataclass(frozen=True, slots=True)
class Cut:
    """A chunk of a text.

    Attributes:
        start, end: Where it stands in the text.
        tokens: Its tokens, those of `head` too.
        head: What is repeated above it: the header rows of a table.
        path: The headings above it, which are kept beside its text.
    """

    start: int
    end: int
    tokens: int
    head: str = ""
    path: tuple[str, ...] = ()


Cutter = Callable[[str, str, int], list[Cut]]
"""Cuts a text of a kind (markdown, text, code) into chunks of at most so many tokens."""


def by_structure(text: str, kind: str, limit: int) -> list[Cut]:
    """Cut as `ingest` does; nothing is repeated."""
    pieces = chunk(text, kind=kind, max_tokens=limit, overlap_tokens=0)
    return [Cut(one.start, one.end, one.tokens, one.head, one.heading_path) for one in pieces]


def by_window(text: str, kind: str, limit: int) -> list[Cut]:
    """Cut after every so many tokens, whatever stands there."""
    ends = token_ends(text).tolist()
    inner = range(limit, len(ends), limit)
    borders = [0, *(ends[tokens - 1] for tokens in inner), len(text)]
    sizes = [*(limit for _ in inner), len(ends) - limit * len(inner)]
    return [Cut(*span, size) for span, size in zip(pairwise(borders), sizes, strict=True)]


def by_paragraph(text: str, kind: str, limit: int) -> list[Cut]:
    """Cut at blank lines, and join what fits; what is over the limit is cut as by the window."""
    found: list[Cut] = []
    for start, end in _paragraphs(text):
        tokens = count_tokens(text[start:end])
        if tokens > limit:
            parts = by_window(text[start:end], kind, limit)
            found.extend(Cut(start + one.start, start + one.end, one.tokens) for one in parts)
        elif found and found[-1].tokens + tokens <= limit:
            before = found.pop()
            found.append(Cut(before.start, end, before.tokens + tokens))
        else:
            found.append(Cut(start, end, tokens))
    return found


CUTTERS: dict[str, Cutter] = {
    "HydraMem": by_structure,
    "token window": by_window,
    "paragraphs": by_paragraph,
}


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Return paragraphs with the blank lines below them."""
    borders = [0, *(match.end() for match in re.finditer(r"\n[ \t]*\n\s*", text)), len(text)]
    return [(start, end) for start, end in pairwise(borders) if start < end]
