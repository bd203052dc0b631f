"""Tells words of English from names in lower case (`etcd`, `psycopg`), by the bundled tokenizer's vocabulary.

A word that the vocabulary lacks, that is not formed as English words are, and that stands where a noun
without an article stands, is a name. A text in which many words are unknown is in another language.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

from hydramem.ingest.extraction.name_words import COMPUTING_WORDS, FUNCTION_WORDS, PREFIXES, SUFFIXES, THINGS
from hydramem.ingest.extraction.spans import Span

_WORD = re.compile(r"(?<![\w./@'’#&-])[a-z][a-z0-9]*(?:-[a-z0-9]+(?:\.\d+)*)*(?![\w/@-])(?![.:]\w)(?!\()")
_HEADS = frozenset(THINGS.split("|"))
_LEAST_PART, _LEAST_STEM, _SHORTEST = 3, 4, 3
_LONGEST_SUFFIX = max(map(len, SUFFIXES))
_PREFIX = re.compile("|".join(sorted(PREFIXES, key=len, reverse=True)))
_ENGLISH_ENDING = re.compile(
    r"..(?:[aeiou][tsc]ion|[aei]bl[ey]|[aei]bility|i[zs]ed?|i[zs]ing|i[zs]es|ously?|ive(?:ly)?|ment|ness|less|ful|ity"
    r"|ated?|ating|graphic|[aeiou]ncy|[aei]nce|ally|ically|ism|ology|some|ward|wise|ship|nesses|ments|tions|ities)$"
)
_KNOWN_SHARE = 0.8
"""Share of the words in lower case that are known in a text of English."""
_LEADS = re.compile(
    r"(?:^|[\s(,])(?:by|with|via|using|in|on|from|into|for|of|and|or|like|through|against|over|than|under|is"
    r"|(?:connects?|talks?|moved?|migrated?|switched|writes?|added|similar) to|uses?|used|requires?|calls?"
    r"|wraps?|runs?|needs?|called|named|replaced|supports?|extends?|chose|adopted|invokes?|queries)"
    r"\s+(?:the\s+)?[`\"“]?$"
)


@cache
def _vocabulary() -> frozenset[str]:
    """Return the whole words of the bundled embedder's tokenizer: the frequent ones of English."""
    text = (files("hydramem") / "data" / "minilm" / "tokenizer.json").read_text(encoding="utf-8")
    return frozenset(word for word in json.loads(text)["model"]["vocab"] if word.isalpha() and len(word) > 1)


@lru_cache(maxsize=65536)
def is_known(word: str) -> bool:
    """Say whether a word in lower case is English: it is in the vocabulary, or formed as such words are."""
    known = _vocabulary()
    if word in known or word in COMPUTING_WORDS or word in FUNCTION_WORDS or len(word) < _SHORTEST:
        return True
    if _ENGLISH_ENDING.search(word):
        return True
    stems = list(_stems(word))
    if any(stem in known or stem in COMPUTING_WORDS for stem in stems):
        return True
    if any(deeper in known for stem in stems for deeper in _stems(stem)):
        return True
    starts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return any(word[:cut] in known and _is_formed(word[cut:]) for cut in starts)


def _is_formed(word: str) -> bool:
    return word in _vocabulary() or any(stem in _vocabulary() for stem in _stems(word))


def _stems(word: str) -> Iterator[str]:
    """Yield what a word may be formed from."""
    prefix = _PREFIX.match(word)
    if prefix is not None and len(word) - prefix.end() >= _LEAST_STEM:
        yield word[prefix.end() :]
    for length in range(1, min(_LONGEST_SUFFIX, len(word) - _LEAST_STEM) + 1):
        stem, suffix = word[:-length], word[-length:]
        if suffix not in SUFFIXES:
            continue
        yield stem
        yield f"{stem}e"
        if stem[-1] == stem[-2]:
            yield stem[:-1]
        if suffix[0] in "ie" and stem[-1] not in "aeiou":
            yield f"{stem}y"


def unknown_words(text: str) -> Iterator[re.Match[str]]:
    """Yield the words of an English text in lower case that are names, such as `etcd` and `auth-service`."""
    words = set(_WORD.findall(text))
    unknown = {word for word in words if not _is_plain(word)}
    if not unknown or len(unknown) > max(2, (1 - _KNOWN_SHARE) * len(words)):
        return
    for match in _WORD.finditer(text):
        if match.group() not in unknown:
            continue
        if match.start() == 0 or _LEADS.search(text, max(0, match.start() - 24), match.start()):
            yield match


@lru_cache(maxsize=65536)
def _is_plain(word: str) -> bool:
    """Say whether a word, or each part of a hyphenated one, is an English word or a number."""
    first, *parts = word.split("-")
    if not parts:
        return is_known(first) or (first[:2].isalpha() and first[-1].isdigit() and len(first) < _LEAST_PART)
    if parts[-1][:1].isdigit() or (parts[-1] in _HEADS and first not in PREFIXES):
        return False
    return all(is_known(part) for part in (first, *parts))


def with_unknown_words(text: str, spans: list[Span]) -> list[Span]:
    """Add names in lower case where no other name stands."""
    found = [Span(match.start(), match.end(), match.group(), "thing") for match in unknown_words(text)]
    starts = [span.start for span in spans]
    for word in found:
        at = bisect_right(starts, word.start) - 1
        if at >= 0 and spans[at].end > word.start:
            continue
        if at + 1 < len(spans) and spans[at + 1].start < word.end:
            continue
        spans.insert(at + 1, word)
        starts.insert(at + 1, word.start)
    return spans
