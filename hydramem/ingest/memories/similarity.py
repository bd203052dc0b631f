"""How near two texts are, whatever the embedder: their cosine against that of unrelated texts.

One embedder gives unrelated sentences a cosine of 0.04, another 0.42. Thresholds therefore compare the share
of the way from that background to equality, which means the same for both.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.storage.outbox import Embed


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyChunk:
    """A stored chunk near a new memory; `cosine` is None where it was found by words alone."""

    chunk: Chunk
    cosine: float | None = None


# Plain sentences that have nothing to do with each other.
_UNRELATED = (
    "The ferry to the island was late because of fog.",
    "Quarterly revenue grew by four percent.",
    "She plays the violin in a small orchestra.",
    "The compiler rejects a missing semicolon.",
    "Bake the bread for forty minutes.",
    "The referee showed him a yellow card.",
    "Penguins breed in large colonies.",
    "The contract ends at the end of June.",
    "A router forwards packets between networks.",
    "He has been short-sighted since childhood.",
    "The old bridge was closed for repairs.",
    "Voters elected a new mayor on Sunday.",
)


@lru_cache(maxsize=4)
def background(embed: Embed) -> float:
    """Return the mean cosine of unrelated texts by an embedder; measured at the first call, then known.

    Raises:
        ModelError: The embedder failed.
    """
    vectors = np.asarray(embed(_UNRELATED), dtype=np.float64)
    count = len(vectors)
    mean = (float((vectors @ vectors.T).sum()) - count) / (count * (count - 1))
    return min(max(mean, 0.0), 0.95)


def nearness(cosine: float, background: float) -> float:
    """Return the share of the way from unrelated to equal, 0 to 1.

    Args:
        cosine: Of two texts.
        background: Of unrelated texts, by the same embedder, below 1.
    """
    return min(max((cosine - background) / (1 - background), 0.0), 1.0)
