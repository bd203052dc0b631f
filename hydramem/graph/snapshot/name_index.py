"""Entities by name: exact look-up of keys and aliases, and finding names inside a text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hydramem.text.lexicon import COMMON_WORDS
from hydramem.text.names import spelling
from hydramem.text.normalize import entity_key

Nodes = NDArray[np.int64]


class Spellings:
    """The first node of each spelling; grows with the writer.

    Args:
        names: Names by node; None for what has none.
    """

    def __init__(self, names: Sequence[str | None]) -> None:
        found = [(hash(short), node) for node, name in enumerate(names) if name and (short := spelling(name))]
        # Eight bytes a name instead of a dictionary's hundred; stable, so that the first node comes first.
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
        """Take in a name; return the node that was there with its spelling, None where there is none."""
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


_WORD = re.compile(r"\w+")

# Scripts written without spaces: Thai to Khmer, kana, CJK ideographs, and their further planes.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+"
)
_LONGEST_WORDS = 8
_LONGEST_CHARACTERS = 24
_MOST_CHARACTERS = 4096
MatchedBy = Literal["name", "alias", "spelling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatch:
    """A name found in a text.

    Attributes:
        node: The entity's node.
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
    """Key and alias to node; grows with the writer. Readers go through `Names`."""

    def __init__(self, keys: dict[str, int]) -> None:
        self._keys = keys
        self._aliases: dict[str, int] = {}

    def add(self, node: int, key: str, aliases: Iterable[str]) -> None:
        """Make an entity findable; the first to bear an alias keeps it."""
        self._keys[key] = node
        for alias in aliases:
            self._aliases.setdefault(entity_key(alias), node)

    def find(self, key: str, size: int) -> int | None:
        """Return the node of a key or alias among the first `size` nodes; a key goes before an alias."""
        return next((node for node, _ in self._found(key, size)), None)

    def known(self, key: str, size: int) -> tuple[int, MatchedBy] | None:
        """Return the same node, and whether it is by name or by alias."""
        return next(self._found(key, size), None)

    def _found(self, key: str, size: int) -> Iterator[tuple[int, MatchedBy]]:
        indexes: tuple[tuple[dict[str, int], MatchedBy], ...] = (
            (self._keys, "name"),
            (self._aliases, "alias"),
        )
        for index, by in indexes:
            node = index.get(key)
            if node is not None and node < size:
                yield node, by


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one snapshot's entities.

    Attributes:
        index: Every name; may hold those of later nodes.
        ids: Node ids; may run on past the snapshot's last node.
        size: Number of nodes in the snapshot.
        spellings: Where names that are spelled otherwise are found.
    """

    index: NameIndex
    ids: Sequence[str]
    size: int
    spellings: Spellings

    def find(self, key: str) -> int | None:
        """Return the node of the entity with this key, or this alias's key."""
        return self.index.find(key, self.size)

    def lookup(self, keys: Iterable[str]) -> Mapping[str, str]:
        """Return the entity id of each key that is an entity's key or alias; others are left out."""
        found = ((key, self.find(key)) for key in keys)
        return {key: self.ids[node] for key, node in found if node is not None}

    def matching(self, text: str) -> tuple[NameMatch, ...]:
        """Find the longest names in a text, left to right, none overlapping.

        The work is in the text's length; how many names there are does not matter.
        """
        folded = entity_key(text[:_MOST_CHARACTERS])
        found: list[NameMatch] = []
        words = list(_WORD.finditer(folded))
        place = 0
        while place < len(words):
            match, used = self._longest(folded, words, place)
            if match is not None:
                found.append(match)
            elif _UNSPACED.search(words[place].group()):
                found.extend(self._unspaced(folded, words[place].start(), words[place].end()))
            place += max(used, 1)
        return tuple(found)

    def _longest(
        self, folded: str, words: Sequence[re.Match[str]], place: int
    ) -> tuple[NameMatch | None, int]:
        for count in range(min(_LONGEST_WORDS, len(words) - place), 0, -1):
            start, end = words[place].start(), words[place + count - 1].end()
            for left, right in _with_symbols(folded, start, end):
                name = folded[left:right]
                if name in COMMON_WORDS:
                    continue
                known = self.index.known(name, self.size)
                if known is not None:
                    return NameMatch(node=known[0], text=name, start=left, end=right, by=known[1]), count
            node = self._spelled([word.group() for word in words[place : place + count]], folded[start:end])
            if node is not None:
                return NameMatch(
                    node=node, text=folded[start:end], start=start, end=end, by="spelling"
                ), count
        return None, 1

    def _spelled(self, words: Sequence[str], text: str) -> int | None:
        # `I'll` and `we're` are no names, whatever is spelled like them.
        if len(words) < 3 and not COMMON_WORDS.isdisjoint(words):
            return None
        node = self.spellings.find(text) if any(map(str.isalpha, words)) else None
        return node if node is not None and node < self.size else None

    def _unspaced(self, folded: str, start: int, end: int) -> Iterator[NameMatch]:
        while start < end:
            step = 1
            for length in range(min(_LONGEST_CHARACTERS, end - start), 1, -1):
                name = folded[start : start + length]
                known = self.index.known(name, self.size)
                if known is not None:
                    yield NameMatch(node=known[0], text=name, start=start, end=start + length, by=known[1])
                    step = length
                    break
            start += step


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
