"""Cut a text into chunks that keep its structure and stay under a number of tokens.

Headings become the path above a chunk and leave its text; code fences and tables stay whole where they
fit; running text is cut between sentences, and repeats a little of what came before; code is cut between
its blocks. Every character that is neither white space nor a heading is in a chunk, in order; no chunk
is too small to be found by unless it is all there is; the work is linear in the text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hydramem.text.cutting.code_cuts import cut_code
from hydramem.text.cutting.piece import Piece, trim
from hydramem.text.cutting.small_pieces import without_small
from hydramem.text.cutting.table_cuts import cut_table, table_header
from hydramem.text.cutting.token_cuts import cut_at_tokens
from hydramem.text.outline import Section, sections
from hydramem.text.sentences import sentence_spans
from hydramem.text.tokens import count_tokens

# A text longer than this many characters a token is never within the limit in practice: not worth counting.
_CHARS_PER_TOKEN = 12

# A blank line, or the line break above a table's header row and its row of dashes.
_BORDER = re.compile(
    r"\n[ \t]*\n\s*"
    r"|\n(?=[^\n|]*+\|[^\n]*+\n[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+\|[ \t|:-]*+(?:\n|\Z))"
)
_TABLE = re.compile(r"\s*\|.*\n\s*\|")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch that is not cut any further.

    Attributes:
        tokens: Its tokens, those of `head` too.
        prose: Whether it is running text, which may be repeated in part.
        head: The header of the table that it continues: it begins a piece.
    """

    start: int
    end: int
    tokens: int
    prose: bool
    head: str = ""


def chunk(text: str, *, kind: str, max_tokens: int, overlap_tokens: int) -> list[Piece]:
    """Cut a text into pieces.

    Args:
        text: The source, as `read` cleaned it.
        kind: markdown, text or code: which structure to look for.
        max_tokens: Most tokens of a piece.
        overlap_tokens: Most tokens that a piece of running text repeats of the one before.
    """
    pieces: list[Piece] = []
    for section in sections(text, kind=kind):
        units = list(_units(text, section, kind, max_tokens))
        if kind == "code":  # cut for good: what is apart is not one thing
            packed = [_piece(text, [unit], unit.start) for unit in units]
        else:
            packed = list(_pack(text, units, max_tokens, min(overlap_tokens, max_tokens // 2)))
        pieces.extend(
            replace(piece, heading_path=section.path, openings=() if number else section.openings)
            for number, piece in enumerate(packed)
        )
    return without_small(text, pieces, limit=max_tokens, prose=kind != "code")


def split_turn(text: str, max_tokens: int) -> list[str]:
    """Cut the text of one turn into parts of at most so many tokens; mostly there is one."""
    if len(text) <= max_tokens:
        return [text]
    pieces = chunk(text, kind="turn", max_tokens=max_tokens, overlap_tokens=0)
    return [piece.text for piece in pieces]


def _units(text: str, section: Section, kind: str, limit: int) -> Iterator[_Unit]:
    """Yield the largest stretches of a section that are within the limit, in its own structure."""

    def in_tokens(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        for first, last in cut_at_tokens(text, start, end, limit):
            yield _Unit(first, last, count_tokens(text[first:last]), False)

    def in_lines(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        for first, last, tokens in cut_code(text, start, end, limit):
            yield _Unit(first, last, tokens, False)

    def in_parts(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        if prose:
            spans = sentence_spans(text, start, end)
            yield from _fitting(text, ((first, last, True) for first, last in spans), limit, in_tokens)
        elif _is_table(text, start, end):
            for first, last, tokens, head in cut_table(text, start, end, limit):
                yield _Unit(first, last, tokens, False, head)
        else:
            yield from in_lines(start, end, prose)

    def in_blocks(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        return _fitting(text, _blocks(text, section), limit, in_parts)

    if kind == "code":
        return _fitting(text, [(section.start, section.end, False)], limit, in_lines)
    return _fitting(text, [(section.start, section.end, True)], limit, in_blocks)


def _fitting(
    text: str,
    stretches: Iterable[tuple[int, int, bool]],
    limit: int,
    parts: Callable[[int, int, bool], Iterator[_Unit]],
) -> Iterator[_Unit]:
    """Yield the stretches that are within the limit as units, and the parts of the others."""
    for start, end, prose in stretches:
        start, end = trim(text, start, end)
        tokens = _counted(text, start, end, limit)
        if start < end and tokens is not None:
            yield _Unit(start, end, tokens, prose)
        elif start < end:
            yield from parts(start, end, prose)


def _counted(text: str, start: int, end: int, limit: int) -> int | None:
    """Count the tokens of a stretch, or None where there are more than the limit."""
    if end - start > limit * _CHARS_PER_TOKEN:
        return None
    tokens = count_tokens(text[start:end])
    return tokens if tokens <= limit else None


def _blocks(text: str, section: Section) -> Iterator[tuple[int, int, bool]]:
    """Yield the blocks of a section: (start, end, whether it is running text)."""
    position = section.start
    for first, last in section.fences:
        yield from _paragraphs(text, position, first)
        yield first, last, False
        position = last
    yield from _paragraphs(text, position, section.end)


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    position = start
    for match in _BORDER.finditer(text, start, end):
        if match.start() > position:
            yield position, match.start(), not _is_table(text, position, match.start())
        position = match.end()
    if position < end:
        yield position, end, not _is_table(text, position, end)


def _is_table(text: str, start: int, end: int) -> bool:
    return _TABLE.match(text, start, end) is not None or bool(table_header(text, start, end))


def _pack(text: str, units: Sequence[_Unit], limit: int, overlap: int) -> Iterator[Piece]:
    """Fill pieces with units in order."""
    index, begin = 0, -1
    while index < len(units):
        first = index
        begin = units[index].start if begin < 0 else begin
        used = units[index].tokens + (overlap if begin < units[index].start else 0)
        while index + 1 < len(units) and not units[index + 1].head:
            more = units[index + 1].tokens + _gap(text, units[index], units[index + 1])
            if used + more > limit:
                break
            used += more
            index += 1
        piece = _piece(text, units[first : index + 1], begin)
        while piece.tokens > limit and (index > first or begin < units[first].start):
            # Joining rarely makes more tokens than the sum; then the last units go into the next piece.
            excess = piece.tokens - limit
            while index > first and excess > 0:
                excess -= units[index].tokens
                index -= 1
            begin = units[first].start if index == first else begin
            piece = _piece(text, units[first : index + 1], begin)
        yield piece
        index += 1
        if index < len(units):
            begin = _repeat_from(text, units[index - 1], units[index], limit, overlap)


def _gap(text: str, before: _Unit, after: _Unit) -> int:
    """Reckon the tokens of the white space between two units: one, but for indentation."""
    gap = text[before.end : after.start]
    return 1 if len(gap) <= 2 else max(1, count_tokens(gap))


def _piece(text: str, units: Sequence[_Unit], begin: int) -> Piece:
    fresh, end, head = units[0].start, units[-1].end, units[0].head
    words = head + text[begin:end]
    tokens = units[0].tokens if len(units) == 1 and begin == fresh else count_tokens(words)
    return Piece(text=words, start=begin, end=end, fresh=fresh, tokens=tokens, head=head)


def _repeat_from(text: str, before: _Unit, after: _Unit, limit: int, overlap: int) -> int:
    """Find where the next piece begins: some whole sentences back, where both sides are running text."""
    if not (overlap and before.prose and after.prose) or after.tokens + overlap + 1 > limit:
        return after.start
    # No more than this many characters can be within the overlap; older sentences need no look.
    floor = max(before.start, before.end - overlap * _CHARS_PER_TOKEN)
    begins = [start for start, _ in sentence_spans(text, floor, before.end)]
    if floor > before.start:
        begins = begins[1:]
    for start in begins:
        first, _ = trim(text, start, before.end)
        if first < before.end and count_tokens(text[first : before.end]) <= overlap:
            return first
    return after.start
