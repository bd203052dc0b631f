"""The naive baseline of an answer: the tokens of the whole sources of its hits, from the graph in memory.

A source is the document of a passage, the session of a turn, and any other memory itself. Tokens were counted
when a chunk was stored; where passages overlap, the overlap counts in each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.graph.snapshot.snapshot import STATES, Snapshot
from hydramem.telemetry.observed_results import GivenText, estimated_tokens


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of the texts given, and of their whole sources; None where these are not known."""

    given: int
    sources: int | None


class SourceSizes:
    """The tokens of every document and session of a project, at one moment."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        nodes, size = snapshot.nodes, snapshot.size
        active = nodes.state[:size] == STATES.index("active")
        self._tokens = nodes.tokens[:size]
        self._documents = nodes.document[:size]
        self._of_document = _sums(self._documents, np.where(active, self._tokens, 0))
        turns = snapshot.turns
        said = np.where(active[turns.nodes], self._tokens[turns.nodes], 0)
        self._of_session = _sums(turns.keys >> 32, said)

    def counts(self, given: Sequence[GivenText]) -> TokenCounts:
        """Count the tokens of texts of this project and of their sources, each source once."""
        total, sources = 0, dict[tuple[str, int | str], int]()
        for text in given:
            node = self._snapshot.node(text.chunk)
            own = _given_tokens(text, 0 if node is None else int(self._tokens[node]))
            total += own
            # An entry of a curated file is no node, and its own source.
            source, size = (("chunk", text.chunk), own) if node is None else self._source(node)
            sources[source] = size
        return TokenCounts(total, sum(sources.values()))

    def _source(self, node: int) -> tuple[tuple[str, int | str], int]:
        """Return what tells the source of a chunk from others, and its tokens."""
        document, turn = int(self._documents[node]), int(self._snapshot.turn_keys[node])
        if document >= 0:
            return ("document", document), int(self._of_document[document])
        if turn >= 0:
            return ("session", turn >> 32), int(self._of_session[turn >> 32])
        return ("chunk", node), int(self._tokens[node])


Sizes = Callable[[str], SourceSizes | None]
"""Returns the sizes of a project's sources; None where its graph is not in memory."""


def token_counts(given: Sequence[GivenText], sizes: Sizes) -> TokenCounts:
    """Count the tokens of texts that were returned, and of their whole sources."""
    by_project: dict[str, list[GivenText]] = {}
    for text in given:
        by_project.setdefault(text.project, []).append(text)
    total, sources, known = 0, 0, bool(given)
    for project, texts in by_project.items():
        of_project = sizes(project)
        if of_project is None:
            total += sum(_given_tokens(text, 0) for text in texts)
            known = False
        else:
            counted = of_project.counts(texts)
            total += counted.given
            sources += counted.sources or 0
    return TokenCounts(total, sources if known else None)


def _given_tokens(text: GivenText, counted: int) -> int:
    if text.tokens is not None:
        return text.tokens
    return counted or estimated_tokens(text.characters)


def _sums(codes: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Return the sum of tokens of each code; codes below 0 belong to none."""
    coded = codes >= 0
    return np.bincount(codes[coded], weights=tokens[coded]).astype(np.int64)
