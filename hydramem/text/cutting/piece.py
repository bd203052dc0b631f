"""A piece of a text before it is a stored chunk."""

from collections.abc import Iterator
from dataclasses import dataclass

FEWEST_TOKENS = 20
"""Fewer tokens say too little to be found by: no piece has fewer where another piece can take them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk before it is a row: `text` is `head` and the source from `start` to `end`.

    Attributes:
        fresh: Where it stops repeating the piece before it.
        tokens: Tokens of the text, headings not counted.
        head: The header rows of the table that it continues, line break included; mostly empty.
        openings: Where each heading of the path begins, if it opens its section; else empty.
            Of headings with nothing else between them, the outermost counts.
    """

    text: str
    start: int
    end: int
    fresh: int
    tokens: int
    heading_path: tuple[str, ...] = ()
    head: str = ""
    openings: tuple[int, ...] = ()


def fewest_tokens(limit: int) -> int:
    """Return how few tokens a piece may have, where a piece may have at most `limit`."""
    return min(FEWEST_TOKENS, limit // 4)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def line_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each line of a stretch, its line break included."""
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        yield start, stop
        start = stop
