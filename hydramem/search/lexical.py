"""The text arm: full text by BM25, and the words that a hit shares with the query."""

from hydramem.search.fuse import Arm, normalised
from hydramem.storage.store import ChunkFilter, VectorStore
from hydramem.storage.words import words

_SHOWN = 4


def text_arm(query: str, where: ChunkFilter, vectors: VectorStore, *, limit: int, weight: float) -> Arm:
    """Find the chunks that best match the query's words."""
    found = vectors.matching(query, where, limit)
    # No match is the worst possible, so that a weak match keeps something.
    return Arm(name="text", weight=weight, scores=normalised({one.id: one.score for one in found}, floor=0.0))


def shared_words(query: str, text: str) -> tuple[str, ...]:
    """Return the query's words that a text holds in some form, in the query's order, a few at most."""
    held = set(words(text))
    asked = (word.strip("\"'.,;:!?()[]{}") for word in query.split())
    return tuple(dict.fromkeys(word for word in asked if not held.isdisjoint(words(word))))[:_SHOWN]
