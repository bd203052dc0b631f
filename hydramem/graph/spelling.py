"""Names that differ in their spelling alone: the synonym edges of a graph, and a last look for a name.

HippoRAG (Gutierrez et al., 2024) joins entities whose names lie close to each other by their vectors. Here
what is left of a name without accents, case, marks, titles and legal forms must be equal: no threshold, the
same with every embedder, and work that grows with the names and not with their pairs.
"""

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]

_WORD = re.compile(r"[^\W_]+[+#]*")
# Between letters, and after an initial, these marks part no words: O'ahu, U.S., J.K.
_INNER_MARK = re.compile(r"(?<=\w)['’.](?=\w|\s|$)")
_PLAIN = re.compile(r"[a-z0-9 ]+")
# Letters beyond Latin, Greek and Cyrillic: no part of a name there is known to be mere spelling.
_OTHER_SCRIPT = re.compile("[\u0530-\u1fff\u2c00-\uffff\U00010000-\U0010ffff]")
_TITLES = frozenset(["the", "a", "an", "dr", "mr", "mrs", "ms", "prof", "sir", "dame"])
_FORMS = frozenset(["inc", "ltd", "llc", "corp", "co", "gmbh", "ag", "plc", "sa"])
_SAME_WORDS = {"saint": "st", "and": "", "mount": "mt"}
_LEAST_CHARACTERS = 3


def spelling(name: str) -> str | None:
    """Return what names share that differ in spelling alone; None where too little is left to tell.

    `Dr. Ada Lovelace`, `Lovelace, Ada` and `ada_lovelace` are one; `C`, `C++` and `C#` have none.
    """
    folded = name.casefold()
    if _PLAIN.fullmatch(folded):
        words = folded.split()
    else:
        folded = _without_marks(folded)
        if _OTHER_SCRIPT.search(folded):
            return None
        words = _WORD.findall(folded)
    words = [_SAME_WORDS.get(word, word) for word in words]
    # What a title or legal form leaves must still be a name of its own: The Company is not Company.
    if len(words) > 2 and words[0] in _TITLES:
        words = words[1:]
    if len(words) > 1 and words[-1] in _FORMS:
        words = words[:-1]
    joined = "".join(words)
    return joined if len(joined) >= _LEAST_CHARACTERS else None


def _without_marks(folded: str) -> str:
    kept: list[str] = []
    letter = ""
    for mark in unicodedata.normalize("NFKD", folded):
        if not unicodedata.combining(mark):
            letter = mark
        # Marks on Latin letters are spelling; elsewhere they can be all that tells two words apart.
        elif letter < "\u0250":
            continue
        kept.append(mark)
    bare = unicodedata.normalize("NFC", "".join(kept))
    if bare.count(",") == 1:
        last, first = bare.split(",")
        bare = f"{first} {last}"
    return _INNER_MARK.sub("", bare)


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
