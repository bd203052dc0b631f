"""Words for full text: the ones that are not indexed, and the plain tokenizer of the in-memory store."""

import re
from functools import lru_cache

from hydramem.text.lexicon import word_set
from hydramem.text.normalize import folded

STOP_WORDS = word_set("stop_words", "full_text")
"""Folded words that are not indexed."""
MAX_QUERY_CHARS = 32_768
"""Characters of a query that are read; the rest of a longer one would cost seconds and find little more."""

# Han, kana and their extensions: scripts written without spaces.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ed", "es", "s", "ly", "e")


def words(text: str) -> list[str]:
    """Cut text into folded, stemmed words without stop words.

    Scripts without spaces give every character and every two neighbours.

    Args:
        text: Any text; lone surrogates and symbols separate words.
    """
    plain = folded(text)
    found = _WORD.findall(plain)
    if not plain.isascii():
        found = [part for word in found for part in _split(word)]
    return [search_stem(word) for word in found if word not in STOP_WORDS]


@lru_cache(maxsize=256)
def distinct_words(text: str) -> frozenset[str]:
    """Return the words of a text, each once; those of the last texts are kept."""
    return frozenset(words(text))


def _split(word: str) -> list[str]:
    if word.isascii():
        return [word]
    parts: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        parts.append(word[end : run.start()])
        characters = run.group()
        parts.extend(characters)
        parts.extend(characters[i : i + 2] for i in range(len(characters) - 1))
        end = run.end()
    parts.append(word[end:])
    return [part for part in parts if part]


@lru_cache(maxsize=20_000)
def search_stem(word: str) -> str:
    """Cut one English ending: enough that `services` finds `service` and `running` finds `runs`."""
    if not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word
