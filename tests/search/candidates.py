"""Candidates of recall, made by hand."""

from hydramem.core.row_types import Chunk
from hydramem.search.candidate_scores import FusedScore, RecallCandidate


def candidate(chunk: Chunk, score: float) -> RecallCandidate:
    return RecallCandidate(chunk=chunk, fused=FusedScore(id=chunk.id, score=score, parts={"text": score}))
