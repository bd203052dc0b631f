"""Pieces with too few tokens to be found by: they join a neighbour, or take some text from one."""

from collections.abc import Iterator, Sequence
from itertools import chain

from hydramem.text.cutting.piece import Piece, fewest_tokens, line_spans, trim
from hydramem.text.cutting.table_cuts import cuts_header, header_above
from hydramem.text.sentences import sentence_spans
from hydramem.text.tokens import count_tokens, token_ends

_Made = tuple[Piece, tuple[Piece, ...]]


def without_small(text: str, pieces: Sequence[Piece], *, limit: int, prose: bool) -> list[Piece]:
    """Return pieces of which none is small, unless it is all there is.

    A small piece joins the neighbour that shares most headings with it, the smaller of two that share as
    many. The headings between them become text, and the path is what both share. Where the two would be over
    the limit, the neighbour gives up a part of its text, whole lines or sentences where it can. White space
    that is over the limit by itself is not bridged.

    Args:
        text: The source.
        pieces: Its pieces in order.
        limit: Most tokens of a piece.
        prose: Whether a piece is better cut between sentences than between lines.
    """
    fewest = fewest_tokens(limit)
    done: list[Piece] = []
    rest = list(reversed(pieces))
    while rest:
        piece = rest.pop()
        if piece.tokens >= fewest:
            done.append(piece)
            continue
        before, after = (done[-1] if done else None), (rest[-1] if rest else None)
        pairs = [(before, piece)] if before else []
        pairs += [(piece, after)] if after else []
        pairs.sort(key=lambda pair: (-_shared(*pair), pair[0].tokens + pair[1].tokens))
        ways = chain(_joined(text, pairs, limit), _shifted(text, pairs, limit, fewest, prose))
        replaced, made = next(ways, (piece, ()))
        if not made:
            done.append(piece)
            continue
        if replaced is before:
            done.pop()
        else:
            rest.pop()
        # What is small still is looked at again, beside the next.
        rest.extend(reversed(made))
    return done


def _shared(first: Piece, second: Piece) -> int:
    """Return how many headings, outermost first, two pieces share."""
    count = 0
    for one, other in zip(first.heading_path, second.heading_path, strict=False):
        if one != other:
            break
        count += 1
    return count


def _joined(text: str, pairs: Sequence[tuple[Piece, Piece]], limit: int) -> Iterator[_Made]:
    """Yield the first of each pair, and the one piece that both make."""
    for first, second in pairs:
        shared = _shared(first, second)
        opening = first.openings[shared] if shared < len(first.openings) else first.start
        made = _cut_out(text, first, opening, second.end, shared)
        if made.tokens <= limit:
            yield first, (made,)


def _cut_out(text: str, like: Piece, start: int, end: int, shared: int, head: str | None = None) -> Piece:
    """Return a piece from `start` to `end` with the first headings of another that begins there or below.

    `head` is the header of the table that the piece continues; None for that of the other where both begin
    together.
    """
    if head is None:
        head = like.head if start == like.start else ""
    words = head + text[start:end]
    return Piece(
        text=words,
        start=start,
        end=end,
        fresh=max(like.fresh, start) if start == like.start else start,
        tokens=count_tokens(words),
        heading_path=like.heading_path[:shared],
        head=head,
        openings=like.openings[:shared] if start in (like.start, *like.openings) else (),
    )


def _shifted(
    text: str, pairs: Sequence[tuple[Piece, Piece]], limit: int, fewest: int, prose: bool
) -> Iterator[_Made]:
    """Yield the first of each pair, and the two with their border moved so that both are large enough."""
    for first, second in pairs:
        shared = _shared(first, second)
        backwards = first.tokens > second.tokens
        for cut in _borders(text, first, second, backwards, fewest, prose):
            before, after = trim(text, first.start, cut)[1], trim(text, cut, second.end)[0]
            if not first.fresh < before <= after < second.end or (prose and cuts_header(text, after)):
                continue
            donor = first if backwards else second
            head = header_above(text, donor.start, after, donor.head, limit) if prose else ""
            if backwards:
                lower = _cut_out(text, second, after, second.end, shared, head)
                if lower.tokens < fewest:
                    continue
                upper = _cut_out(text, first, first.start, before, len(first.heading_path))
            else:
                opening = first.openings[shared] if shared < len(first.openings) else first.start
                upper = _cut_out(text, first, opening, before, shared)
                if upper.tokens < fewest:
                    continue
                lower = _cut_out(text, second, after, second.end, len(second.heading_path), head)
            if all(fewest <= one.tokens <= limit for one in (upper, lower)):
                yield first, (upper, lower)


def _borders(
    text: str, first: Piece, second: Piece, backwards: bool, fewest: int, prose: bool
) -> Iterator[int]:
    """Yield where the larger of two may be cut, from the small one on: lines or sentences, then tokens."""
    start, end = (first.fresh, first.end) if backwards else (second.start, second.end)
    spans = sentence_spans(text, start, end) if prose else line_spans(text, start, end)
    begins = [begin for begin, _ in spans][1:]
    yield from reversed(begins) if backwards else begins
    tokens = (token_ends(text[start:end]) + start).tolist()
    yield from (reversed(tokens[:-1]) if backwards else tokens[:-1])
