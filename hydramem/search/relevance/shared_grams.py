"""How much of a query's letters a text has: words of any language in forms that no stemmer here knows."""

import re
from collections.abc import Sequence
from functools import lru_cache

from hydramem.text.normalize import folded

_LETTERS = 4
"""How many letters in a row are compared: most of a stem, without its endings."""

_SYLLABLES = 2
"""The same in scripts whose signs are syllables or words."""

_WORD = re.compile(r"[^\W_]+")
_SYLLABIC = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def shared_grams(query: str, texts: Sequence[str]) -> float:
    """Return the largest share, 0 to 1, of the query's character n-grams that one of the texts has.

    N-grams lie within words; shorter words have none, numbers are compared whole.
    """
    asked = _grams(query)
    if not asked:
        return 0.0
    return max((len(asked & _grams(text)) / len(asked) for text in texts), default=0.0)


@lru_cache(maxsize=64)
def _grams(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in _WORD.findall(folded(text)):
        if _SYLLABIC.search(word):
            found.update(_cuts(word, _SYLLABLES) or [word])
        elif word.isdigit() and len(word) < _LETTERS:
            found.add(word)
        else:
            found.update(_cuts(word, _LETTERS))
    return frozenset(found)


def _cuts(word: str, length: int) -> list[str]:
    return [word[start : start + length] for start in range(len(word) - length + 1)]
