"""BM25, the score of full text.

As in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

K1 = 1.2
"""How soon more of one word counts no more."""
B = 0.75
"""How much a long text is held against its matches."""


def rarity(holding: int, rows: int) -> float:
    """Return the inverse document frequency of a word that so many rows of all hold."""
    return math.log(1.0 + (rows - holding + 0.5) / (holding + 0.5))


def word_score(count: Any, length: Any, mean_length: float) -> Any:
    """Return what a word that stands in a text so many times scores there, before its weight.

    Args:
        count, length: How often the word stands in the text, and how many words that has; or arrays of them.
        mean_length: Words of a text on average.
    """
    return count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / mean_length))


def text_scores(
    asked: Counter[str], texts: Sequence[Counter[str]], holding: Mapping[str, int], rows: int, length: int
) -> tuple[float, ...]:
    """Return the scores that texts would have if they were rows besides those that are there.

    Args:
        asked: The words of a query.
        texts: The words of each text.
        holding: How many rows hold each word that is asked for.
        rows, length: How many rows there are, and how many words they have in all.
    """
    total = rows + len(texts)
    mean = (length + sum(counts.total() for counts in texts)) / max(1, total)
    weights = {
        word: times * rarity(holding.get(word, 0) + sum(word in counts for counts in texts), total)
        for word, times in asked.items()
    }
    return tuple(
        sum(
            word_score(counts[word], counts.total(), mean) * weights[word]
            for word in weights.keys() & counts.keys()
        )
        for counts in texts
    )
