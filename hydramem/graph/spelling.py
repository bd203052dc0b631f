"""Names that differ in their spelling alone: the synonym edges of a graph, and a last look for a name.

HippoRAG (Gutierrez et al., 2024) joins entities whose names lie close to each other by their vectors. Here
what is left of a name without accents, case, marks, titles and legal forms must be equal: no threshold, the
same with every embedder, and work that grows with the names and not with their pairs.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.text.names import spelling

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
