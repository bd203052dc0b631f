"""Whether a question asks for what was so before, without naming a date: in English, German and Spanish."""

import re

from hydramem.text.lexicon import tables
from hydramem.text.normalize import folded

_MOST_CHARACTERS = 4096
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_TABLE = tables("calendar")["past"]
_WAS, _IS = (frozenset(_TABLE[name].split()) for name in ("was", "is"))


def _phrases(name: str) -> re.Pattern[str]:
    listed = (" ".join(phrase.split()) for phrase in _TABLE[name].split(","))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, listed))})(?!\w)")


_ALWAYS, _BY_TENSE = _phrases("always"), _phrases("by_tense")


def asks_for_past(query: str) -> bool:
    """Say whether a question asks for what was so before; the work is in its length.

    A verb of the past alone does not: "which database did we choose" asks for the choice that stands.
    """
    text = " ".join(folded(query[:_MOST_CHARACTERS].replace("’", "'")).split())
    if _ALWAYS.search(text):
        return True
    if not _BY_TENSE.search(text):
        return False
    words = set(_WORD.findall(text))
    return not words.isdisjoint(_WAS) or words.isdisjoint(_IS)
