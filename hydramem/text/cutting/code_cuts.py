"""Cuts of source code and other lined text: at the borders of blocks, found by dynamic programming.

Each line costs something to be cut above, little between blocks and much within one that fits into a piece;
each piece costs something, and more where it is small. The cheapest way is found in one pass: the best way
up to a line is that up to the start of its last piece, and the starts that are within reach form a window
that only moves on (a monotone queue keeps its minimum).
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hydramem.text.cutting.code_blocks import Structure, structure
from hydramem.text.cutting.piece import line_spans
from hydramem.text.cutting.token_cuts import cut_at_tokens
from hydramem.text.tokens import count_tokens, token_ends

# A block that fits is not cut for the sake of a small piece, whose cost is less than this.
_CUT_BLOCK = 10.0
_CUT_BLOCK_INSIDE = 2.0
_CUT_LARGE_BLOCK = 0.5
_NO_BLANK_LINE = 1.5
_CUT_OFF = 4.0
# Between top-level blocks, a cut is better than none.
_BETWEEN = -2.0

_PIECE = 1.0
_SMALL_PIECE = 8.0
_SMALL_TOKENS = 60


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines that are not blank, and what they cost.

    Attributes:
        starts: Where each begins, white space included.
        ends: Where each ends, white space left out.
        before: Tokens before each.
        through: Tokens up to the end of each; with its line break left out, one may be missing or too many.
        after_blank: Whether a blank line stands above each.
    """

    starts: list[int]
    ends: list[int]
    before: list[int]
    through: list[int]
    after_blank: list[bool]

    def __getitem__(self, part: slice) -> "_Lines":
        columns = (self.starts, self.ends, self.before, self.through, self.after_blank)
        return _Lines(*(column[part] for column in columns))  # type: ignore[arg-type]


def cut_code(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int, int]]:
    """Cut code into spans of at most so many tokens, with blocks that fit whole where that is possible.

    A line over the limit is cut at tokens. The work is linear in the text.

    Args:
        text: The text around it.
        start: Where the code begins.
        end: Where it ends.
        limit: Most tokens of a span.

    Yields:
        Start, end and tokens of each span; a span begins where a line does, its indentation included.
    """
    lines = _lines(text, start, end)
    sizes = [through - before for before, through in zip(lines.before, lines.through, strict=True)]
    costs = _costs(text, lines, limit)
    first = 0
    for long in (*(number for number, size in enumerate(sizes) if size > limit), len(sizes)):
        yield from _spans(text, lines[first:long], costs[first:long], limit)
        if long < len(sizes):
            yield from _at_tokens(text, lines.starts[long], lines.ends[long], limit)
        first = long + 1


def _lines(text: str, start: int, end: int) -> _Lines:
    ends_of_tokens = token_ends(text[start:end]) + start
    starts, ends = [], []
    for first, last in line_spans(text, start, end):
        if line := text[first:last].rstrip():
            starts.append(first)
            ends.append(first + len(line))
    before = np.searchsorted(ends_of_tokens, starts, side="right")
    through = np.searchsorted(ends_of_tokens, ends, side="right")
    # A token that a line's end lies within, such as a bracket with the line break, counts for the line.
    cut = ends_of_tokens[np.maximum(through - 1, 0)] != ends if starts else through
    breaks = [text.count("\n", last, first) for last, first in zip(ends, starts[1:], strict=False)]
    after_blank = [True, *(count > 1 for count in breaks)][: len(starts)]
    return _Lines(starts, ends, before.tolist(), (through + cut).tolist(), after_blank)


def _costs(text: str, lines: _Lines, limit: int) -> list[float]:
    """Return what it costs to cut above each line."""
    texts = [text[start:end] for start, end in zip(lines.starts, lines.ends, strict=True)]
    read = structure(texts, lines.after_blank)
    within = _costs_within(read, lines, limit)
    costs = []
    for number, cost in enumerate(within):
        if not lines.after_blank[number]:
            cost += _NO_BLANK_LINE
        if read.continues[number] or (number and read.indents[number] > read.indents[number - 1]):
            cost += _CUT_OFF
        costs.append(cost or _BETWEEN)
    return costs


def _costs_within(read: Structure, lines: _Lines, limit: int) -> list[float]:
    """Return what the blocks that a cut above each line would go through cost."""
    steps = [0.0] * (len(read.indents) + 1)
    fits: list[bool] = []
    for block in read.blocks:
        inside = block.parent is not None and fits[block.parent]
        begin = block.start
        if not inside and _tokens(lines, block.start, block.end) > limit:
            # Where only its comments make a block too large, the rest is kept whole.
            steps[block.start + 1] += _CUT_LARGE_BLOCK
            steps[block.end] -= _CUT_LARGE_BLOCK
            begin = block.subject if block.subject > block.start else block.end
        fits.append(inside or (begin < block.end and _tokens(lines, begin, block.end) <= limit))
        if fits[-1] and block.end - begin > 1:
            cost = _CUT_BLOCK_INSIDE if inside else _CUT_BLOCK
            steps[begin + 1] += cost
            steps[block.end] -= cost
    return np.round(np.cumsum(steps[:-1]), 6).tolist()  # type: ignore[no-any-return]


def _tokens(lines: _Lines, first: int, stop: int) -> int:
    return lines.through[stop - 1] - lines.before[first] if first < stop else 0


def _spans(
    text: str, lines: _Lines, costs: Sequence[float], limit: int, goal: int | None = None
) -> Iterator[tuple[int, int, int]]:
    """Yield the cheapest pieces of some lines; a piece that is over the limit when counted is cut again."""
    goal = limit if goal is None else goal
    cuts = _cheapest(lines.before, lines.through, costs, goal)
    for first, stop in pairwise(cuts):
        start, end = lines.starts[first], lines.ends[stop - 1]
        tokens = count_tokens(text[start:end])
        if tokens <= limit:
            yield start, end, tokens
        elif stop - first > 1:
            less = min(goal, lines.through[stop - 1] - lines.before[first]) - (tokens - limit)
            yield from _spans(text, lines[first:stop], costs[first:stop], limit, less)
        else:
            yield from _at_tokens(text, start, end, limit)


def _at_tokens(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int, int]]:
    for first, last in cut_at_tokens(text, start, end, limit):
        yield first, last, count_tokens(text[first:last])


def _cheapest(before: Sequence[int], through: Sequence[int], costs: Sequence[float], limit: int) -> list[int]:
    """Return where the pieces of the cheapest way begin, and the number of lines."""
    count = len(before)
    best = [0.0] * (count + 1)
    came_from = [0] * (count + 1)
    per_token = _SMALL_PIECE / _SMALL_TOKENS
    small: deque[tuple[float, int]] = deque()
    large: deque[tuple[float, int]] = deque()
    next_large = 0
    for stop in range(1, count + 1):
        line, reached = stop - 1, through[stop - 1]
        way = best[line] + (costs[line] if line else 0.0)
        # What a small piece costs falls with its tokens: the part that depends on its start is in the key.
        _push(small, way + per_token * before[line], line)
        while next_large < stop and reached - before[next_large] >= _SMALL_TOKENS:
            way = best[next_large] + (costs[next_large] if next_large else 0.0)
            _push(large, way, next_large)
            next_large += 1
        while small and (small[0][1] < next_large or reached - before[small[0][1]] > limit):
            small.popleft()
        while large and reached - before[large[0][1]] > limit:
            large.popleft()
        # A line that is over the limit by itself is a piece all the same: it is cut later.
        options = [(large[0][0] + _PIECE, large[0][1])] if large else []
        if small:
            options.append((small[0][0] + _PIECE + _SMALL_PIECE - per_token * reached, small[0][1]))
        options = options or [(best[line] + _PIECE, line)]
        best[stop], came_from[stop] = min(options)
    cuts = [count]
    while cuts[-1] > 0:
        cuts.append(came_from[cuts[-1]])
    return cuts[::-1]


def _push(queue: deque[tuple[float, int]], key: float, start: int) -> None:
    while queue and queue[-1][0] > key:
        queue.pop()
    queue.append((key, start))
