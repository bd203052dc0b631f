"""Coverage: what a whole session says counts for each of its turns.

A question's words seldom stand in one turn. Where the turns that were found in a session hold more of
them between them, rare ones most of all, the session is more likely to be the one that is meant.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from hydramem.core.row_types import Chunk
from hydramem.search.fuse import ranked
from hydramem.search.pack import Candidate
from hydramem.storage.vector_rows import searched_text
from hydramem.text.normalize import folded
from hydramem.text.search_terms import words

_MOST_WORDS = 32


def covering(query: str, candidates: Sequence[Candidate], weight: float) -> tuple[Candidate, ...]:
    """Weigh turns by how much of a query their session holds, best first.

    Args:
        query: What was asked.
        candidates: What was found; what is no turn stays as it is.
        weight: Share of its score that a turn gains where its session holds the most.
    """
    shares = coverage(query, [one.chunk for one in candidates]) if weight > 0 else {}
    if not shares:
        return tuple(candidates)
    by_id = {one.chunk.id: one for one in candidates}
    parts = {id: {**one.fused.parts} for id, one in by_id.items()}
    for id, share in shares.items():
        parts[id]["session"] = weight * share * by_id[id].fused.score
    return tuple(replace(by_id[one.id], fused=one) for one in ranked(parts))


def coverage(query: str, chunks: Sequence[Chunk]) -> Mapping[str, float]:
    """Say for each turn, by id, how much of a query its session holds, beside the one that holds most.

    A word counts as much as it is rare among the chunks.
    """
    begins = _begins(query)
    if begins is None:
        return {}
    held = {chunk.id: frozenset(begins.findall(folded(searched_text(chunk)))) for chunk in chunks}
    often = Counter(word for each in held.values() for word in each)
    rarity = {word: math.log(1 + (len(chunks) - many + 0.5) / (many + 0.5)) for word, many in often.items()}
    sessions: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks:
        if chunk.kind == "turn" and chunk.session:
            sessions[chunk.session] |= held[chunk.id]
    sums = {session: sum(rarity[word] for word in sorted(each)) for session, each in sessions.items()}
    most = max(sums.values(), default=0.0)
    if most <= 0:
        return {}
    return {
        chunk.id: sums[chunk.session] / most
        for chunk in chunks
        if chunk.kind == "turn" and chunk.session in sums
    }


@lru_cache(maxsize=16)
def _begins(query: str) -> re.Pattern[str] | None:
    """Compile what finds the stems of a query's words where words begin; many times quicker than stemming."""
    stems = sorted(dict.fromkeys(words(query)[:_MOST_WORDS]), key=len, reverse=True)
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, stems))})") if stems else None
