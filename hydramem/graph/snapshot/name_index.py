"""Entities by name: exact look-up of keys and aliases, look-up by spelling, and finding names in a text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hydramem.text.lexicon import word_set
from hydramem.text.names.name_comparison import spelling
from hydramem.text.normalize import entity_key

Nodes = NDArray[np.int64]
MatchedBy = Literal["name", "alias", "spelling"]
_COMMON_WORDS = word_set("stop_words", "questions")
_WORD = re.compile(r"\w+")

# Scripts written without spaces: Thai to Khmer, kana, CJK ideographs, and their further planes.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+"
)
_MOST_WORDS_OF_NAME = 8
_MOST_CHARACTERS_OF_NAME = 24
_MOST_CHARACTERS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatch:
    """A name found in a text.

    Attributes:
        text: The name as the folded text has it.
        start, end: Where in the folded text.
        by: Whether the text has the name, an alias, or either spelled otherwise.
    """

    node: int
    text: str
    start: int
    end: int
    by: MatchedBy


class NameIndex:
    """Key and alias to node; grows with the writer. Readers go through `Names`.

    Args:
        keys: Node by key.
    """

    def __init__(self, keys: dict[str, int]) -> None:
        self._keys = keys
        self._aliases: dict[str, int] = {}

    def add(self, node: int, key: str, aliases: Iterable[str]) -> None:
        """Make an entity findable; the first entity with an alias keeps it."""
        self._keys[key] = node
        for alias in aliases:
            self._aliases.setdefault(entity_key(alias), node)

    def find(self, key: str, size: int) -> tuple[int, MatchedBy] | None:
        """Return the node of a key, else of an alias, among the first `size` nodes, and which it is."""
        node = self._keys.get(key)
        if node is not None and node < size:
            return node, "name"
        node = self._aliases.get(key)
        return (node, "alias") if node is not None and node < size else None


class Spellings:
    """The first node of each spelling (`text.names.spelling`); grows with the writer.

    Args:
        names: Names by node; None for what has none.
    """

    def __init__(self, names: Sequence[str | None]) -> None:
        found = [(hash(short), node) for node, name in enumerate(names) if name and (short := spelling(name))]
        # Sorted hashes take eight bytes a name, a dictionary a hundred. Stable: the first node comes first.
        hashes = np.array([one for one, _ in found], dtype=np.int64)
        nodes = np.array([node for _, node in found], dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._nodes = hashes[order], nodes[order]
        self._added: dict[int, int] = {}

    def pairs(self) -> tuple[Nodes, Nodes]:
        """Return the nodes that share a spelling with one before them, and that one."""
        first = np.searchsorted(self._hashes, self._hashes)
        later = first != np.arange(len(first))
        return self._nodes[later], self._nodes[first[later]]

    def add(self, node: int, name: str) -> int | None:
        """Add a name; return another node that already has its spelling, None where there is none."""
        short = spelling(name)
        if short is None:
            return None
        known = self._first(hash(short))
        if known is None:
            self._added[hash(short)] = node
        return None if known == node else known

    def find(self, name: str) -> int | None:
        """Return the first node whose name is spelled like this one."""
        short = spelling(name)
        return None if short is None else self._first(hash(short))

    def _first(self, hashed: int) -> int | None:
        place = int(np.searchsorted(self._hashes, hashed))
        if place < len(self._hashes) and self._hashes[place] == hashed:
            return int(self._nodes[place])
        return self._added.get(hashed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one snapshot's entities.

    Attributes:
        index: Every name; may hold those of later nodes.
        ids: Node ids; may run on past the snapshot's last node.
        size: Number of nodes in the snapshot.
        spellings: Finds names that are spelled otherwise.
    """

    index: NameIndex
    ids: Sequence[str]
    size: int
    spellings: Spellings

    def find(self, key: str) -> int | None:
        """Return the node of the entity with this key, or this alias's key."""
        found = self.index.find(key, self.size)
        return None if found is None else found[0]

    def lookup(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the entity id of each key that is an entity's key or alias; others are left out."""
        found = ((key, self.find(key)) for key in keys)
        return {key: self.ids[node] for key, node in found if node is not None}

    def matching(self, text: str) -> tuple[NameMatch, ...]:
        """Find the longest names in a text, left to right, none overlapping.

        The cost grows with the text's length, not with the number of names.
        """
        folded = entity_key(text[:_MOST_CHARACTERS])
        found: list[NameMatch] = []
        words = list(_WORD.finditer(folded))
        place = 0
        while place < len(words):
            match, used = self._longest_match(folded, words, place)
            if match is not None:
                found.append(match)
            elif _UNSPACED.search(words[place].group()):
                found.extend(self._unspaced_matches(folded, words[place].start(), words[place].end()))
            place += max(used, 1)
        return tuple(found)

    def _longest_match(
        self, folded: str, words: Sequence[re.Match[str]], place: int
    ) -> tuple[NameMatch | None, int]:
        """Return the longest name that starts at a word, and how many words it takes."""
        for count in range(min(_MOST_WORDS_OF_NAME, len(words) - place), 0, -1):
            start, end = words[place].start(), words[place + count - 1].end()
            for left, right in _with_symbols(folded, start, end):
                if folded[left:right] not in _COMMON_WORDS and (match := self._match(folded, left, right)):
                    return match, count
            node = self._by_spelling([word.group() for word in words[place:][:count]], folded[start:end])
            if node is not None:
                text = folded[start:end]
                return NameMatch(node=node, text=text, start=start, end=end, by="spelling"), count
        return None, 1

    def _match(self, folded: str, start: int, end: int) -> NameMatch | None:
        """Return the entity whose name or alias a part of a text is."""
        known = self.index.find(folded[start:end], self.size)
        if known is None:
            return None
        return NameMatch(node=known[0], text=folded[start:end], start=start, end=end, by=known[1])

    def _by_spelling(self, words: Sequence[str], text: str) -> int | None:
        # `I'll` and `we're` are no names, whatever is spelled like them.
        if len(words) < 3 and not _COMMON_WORDS.isdisjoint(words):
            return None
        node = self.spellings.find(text) if any(map(str.isalpha, words)) else None
        return node if node is not None and node < self.size else None

    def _unspaced_matches(self, folded: str, start: int, end: int) -> Iterator[NameMatch]:
        while start < end:
            lengths = range(min(_MOST_CHARACTERS_OF_NAME, end - start), 1, -1)
            found = (self._match(folded, start, start + length) for length in lengths)
            match = next(filter(None, found), None)
            if match is not None:
                yield match
            start = start + 1 if match is None else match.end


def _with_symbols(folded: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a name with the symbols that touch it, then without: `c++` before `c`, `.net` before `net`."""
    left, right = start, end
    while left > 0 and not folded[left - 1].isspace() and not folded[left - 1].isalnum():
        left -= 1
    while right < len(folded) and not folded[right].isspace() and not folded[right].isalnum():
        right += 1
    ends = range(right, end - 1, -1) if right - end <= 4 else (end,)
    starts = (left, start) if left < start else (start,)
    for first in starts:
        for last in ends:
            yield first, last
