"""Cut a text into chunks that keep its structure and stay under a number of tokens.

Headings become the path above a chunk and leave its text; code fences and tables stay whole where they
fit; running text is cut between sentences, and repeats a little of what came before. Every character
that is neither white space nor a heading is in a chunk, in order; the work is linear in the text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from hydramem.text.outline import Section, sections
from hydramem.text.sentences import sentence_spans
from hydramem.text.tokens import count_tokens, split_at

# A text longer than this many characters a token is never within the limit in practice: not worth counting.
_CHARS_PER_TOKEN = 12

# Longer runs without a sentence's end are cut blindly here, before they are counted.
_LONGEST_RUN = 20_000
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
_TABLE = re.compile(r"\s*\|.*\n\s*\|")
_DEFINITION = re.compile(
    r"^(?=(?:async\s+def|def|class|@\w|func|fn|pub|impl|struct|enum|interface|trait|type|export|function|public|private"
    r"|protected|static|abstract|module|namespace|package|const|let|var|sub|CREATE|ALTER|INSERT|template)\b)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk before it is a row: `text` is the source from `start` to `end`.

    Attributes:
        fresh: Where it stops repeating the piece before it.
        tokens: Tokens of the text, headings not counted.
    """

    text: str
    start: int
    end: int
    fresh: int
    tokens: int
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A stretch that is not cut any further; `prose` may be repeated in part."""

    start: int
    end: int
    tokens: int
    prose: bool


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
        pieces.extend(_pack(text, units, section.path, max_tokens, min(overlap_tokens, max_tokens // 2)))
    return pieces


def split_turn(text: str, max_tokens: int) -> list[str]:
    """Cut the text of one turn into parts of at most so many tokens; mostly there is one."""
    if len(text) <= max_tokens:
        return [text]
    pieces = chunk(text, kind="turn", max_tokens=max_tokens, overlap_tokens=0)
    return [piece.text for piece in pieces]


def _units(text: str, section: Section, kind: str, limit: int) -> Iterator[_Unit]:
    """Yield the largest stretches of a section that are within the limit, in its own structure."""

    def in_tokens(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        return _cut(text, start, end, limit)

    def in_sentences(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        spans = sentence_spans(text, start, end) if prose else _lines(text, start, end)
        return _fitting(text, ((first, last, prose) for first, last in spans), limit, in_tokens)

    def in_blocks(start: int, end: int, prose: bool) -> Iterator[_Unit]:
        return _fitting(text, _blocks(text, section, kind), limit, in_sentences)

    return _fitting(text, [(section.start, section.end, kind != "code")], limit, in_blocks)


def _fitting(
    text: str,
    stretches: Iterable[tuple[int, int, bool]],
    limit: int,
    parts: Callable[[int, int, bool], Iterator[_Unit]],
) -> Iterator[_Unit]:
    """Yield the stretches that are within the limit as units, and the parts of the others."""
    for start, end, prose in stretches:
        start, end = _trim(text, start, end)
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


def _cut(text: str, start: int, end: int, limit: int) -> Iterator[_Unit]:
    """Cut a stretch that has no structure at token boundaries."""
    for run in range(start, end, _LONGEST_RUN):
        stretch = text[run : min(run + _LONGEST_RUN, end)]
        begin = 0
        for stop in split_at(stretch, limit):
            first, last = _trim(text, run + begin, run + stop)
            if first < last:
                yield _Unit(first, last, count_tokens(text[first:last]), False)
            begin = stop


def _blocks(text: str, section: Section, kind: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the blocks of a section: (start, end, whether it is running text)."""
    position = section.start
    for first, last in section.fences:
        yield from _paragraphs(text, position, first, kind)
        yield first, last, False
        position = last
    yield from _paragraphs(text, position, section.end, kind)


def _paragraphs(text: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, bool]]:
    border = _DEFINITION if kind == "code" else _BLANK_LINE
    position = start
    for match in border.finditer(text, start, end):
        if match.start() > position:
            yield position, match.start(), _is_prose(text, position, kind)
        position = match.end()
    if position < end:
        yield position, end, _is_prose(text, position, kind)


def _is_prose(text: str, start: int, kind: str) -> bool:
    return kind != "code" and _TABLE.match(text, start) is None


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    while position < end:
        newline = text.find("\n", position, end)
        stop = end if newline < 0 else newline + 1
        yield position, stop
        position = stop


def _pack(
    text: str, units: Sequence[_Unit], path: tuple[str, ...], limit: int, overlap: int
) -> Iterator[Piece]:
    """Fill pieces with units in order; one more token is reckoned for each gap."""
    index, begin = 0, -1
    while index < len(units):
        first = index
        begin = units[index].start if begin < 0 else begin
        used = units[index].tokens + (overlap if begin < units[index].start else 0)
        while index + 1 < len(units) and used + units[index + 1].tokens + 1 <= limit:
            index += 1
            used += units[index].tokens + 1
        yield from _piece(text, units[first : index + 1], begin, path, limit)
        index += 1
        if index < len(units):
            begin = _repeat_from(text, units[index - 1], units[index], limit, overlap)


def _piece(
    text: str, units: Sequence[_Unit], begin: int, path: tuple[str, ...], limit: int
) -> Iterator[Piece]:
    fresh, end = units[0].start, units[-1].end
    alone = len(units) == 1 and begin == fresh
    tokens = units[0].tokens if alone else count_tokens(text[begin:end])
    spans = [(begin, fresh, end, tokens)]
    if tokens > limit:  # joining rarely makes more tokens than the sum; then each unit is a piece
        spans = [(unit.start, unit.start, unit.end, unit.tokens) for unit in units]
    for first, fresh, last, count in spans:
        yield Piece(
            text=text[first:last], start=first, end=last, fresh=fresh, tokens=count, heading_path=path
        )


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
        first, _ = _trim(text, start, before.end)
        if first < before.end and count_tokens(text[first : before.end]) <= overlap:
            return first
    return after.start


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
