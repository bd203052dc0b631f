"""Join the chunks around a candidate into a passage that reads like its document or conversation."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hydramem.core.row_types import Chunk
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Stretch

# Chunks of running text repeat the end of the one before them; shorter likenesses are chance.
_SHORTEST_OVERLAP = 12
_LONGEST_OVERLAP = 2000


def stitched(
    candidates: Sequence[RecallCandidate], *, reach: int, where: ChunkFilter, graph: GraphStore
) -> tuple[RecallCandidate, ...]:
    """Give candidates the passage around them, read in one call.

    Args:
        reach: How many positions before and after each are part of its passage; 0 reads nothing.
        where: What the neighbours must pass, apart from what selects hits: kind, label, day, confidence.
    """
    stretches = {one.chunk.id: _stretch(one.chunk, reach) for one in candidates if reach}
    wanted = [stretch for stretch in stretches.values() if stretch is not None]
    if not wanted:
        return tuple(candidates)
    seen = surroundings(where)
    held: dict[tuple[str | None, str | None], dict[str, Chunk]] = defaultdict(dict)
    for chunk in graph.between(wanted):
        if seen.admits(chunk):
            held[_session_or_document(chunk)][chunk.id] = chunk
    return tuple(
        replace(one, context=_passage(one.chunk, stretch, held[_session_or_document(one.chunk)].values()))
        if (stretch := stretches[one.chunk.id])
        else one
        for one in candidates
    )


def surroundings(where: ChunkFilter) -> ChunkFilter:
    """Return the filter for what is shown with a hit: without the conditions that select hits."""
    return replace(where, kinds=(), categories=(), happened_from=None, happened_to=None, min_confidence=0.0)


def joined(chunks: Iterable[Chunk]) -> str:
    """Join chunks in reading order; words that two share where they meet are written once.

    Where a part under another heading begins, the heading stands above it.
    """
    text = ""
    before: Chunk | None = None
    for chunk in chunks:
        if before is None:
            text = _attributed(chunk)
        elif chunk.kind == "turn":
            same_turn = before.position == chunk.position and before.author == chunk.author
            text += f" {chunk.text}" if same_turn else f"\n{_attributed(chunk)}"
        elif chunk.heading_path and chunk.heading_path != before.heading_path:
            text += f"\n\n{chunk.heading_path[-1]}\n{chunk.text}"
        else:
            overlap = _overlap(text, chunk.text)
            text += chunk.text[overlap:] if overlap else f"\n{chunk.text}"
        before = chunk
    return text


def _stretch(chunk: Chunk, reach: int) -> Stretch | None:
    """Return the positions of a chunk's neighbours; None for a memory outside of sessions and documents."""
    session, document = _session_or_document(chunk)
    if session is None and document is None:
        return None
    return Stretch(
        session=session, document=document, first=chunk.position - reach, last=chunk.position + reach
    )


def _session_or_document(chunk: Chunk) -> tuple[str | None, str | None]:
    """Return the session of a turn, else the document: positions count within one of them."""
    if chunk.kind == "turn":
        return chunk.session, None
    return None, chunk.document


def _passage(chunk: Chunk, stretch: Stretch, held: Iterable[Chunk]) -> str:
    near = {one.id: one for one in held if stretch.first <= one.position <= stretch.last}
    near[chunk.id] = chunk
    # Turns or other chunks: a note at the position of a turn is not part of the conversation.
    same = (one for one in near.values() if (one.kind == "turn") == (chunk.kind == "turn"))
    return joined(sorted(same, key=lambda one: (one.position, one.id)))


def _attributed(chunk: Chunk) -> str:
    return f"{chunk.author}: {chunk.text}" if chunk.author else chunk.text


def _overlap(text: str, following: str) -> int:
    """Return how many characters of a chunk stand at the end of the text before it already."""
    most = min(len(text), len(following), _LONGEST_OVERLAP)
    lengths = range(most, _SHORTEST_OVERLAP - 1, -1)
    return next((length for length in lengths if text.endswith(following[:length])), 0)
