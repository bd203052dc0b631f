"""Quotes: whether texts have the words that somebody quotes from them."""

import html
import re
from collections.abc import Sequence

_QUOTE_CHARS = 1500

# Scripts before this one separate words: a quote that begins or ends inside a word does not count.
_FIRST_UNSPACED = "\u0e00"
_WORD = re.compile(r"\w+")


def find_quote(quote: str, texts: Sequence[str]) -> str | None:
    """Find a quote in texts, and return the words as the text has them; None where none has them.

    White space and case may differ: models tidy the first letter of what they copy, and the text's own
    spelling is returned. Parts of words do not count: "agrees" is no quote of "disagrees".
    """
    for spelling in dict.fromkeys((quote, html.unescape(quote))):
        words = spelling.strip().strip('"“”').split()
        if not words or len(spelling) > _QUOTE_CHARS:
            continue
        # Most quotes are exact, and a pattern costs a hundred times as much.
        if any(_has_words(" ".join(words), text) for text in texts):
            return " ".join(words)
        whole = r"\s+".join(map(re.escape, words))
        before = r"(?<!\w)" if _is_spaced(words[0][0]) else ""
        after = r"(?!\w)" if _is_spaced(words[-1][-1]) else ""
        pattern = re.compile(before + whole + after, re.IGNORECASE)
        for text in texts:
            if found := pattern.search(text):
                return found.group()
    return None


def _has_words(quote: str, text: str) -> bool:
    start = text.find(quote)
    if start < 0:
        return False
    before, after = text[start - 1 : start], text[start + len(quote) : start + len(quote) + 1]
    return not (_is_spaced(quote[0]) and _WORD.match(before)) and not (
        _is_spaced(quote[-1]) and _WORD.match(after)
    )


def _is_spaced(character: str) -> bool:
    return character < _FIRST_UNSPACED and _WORD.match(character) is not None
