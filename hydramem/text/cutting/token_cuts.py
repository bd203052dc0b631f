"""Cuts of a stretch that has no structure: at token boundaries, before white space where there is any."""

from collections.abc import Iterator

from hydramem.text.cutting.piece import trim
from hydramem.text.tokens import split_at

# Longer runs without a sentence's end are cut blindly here, before they are counted.
_LONGEST_RUN = 20_000


def cut_at_tokens(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield spans of `text[start:end]` of at most so many tokens, without white space at their ends."""
    for run in range(start, end, _LONGEST_RUN):
        stretch = text[run : min(run + _LONGEST_RUN, end)]
        begin = 0
        for stop in split_at(stretch, limit):
            first, last = trim(text, run + begin, run + stop)
            if first < last:
                yield first, last
            begin = stop
