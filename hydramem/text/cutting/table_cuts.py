"""Cuts of a Markdown table between its rows; each part repeats the header."""

import re
from collections.abc import Iterator
from math import ceil

from hydramem.text.cutting.piece import line_spans, trim
from hydramem.text.cutting.token_cuts import cut_at_tokens
from hydramem.text.tokens import count_tokens

# A row, and below it the row of dashes that makes it a header.
_HEADER = re.compile(
    r"[^\n|]*+\|[^\n]*+\n[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+"
    r"(?:\|[ \t]*+:?-++:?[ \t]*+)*(?:\|[ \t]*+)?(?:\n|\Z)"
)

# A header that takes more than this share of a piece is not repeated: too little would be left for rows.
_LARGEST_HEADER = 0.5


def table_header(text: str, start: int, end: int) -> str:
    """Return the header rows that a stretch begins with, line breaks included; empty where it has none."""
    match = _HEADER.match(text, start, end)
    return match.group() if match else ""


def header_above(text: str, start: int, position: int, head: str, limit: int) -> str:
    """Return the header of the table whose row begins at a position; empty where no row begins there.

    Args:
        text: The source.
        start: Where the piece that holds the row begins.
        position: Where the row begins.
        head: The header that the piece repeats.
        limit: Most tokens of a piece; a header that would take too much of it is not repeated.
    """
    line = text.rfind("\n", 0, position) + 1
    if text[line:position].strip() or "|" not in _line(text, position):
        return ""
    while line > start:
        line = text.rfind("\n", 0, line - 1) + 1
        if "|" not in _line(text, line):
            return ""
        if header := table_header(text, line, position):
            return header if count_tokens(header) <= limit * _LARGEST_HEADER else ""
    return head


def cuts_header(text: str, position: int) -> bool:
    """Say whether a cut before the line at a position goes through a table's header, or right below it."""
    line = position
    for _ in range(2):
        line = text.rfind("\n", 0, max(0, line - 1)) + 1
        header = table_header(text, line, len(text))
        if header and line < position <= line + len(header):
            return True
    return False


def _line(text: str, start: int) -> str:
    stop = text.find("\n", start)
    return text[start : len(text) if stop < 0 else stop]


def cut_table(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int, int, str]]:
    """Cut a table into spans of about equally many tokens, at most `limit` with the header.

    A row over the limit is cut at tokens.

    Yields:
        Start, end and tokens of each span, and the header above it; the tokens count the header. The first
        span begins with its own header, so none stands above it.
    """
    header = table_header(text, start, end)
    above = count_tokens(header)
    if above > limit * _LARGEST_HEADER:
        header, above = "", 0
    rows = _rows(text, start + len(header), end, limit - above)
    # With the line break below each, so that the sum is not less than what the rows have together.
    nexts = [*(first for first, _ in rows[1:]), end]
    sizes = [count_tokens(text[row[0] : next]) for row, next in zip(rows, nexts, strict=True)]
    parts = max(1, ceil(sum(sizes) / max(1, limit - above)))
    # Rows do not fill a part exactly: a goal a little over the mean keeps the number of parts.
    goal = min(limit - above, ceil(sum(sizes) / parts) + max(sizes, default=0) // 2)
    begin, filled, is_first = 0, 0, True
    for number, size in enumerate((*sizes, limit)):
        if number > begin and (number == len(sizes) or filled + size > goal):
            first, last = start if is_first else rows[begin][0], rows[number - 1][1]
            head = "" if is_first else header
            yield from _checked(text, first, last, head, limit)
            begin, filled, is_first = number, 0, False
        filled += size


def _checked(text: str, first: int, last: int, head: str, limit: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield a span as it is, or cut at tokens where it has more than was reckoned."""
    tokens = count_tokens(head + text[first:last])
    if tokens <= limit:
        yield first, last, tokens, head
        return
    for start, end in cut_at_tokens(text, first, last, limit):
        yield start, end, count_tokens(text[start:end]), ""


def _rows(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    for line in line_spans(text, start, end):
        first, last = trim(text, *line)
        if first == last:
            continue
        if count_tokens(text[first:last]) >= limit:
            rows.extend(cut_at_tokens(text, first, last, max(1, limit - 1)))
        else:
            rows.append((first, last))
    return rows
