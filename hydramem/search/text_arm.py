"""The text arm: full text by BM25, and the words that a hit shares with the query."""

from collections.abc import Sequence
from functools import lru_cache

from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.search.conversation import at_turns_length
from hydramem.search.fusion import Arm, normalised
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import VectorStore
from hydramem.text.search_terms import words

_SHOWN = 4


def text_arm(
    query: str,
    where: ChunkFilter,
    vectors: VectorStore,
    snapshots: Sequence[Snapshot],
    *,
    limit: int,
    weight: float,
) -> Arm:
    """Find the chunks that best match the query's words; the snapshots know which of them are turns."""
    scores = {one.id: one.score for one in vectors.matching(query, where, limit)}
    for snapshot in snapshots:
        scores = at_turns_length(scores, snapshot)
    # No match is the worst possible, so that a weak match keeps something.
    return Arm(name="text", weight=weight, scores=normalised(scores, floor=0.0))


def shared_words(query: str, text: str) -> tuple[str, ...]:
    """Return the query's words that a text holds in some form, in the query's order, a few at most."""
    held = set(words(text))
    return tuple(word for word, forms in _forms(query) if not held.isdisjoint(forms))[:_SHOWN]


@lru_cache(maxsize=16)
def _forms(query: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the query's words with the forms that full text looks for: each hit is told in them."""
    asked = (word.strip("\"'.,;:!?()[]{}") for word in query.split())
    return tuple((word, tuple(words(word))) for word in dict.fromkeys(asked))
