"""What a caller is told of the stored memories that a new one may touch, within a few tokens. Pure."""

from collections.abc import Iterator, Sequence

from hydramem.core.results.write_results import NearMemory, NearRelation
from hydramem.core.row_types import Chunk
from hydramem.ingest.memories.consolidate.duplicate_or_update import Judgements
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.llm.pair_classifier import PairBounds, PairJudgement
from hydramem.text.shown_text import one_line
from hydramem.text.tokens import count_tokens

_MOST = 3
_MOST_CHARS = 160
_LEAST_CHARS = 40
MOST_TOKENS = 150
"""Tokens of all that a caller is told."""


def near_memories(
    candidates: Sequence[NearbyChunk], judgements: Judgements, bounds: PairBounds, *, ended: Sequence[str]
) -> tuple[NearMemory, ...]:
    """Return the memories that a new one may touch, the surest first.

    Args:
        candidates: Stored memories near it.
        judgements: What the classifier says of them.
        bounds: From which probability a memory is named.
        ended: Ids of those that it ended: they are told elsewhere.
    """
    judged = (
        (one.chunk, judgements[one.chunk.id])
        for one in candidates
        if one.chunk.id in judgements and one.chunk.id not in ended
    )
    likely = [
        (probability, relation, chunk)
        for chunk, judgement in judged
        for relation, probability in [_likeliest(judgement)]
        if probability >= bounds.near
    ]
    likely.sort(key=lambda each: (-each[0], each[2].id))
    return tuple(_within_tokens(likely[:_MOST]))


def _likeliest(judgement: PairJudgement) -> tuple[NearRelation, float]:
    likely: tuple[tuple[NearRelation, float], ...] = (
        ("may_supersede", judgement.supersedes),
        ("duplicates", judgement.duplicate),
        ("extends", judgement.refine),
    )
    return max(likely, key=lambda each: each[1])


def _within_tokens(likely: Sequence[tuple[float, NearRelation, Chunk]]) -> Iterator[NearMemory]:
    left = MOST_TOKENS
    for place, (probability, relation, chunk) in enumerate(likely):
        room, chars = left // (len(likely) - place), _MOST_CHARS
        while (cost := count_tokens(_shown(chunk, relation, chars))) > room and chars > _LEAST_CHARS:
            chars -= 20
        if cost <= left:
            left -= cost
            text = one_line(chunk.text, chars)
            yield NearMemory(id=chunk.id, text=text, relation=relation, probability=round(probability, 2))


def _shown(chunk: Chunk, relation: NearRelation, chars: int) -> str:
    return f"{chunk.id} {relation} 0.99 {one_line(chunk.text, chars)}"
